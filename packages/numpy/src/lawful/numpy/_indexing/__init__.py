"""Indexing: elements at positions, positions of elements, and index arrays."""
