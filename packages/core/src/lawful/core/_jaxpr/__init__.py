"""The jaxpr IR: its data structures, evaluation, text and type checker."""
