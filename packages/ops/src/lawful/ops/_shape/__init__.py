"""Ops that change shapes: broadcasting, reshaping, slicing, joining, splitting, and arrays made of a shape."""
