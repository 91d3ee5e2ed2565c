"""``jax.test_util``: derivatives beside finite differences, by `lawful.laws`, which has to be installed."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

__all__ = ["check_grads", "check_jvp", "check_vjp"]


def _laws(name: str) -> ModuleType:
    try:
        from lawful import laws
    except ImportError as error:
        raise ImportError(f"jax.test_util: {name} is of lawful.laws, which is not installed") from error
    return laws


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
    _laws("check_grads").check_grads(f, args, order, modes, atol, rtol, eps)


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: Sequence[Any],
    atol: Any = None,
    rtol: Any = None,
    eps: float = 1e-4,
    err_msg: str = "",
) -> None:
    """Checks a function of forward mode against finite differences, as `lawful.laws.check_jvp` does.

    Raises:
      AssertionError: the derivative differs.
      ImportError: `lawful.laws` is not installed.

    Source: ``jax.test_util.check_jvp``.
    """
    _laws("check_jvp").check_jvp(f, f_jvp, args, atol, rtol, eps, err_msg)


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: Sequence[Any],
    atol: Any = None,
    rtol: Any = None,
    eps: float = 1e-4,
    err_msg: str = "",
) -> None:
    """Checks a function of reverse mode against finite differences, as `lawful.laws.check_vjp` does.

    Raises:
      AssertionError: the derivative differs.
      ImportError: `lawful.laws` is not installed.

    Source: ``jax.test_util.check_vjp``.
    """
    _laws("check_vjp").check_vjp(f, f_vjp, args, atol, rtol, eps, err_msg)
