"""Array creation: from values, ranges, grids and matrices."""
