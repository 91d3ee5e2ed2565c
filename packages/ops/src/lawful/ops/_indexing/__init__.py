"""Indexing: gather, scatter and dynamic slices, and NumPy's indexing over them."""
