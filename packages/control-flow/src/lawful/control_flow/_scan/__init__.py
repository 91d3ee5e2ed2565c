"""Loops over slices: `scan`, `map`, `associative_scan`, their primitive and its rules."""
