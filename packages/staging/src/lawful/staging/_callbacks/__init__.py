"""Calls of Python functions from compiled programs."""
