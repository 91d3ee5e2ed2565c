"""Choices: `cond`, `switch`, their primitives and rules."""
