"""Primitives: their rules, their names, and the declarations that laws read."""
