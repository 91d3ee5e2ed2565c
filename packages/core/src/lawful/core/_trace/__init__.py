"""Traces and tracers: where a primitive goes when it is applied, and the values that it is applied to."""
