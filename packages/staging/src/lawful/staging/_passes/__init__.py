"""Passes over jaxprs: dead code, common subexpressions, inlining, partial evaluation."""
