"""Traces that record what is applied to a value, as nodes of a user's class."""
