"""Lowering: jaxprs become StableHLO modules, through the lowering rules of the primitives."""
