"""The function of SciPy's old module ``misc`` that differentiates."""

from lawful.special import logsumexp

__all__ = ["logsumexp"]
