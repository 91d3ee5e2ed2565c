"""Checks of a user's function or primitive, and their reports."""
