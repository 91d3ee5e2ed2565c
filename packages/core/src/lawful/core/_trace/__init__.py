"""Traces, which interpret primitives, and tracers, the values of transformed functions."""
