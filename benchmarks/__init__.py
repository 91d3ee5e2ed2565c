"""Measurements. Speed is a ratio in one run, or a cost an equation; none of it is a test."""
