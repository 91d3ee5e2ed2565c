"""The structure of a tree, without its leaves."""
