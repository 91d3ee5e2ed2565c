"""How a function that is differentiated is run, and what is checked of its arguments and results."""
