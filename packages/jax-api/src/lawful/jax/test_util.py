"""``jax.test_util``: derivatives beside finite differences, by `lawful.laws`, which has to be installed."""

from lawful.laws import check_grads as check_grads

__all__ = ["check_grads"]
