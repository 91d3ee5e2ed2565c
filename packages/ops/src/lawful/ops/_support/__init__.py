"""Modules for all families: promotion, dtypes, shapes, batch dimensions, and evaluation in double precision."""
