"""Counted loops: `scan`, `map`, `fori_loop`, `associative_scan`, their primitive and its rules."""
