"""The functions of ``lawful.ops`` over ``jax.numpy`` and ``jax.lax``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from lawful.laws.systems._array_functions import ArrayFunctions

try:
    import jax.numpy as jnp
    from jax import lax
except ImportError as error:
    raise ImportError("lawful.laws.systems.jax: expected JAX, which is not installed; do `pip install jax`") from error


def _promoted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a strict function of ``jax.lax`` that promotes and broadcasts first."""
    return lambda *args: function(*jnp.broadcast_arrays(*_of_one_dtype(args)))


def _of_one_dtype(args: Sequence[Any]) -> list[Any]:
    dtype = jnp.result_type(*args)
    return [jnp.asarray(x, dtype) for x in args]


def _of_numbers(function: Callable[..., Any], operand: Any, *rest: Any) -> Any:
    """Applies a function that refuses booleans to booleans, as numbers."""
    x = jnp.asarray(operand)
    return function(x.astype(int), *rest).astype(bool) if x.dtype == bool else function(x, *rest)


class JaxFunctions(ArrayFunctions):
    """Array functions by lawful's names: those of ``jax.lax``, with promotion."""

    def __init__(self) -> None:
        super().__init__(jnp)
        for name in ("div", "rem", "shift_right_logical"):
            setattr(self, name, _promoted(getattr(lax, name)))
        for name in ("dot_general", "integer_pow", "rev", "split", "squeeze", "broadcast_in_dim"):
            setattr(self, name, getattr(lax, name))
        for name in ("sum", "prod", "max", "min", "and", "or", "xor"):
            setattr(self, f"reduce_{name}", getattr(lax, f"reduce_{name}"))
        for name in ("cumsum", "cumprod", "argmax", "argmin", "full", "full_like", "iota"):
            setattr(self, name, getattr(lax, name))
        for name in ("transpose", "reshape", "slice", "slice_in_dim", "broadcasted_iota", "convert_element_type"):
            setattr(self, name, getattr(lax, name))

    def cummax(self, operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        return _of_numbers(lax.cummax, operand, axis, reverse)

    def cummin(self, operand: Any, axis: int = 0, reverse: bool = False) -> Any:
        return _of_numbers(lax.cummin, operand, axis, reverse)

    def rsqrt(self, x: Any) -> Any:
        return lax.rsqrt(self._floating(x))

    def logistic(self, x: Any) -> Any:
        return lax.logistic(self._floating(x))

    def complex(self, x: Any, y: Any) -> Any:
        return lax.complex(*_of_one_dtype((self._floating(x), self._floating(y))))

    def clamp(self, min: Any, x: Any, max: Any) -> Any:
        # The derivative by a scalar bound raises a TypeError in JAX 0.12, unless all operands are scalars.
        return _promoted(lax.clamp)(min, x, max)

    def pad(self, operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Any:
        # The gradient by the padding value raises a TypeError in JAX 0.12 for a scalar without padding.
        if not padding_config:
            return operand
        array, value = _of_one_dtype((operand, padding_value))
        return lax.pad(array, value, padding_config)

    def select_n(self, which: Any, *cases: Any) -> Any:
        chosen = jnp.asarray(which)
        if chosen.dtype != bool:
            # lax does not define the result for an index out of range.
            chosen = jnp.clip(chosen, 0, len(cases) - 1).astype("int32")
        return lax.select_n(chosen, *jnp.broadcast_arrays(*_of_one_dtype(cases)))

    def _floating(self, x: Any) -> Any:
        return jnp.asarray(x, jnp.promote_types(jnp.result_type(x), jnp.float64)) if self.dtype_kind(x) in "biu" else x


#: The functions, as programs name them.
ops: Final = JaxFunctions()
