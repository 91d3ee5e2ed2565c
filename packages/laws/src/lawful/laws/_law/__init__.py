"""What a law is: cases, systems, comparison of values, effort, and the tally of verdicts."""
