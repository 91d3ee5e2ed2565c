"""Laws that results depend on the inputs alone, and that errors name their cause."""
