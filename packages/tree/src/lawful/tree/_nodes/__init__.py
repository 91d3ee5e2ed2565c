"""Nodes of trees: their types, the registry, and a user's own ones."""
