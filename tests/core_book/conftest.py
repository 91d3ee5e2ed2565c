"""The solutions are imported by the tests, with their folder on the path, as a user's modules would be."""

collect_ignore = ["solutions"]
