"""Calls of functions that carry rules: how they are bound, recorded, batched and differentiated."""
