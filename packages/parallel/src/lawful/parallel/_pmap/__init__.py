"""``pmap``: a function mapped over a dimension, one element for each device."""
