"""A run of the laws: cases drawn by worker processes, counted, their failures made small and remembered."""
