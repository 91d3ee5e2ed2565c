"""Laws that results depend on inputs only, and that errors name their cause."""
