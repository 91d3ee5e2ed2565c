"""Shared parts of loops: arguments, bodies, carries, residuals, checkpointing."""
