"""The runtime: jaxlib's bindings, one client per platform, compilation, and the refusal to run in a forked process."""
