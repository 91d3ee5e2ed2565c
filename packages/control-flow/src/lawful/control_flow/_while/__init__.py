"""Loops with a predicate: `while_loop`, `fori_loop`, their primitive and its rules."""
