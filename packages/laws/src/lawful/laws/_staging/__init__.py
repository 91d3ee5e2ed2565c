"""Laws of evaluation, typing, passes and cost."""
