"""Measurements. A speed is a ratio within one run, or a cost per equation; none is a test."""
