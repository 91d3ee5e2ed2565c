"""The backend of ``jit``: lowered programs, compiled programs, and the staging buffers of their calls."""
