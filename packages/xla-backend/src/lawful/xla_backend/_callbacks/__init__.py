"""Calls of Python functions from a compiled program: type checks, exceptions, concurrency, execution."""
