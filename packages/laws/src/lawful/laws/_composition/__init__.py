"""Laws of batching, control flow, and stacks of transformations."""
