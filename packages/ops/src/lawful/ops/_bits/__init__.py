"""Ops on the bits of numbers, integers and random bits."""
