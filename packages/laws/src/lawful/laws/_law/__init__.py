"""Laws and their parts: cases, systems, comparison of values, effort, and the tally of verdicts."""
