"""Array manipulation: shapes, broadcasting, joining, splitting, adding and removing elements."""
