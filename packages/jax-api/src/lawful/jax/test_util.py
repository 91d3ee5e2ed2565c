"""``jax.test_util``: derivatives beside finite differences, by `lawful.laws`, which has to be installed."""

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["check_grads"]


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: Any = None,
    rtol: Any = None,
    eps: float | None = None,
) -> None:
    """Checks derivatives up to an order against finite differences, as `lawful.laws.check_grads` does.

    Raises:
      AssertionError: a derivative differs.
      ImportError: `lawful.laws` is not installed.

    Source: ``jax.test_util.check_grads``.
    """
    try:
        from lawful import laws
    except ImportError as error:
        raise ImportError("jax.test_util: check_grads is of lawful.laws, which is not installed") from error
    laws.check_grads(f, args, order, modes, atol, rtol, eps)
