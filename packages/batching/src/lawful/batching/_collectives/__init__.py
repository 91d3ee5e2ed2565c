"""Collectives: operations over axes that ``vmap`` or ``shard_map`` names."""
