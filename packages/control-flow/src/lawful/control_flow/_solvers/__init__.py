"""Solvers with implicit derivatives: `custom_linear_solve`, `custom_root`, their primitives."""
