"""What all families use: promotion, dtypes, shapes, batch dimensions, and evaluation in double precision."""
