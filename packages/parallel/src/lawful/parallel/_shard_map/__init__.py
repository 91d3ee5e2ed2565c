"""``shard_map``: a function of the parts that devices have, on all devices of a mesh at once."""
