"""Shared parts of loops: arguments, bodies, carries, batch elements, residuals, checkpointing."""
