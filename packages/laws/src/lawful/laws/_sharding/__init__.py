"""Laws of meshes, shardings, ``shard_map``, ``pmap`` and collectives: law 13 of the design."""
