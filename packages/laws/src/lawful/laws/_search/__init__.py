"""The search for counterexamples: sources of cases, sampling, and stored failures."""
