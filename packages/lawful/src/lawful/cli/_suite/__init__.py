"""A run of the laws: worker processes draw cases; failures are counted, shrunk and saved."""
