"""The adapter of JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from lawful import tree
from lawful.core import ShapedArray, get_aval
from lawful.laws._law.implementation import Function, Implementation
from lawful.laws.systems._detours import plain_detours, plain_imports
from lawful.laws.systems.jax._functions import ops
from lawful.laws.systems.jax._own_rules import with_jvp_rule

jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]

grad, jvp, linearize, value_and_grad, vjp, vmap = (
    *(jax.grad, jax.jvp, jax.linearize),
    *(jax.value_and_grad, jax.vjp, jax.vmap),
)
checkpoint, cond, switch, stop_gradient = jax.checkpoint, lax.cond, lax.switch, lax.stop_gradient


def jit(function: Function, backend: str | None = None) -> Function:
    """Returns a function compiled by XLA, JAX's only backend.

    >>> float(jit(lambda x: x + 1.0)(2.0))
    3.0
    """
    compiled: Function = jax.jit(function)
    return compiled


def scan(
    f: Function, init: Any, xs: Any = None, length: int | None = None, reverse: bool = False, unroll: Any = 1, *,
    checkpoints: int | None = None,
) -> Any:  # fmt: skip
    """Returns a scan; ``checkpoints`` is ignored, because JAX stores the residuals of every iteration.

    >>> total, before = scan(lambda carry, x: (carry + x, carry), 0.0, np.arange(3.0))
    >>> float(total), before.tolist()
    (3.0, [0.0, 0.0, 1.0])
    """
    return lax.scan(f, array(init), xs, length, reverse, unroll)


def associative_scan(fn: Function, elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """Returns the partial combinations; JAX 0.12 fails for a negative axis with ``reverse``.

    >>> associative_scan(ops.add, np.arange(4.0))
    Array([0., 1., 3., 6.], dtype=float64)
    """
    return lax.associative_scan(fn, array(elems), reverse, axis % np.ndim(tree.leaves(elems)[0]))


def map(f: Function, xs: Any, *, batch_size: int | None = None) -> Any:
    """Returns the stacked results; JAX 0.12 divides by zero for batches of results without elements.

    >>> map(lambda x: x * 2.0, np.arange(3.0))
    Array([0., 2., 4.], dtype=float64)
    """
    without_elements = not all(leaf.size for leaf in tree.leaves(jax.eval_shape(lambda xs: lax.map(f, xs), array(xs))))
    return lax.map(f, array(xs), batch_size=None if without_elements else batch_size)


def fori_loop(lower: int, upper: int, body: Function, init: Any, *, checkpoints: int | None = None) -> Any:
    """Returns a loop between static bounds; JAX stores the residuals of every iteration.

    >>> fori_loop(0, 3, lambda i, x: x * 2.0, np.float64(1.0))
    Array(8., dtype=float64)
    """
    return lax.fori_loop(lower, upper, body, array(init))


def array(value: Any) -> Any:
    """Returns a pytree with copies of its NumPy arrays as JAX arrays; numbers and JAX's values are left.

    >>> array([np.ones(2), 3.0])
    [Array([1., 1.], dtype=float64), 3.0]
    """
    return tree.map(_array, value)


def _array(value: Any) -> Any:
    return jnp.array(value) if isinstance(value, np.ndarray | np.generic) and value.dtype.kind != "V" else value


_SCOPE: Final[dict[str, Any]] = {
    "np": np,
    "array": array,
    "associative_scan": associative_scan,
    "checkpoint": checkpoint,
    "cond": cond,
    "fori_loop": fori_loop,
    "grad": grad,
    "jit": jit,
    "jvp": jvp,
    "linearize": linearize,
    "map": map,
    "ops": ops,
    "scan": scan,
    "stop_gradient": stop_gradient,
    "switch": switch,
    "value_and_grad": value_and_grad,
    "vjp": vjp,
    "vmap": vmap,
    "with_jvp_rule": with_jvp_rule,
}


class Jax(Implementation):
    """JAX, with numbers of 64 bits.

    >>> [float(x) for x in system.jvp(lambda x: x * x, (3.0,), (1.0,))]
    [9.0, 6.0]
    """

    name = "jax"
    absent: Mapping[str, str] = MappingProxyType(
        {
            "devices": "laws of sharding are about the programs that lawful splits over devices",
            "jet": "its jet is experimental, and refuses complex numbers and most of the structured primitives",
            "custom_vjp": "forward mode of a function with such a rule is an error",
            "custom_vmap": "jax.custom_batching.custom_vmap has no reverse mode, and closes over no tracer",
            "jaxprs": "its jaxprs are of another class than lawful's",
            "while_loop": "its while_loop has no reverse mode",
            "weak types": "it has them, but a function of weak values gives a weak one, unlike NumPy's",
        }
    )
    backends: Sequence[str] = ("xla",)
    scope: Mapping[str, Any] = MappingProxyType(_SCOPE | plain_detours)
    imports: Mapping[str, str] = MappingProxyType(
        {
            name: "import numpy as np" if name == "np" else f"from lawful.laws.systems.jax import {name}"
            for name in _SCOPE
        }
        | plain_imports
    )

    def array(self, value: Any) -> Any:
        return _array(value)

    def numpy(self, value: Any) -> Any:
        return np.asarray(value) if isinstance(value, jax.Array) else value

    def aval(self, value: Any) -> ShapedArray:
        if not isinstance(value, jax.Array):
            return get_aval(value)
        return ShapedArray(value.shape, value.dtype, bool(getattr(jax.typeof(value), "weak_type", False)))

    def jvp(self, function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        out, tangent = jax.jvp(function, _arrays(primals), _arrays(tangents))
        return out, tangent

    def linearize(self, function: Function, *primals: Any) -> tuple[Any, Function]:
        out, push = jax.linearize(function, *_arrays(primals))
        return out, push

    def linear_transpose(self, function: Function, *examples: Any) -> Function:
        transposed: Function = jax.linear_transpose(function, *_arrays(examples))
        return transposed

    def vjp(self, function: Function, *primals: Any) -> tuple[Any, Function]:
        out, pull = jax.vjp(function, *_arrays(primals))
        return out, pull

    def grad(self, function: Function, argnums: int | Sequence[int] = 0) -> Function:
        gradient: Callable[..., Any] = jax.grad(function, argnums)
        return gradient

    def jacfwd(self, function: Function) -> Function:
        jacobian: Function = jax.jacfwd(function)
        return jacobian

    def jacrev(self, function: Function) -> Function:
        jacobian: Function = jax.jacrev(function)
        return jacobian

    def vmap(self, function: Function, in_axes: Any = 0, out_axes: Any = 0) -> Function:
        mapped: Function = jax.vmap(function, in_axes, out_axes)
        return mapped

    def jit(self, function: Function, backend: str | None = None) -> Function:
        return jit(function, backend)

    def clear_caches(self) -> None:
        jax.clear_caches()  # type: ignore[no-untyped-call]


def _arrays(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(array(tuple(values)))


#: JAX.
system: Final = Jax()
