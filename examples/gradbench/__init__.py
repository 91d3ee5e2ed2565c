"""The objectives of GradBench and ADBench, each with its gradient or Jacobian."""
