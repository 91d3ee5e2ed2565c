"""``jit``: its traces and their cache, its primitive, and the stages of compilation."""
