"""`reroll`: finds repeated equations in a jaxpr and writes them as loops."""
