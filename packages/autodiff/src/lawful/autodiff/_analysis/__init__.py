"""What a function and its gradient cost: operations, bytes, and the memory that is alive."""
