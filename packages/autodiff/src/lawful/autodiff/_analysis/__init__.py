"""The cost of a function and of its gradient: operations, bytes, and live memory."""
