"""``jit``: its traces and their cache, its primitive and the inlining of it, and the stages of compilation."""
