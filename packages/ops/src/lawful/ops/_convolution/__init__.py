"""Convolutions, and reductions over sliding windows."""
