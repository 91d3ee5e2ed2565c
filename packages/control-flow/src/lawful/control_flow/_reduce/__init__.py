"""Reductions by any computation: `reduce`, `reduce_window`, their primitives."""
