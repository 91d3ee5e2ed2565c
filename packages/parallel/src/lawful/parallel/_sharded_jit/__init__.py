"""Shardings inside compiled programs: constraints, and ``jit`` with shardings of arguments and results."""
