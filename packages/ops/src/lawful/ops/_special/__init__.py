"""Special functions, and how they are evaluated in double precision."""
