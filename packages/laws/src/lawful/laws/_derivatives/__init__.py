"""Laws of forward and reverse derivatives."""
