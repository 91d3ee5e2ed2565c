"""Branches: `cond`, `switch`, their primitives and rules."""
