"""Linear algebra: decompositions, determinants and systems of equations."""
