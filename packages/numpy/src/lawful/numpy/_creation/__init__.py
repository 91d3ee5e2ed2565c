"""Array creation: of values, ranges, grids and matrices."""
