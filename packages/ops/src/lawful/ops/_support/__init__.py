"""What all families use: promotion, dimensions, shapes, precision and errors."""
