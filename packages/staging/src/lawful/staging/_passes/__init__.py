"""Passes over jaxprs: dead code, common subexpressions, partial evaluation, hoisting of constants."""
