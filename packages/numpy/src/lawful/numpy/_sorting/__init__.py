"""Sorting, searching and set routines."""
