"""The adapter of Autograd."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import autograd
import numpy as np
from autograd import builtins
from autograd.tracer import isbox

from lawful import tree
from lawful.core import ShapedArray, get_aval
from lawful.laws._law.implementation import Function, Implementation
from lawful.laws.systems._detours import plain_detours, plain_imports
from lawful.laws.systems.autograd._functions import ops, value_of


def array(value: Any) -> Any:
    """Returns a pytree with copies of its NumPy arrays: Autograd keeps references to its arguments.

    >>> array([np.ones(2), 3.0])
    [array([1., 1.]), 3.0]
    """
    return tree.map(_copied, value)


def _copied(value: Any) -> Any:
    return np.array(value)[()] if isinstance(value, np.ndarray) else value


def stop_gradient(x: Any) -> Any:
    """Returns a pytree of constants.

    >>> float(grad(lambda x: x * stop_gradient(x))(3.0))
    3.0
    """
    return tree.map(value_of, x)


def cond(pred: Any, true_fun: Function, false_fun: Function, *operands: Any) -> Any:
    """Returns the result of one of two functions: values are concrete in Autograd.

    >>> cond(2.0 > 1.0, lambda x: x, lambda x: -x, 3.0)
    3.0
    """
    return (true_fun if value_of(pred) else false_fun)(*operands)


def switch(index: Any, branches: Sequence[Function], *operands: Any) -> Any:
    """Returns the result of one of several functions; the index is clamped.

    >>> switch(5, [lambda x: x, lambda x: -x], 3.0)
    -3.0
    """
    return branches[int(np.clip(value_of(index), 0, len(branches) - 1))](*operands)


class _Flat:
    """A function from a tuple of leaves to the leaves of its result, as Autograd differentiates it.

    Args:
      function: a function of pytrees.
      args: its arguments.
    """

    def __init__(self, function: Function, args: Sequence[Any]) -> None:
        self.function = function
        leaves, self.treedef = tree.flatten(tuple(args))
        # A tuple of variables of an enclosing derivative must itself be one of its variables.
        self.leaves = builtins.tuple(leaves)
        self.count = len(leaves)

    def __call__(self, leaves: Any) -> Any:
        out = self.function(*tree.unflatten(self.treedef, [leaves[i] for i in range(self.count)]))
        results, self.out_treedef = tree.flatten(out)
        return builtins.tuple(results)

    def result(self, values: Any) -> Any:
        """Returns leaves as a pytree with the structure of the result."""
        count = self.out_treedef.num_leaves
        return tree.unflatten(self.out_treedef, [_copied(values[i]) for i in range(count)])

    def arguments(self, values: Any) -> tuple[Any, ...]:
        """Returns leaves as pytrees with the structures of the arguments."""
        args: tuple[Any, ...] = tree.unflatten(self.treedef, [_copied(values[i]) for i in range(self.count)])
        return args


def _quietly(function: Callable[..., Any], *args: Any) -> Any:
    """Calls a function without the warning that its result does not depend on an argument."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Output seems independent of input")
        return function(*args)


def jvp(function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Returns the results of a function and their tangents.

    >>> out, tangent = jvp(lambda x: x * x, [3.0], [1.0])
    >>> float(out), float(tangent)
    (9.0, 6.0)
    """
    flat = _Flat(function, primals)
    direction = builtins.tuple(tree.leaves(tuple(tangents)))
    out, tangent = _quietly(autograd.make_jvp(flat)(flat.leaves), direction)
    return flat.result(out), flat.result(tangent)


def vjp(function: Function, *primals: Any) -> tuple[Any, Function]:
    """Returns the results of a function, and the function from their cotangents to a tuple of those of primals.

    >>> out, pull = vjp(lambda x, y: x * y, 3.0, 2.0)
    >>> [float(ct) for ct in pull(1.0)]
    [2.0, 3.0]
    """
    flat = _Flat(function, primals)
    pull, out = _quietly(autograd.make_vjp(flat), flat.leaves)

    def pulled(cotangent: Any) -> tuple[Any, ...]:
        return flat.arguments(_quietly(pull, builtins.tuple(tree.leaves(cotangent))))

    return flat.result(out), pulled


def grad(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """Returns the gradient of a function that gives one real number.

    >>> float(grad(lambda x: x * x)(3.0))
    6.0
    """

    def gradient(*args: Any) -> Any:
        chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)

        def restricted(*values: Any) -> Any:
            full = list(args)
            for i, value in zip(chosen, values, strict=True):
                full[i] = value
            return function(*full)

        found = vjp(restricted, *[args[i] for i in chosen])[1](np.float64(1.0))
        return found[0] if isinstance(argnums, int) else found

    return gradient


def value_and_grad(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """Returns the function that gives a real number and its gradient.

    >>> value, gradient = value_and_grad(lambda x: x * x)(3.0)
    >>> float(value), float(gradient)
    (9.0, 6.0)
    """

    def both(*args: Any) -> Any:
        return function(*args), grad(function, argnums)(*args)

    return both


_SCOPE: Final[dict[str, Any]] = {
    "np": np,
    "array": array,
    "cond": cond,
    "grad": grad,
    "jvp": jvp,
    "ops": ops,
    "stop_gradient": stop_gradient,
    "switch": switch,
    "value_and_grad": value_and_grad,
    "vjp": vjp,
}


class Autograd(Implementation):
    """Autograd, on NumPy's arrays.

    Arrays are copied on their way in and out: the derivative that ``make_vjp`` gives shares memory with both, and
    changes when they are written into.

    >>> float(system.grad(lambda x: x * x)(3.0))
    6.0
    """

    name = "autograd"
    absent: Mapping[str, str] = MappingProxyType(
        {
            "devices": "laws of sharding are about the programs that lawful splits over devices",
            "jet": "it has no Taylor mode",
            "checkpoint": "its checkpoint loses the derivative by what is closed over, and has none in forward mode",
            "associative_scan": "it has no loops but Python's",
            "complex": "its rules for complex numbers are not JAX's everywhere",
            "copies of constants": "it keeps the arrays that a function closes over themselves",
            "custom_jvp": "its primitives close over no variable of a derivative",
            "custom_vjp": "its primitives close over no variable of a derivative",
            "custom_vmap": "it does not map",
            "fori_loop": "it has no loops but Python's",
            "integer tangents": "it differentiates by floating numbers only",
            "jaxprs": "it has no program representation",
            "jit": "it does not compile",
            "linear_transpose": "it transposes no function that is not a derivative",
            "linearize": "make_jvp evaluates the function again for each tangent",
            "jacfwd": "it has Jacobians by reverse mode only",
            "map": "it has no loops but Python's",
            "mixed jit": "it does not compile",
            "scan": "it has no loops but Python's",
            "threads": "its stack of traces is one for all threads, which mix up each other's variables",
            "vmap": "it does not map",
            "while_loop": "it has no loops but Python's",
            "weak types": "a Python number is an array to it",
        }
    )
    excluded: Mapping[str, str] = MappingProxyType(
        {
            ".prod": "the same as of ops.reduce_prod",
            "operator.floordiv": "its variables have no `//`",
            "ops.cbrt": "it has no derivative of it",
            "ops.cumprod": "it has no derivative of it",
            "ops.reduce_prod": "its derivative is NaN where a factor is zero: the product is divided by the factors",
        }
    )
    scope: Mapping[str, Any] = MappingProxyType(_SCOPE | plain_detours)
    imports: Mapping[str, str] = MappingProxyType(
        {
            name: "import numpy as np" if name == "np" else f"from lawful.laws.systems.autograd import {name}"
            for name in _SCOPE
        }
        | plain_imports
    )

    def array(self, value: Any) -> Any:
        return _copied(value)

    def aval(self, value: Any) -> ShapedArray:
        return get_aval(value_of(value)) if isbox(value) else get_aval(value)

    def jvp(self, function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return jvp(function, array(tuple(primals)), array(tuple(tangents)))

    def linearize(self, function: Function, *primals: Any) -> tuple[Any, Function]:
        raise self._has_no("linearize")

    def linear_transpose(self, function: Function, *examples: Any) -> Function:
        raise self._has_no("linear_transpose")

    def vjp(self, function: Function, *primals: Any) -> tuple[Any, Function]:
        return vjp(function, *array(primals))

    def grad(self, function: Function, argnums: int | Sequence[int] = 0) -> Function:
        return grad(function, argnums)

    def jacfwd(self, function: Function) -> Function:
        raise self._has_no("jacfwd")

    def jacrev(self, function: Function) -> Function:
        jacobian: Function = autograd.jacobian(function)
        return jacobian

    def vmap(self, function: Function, in_axes: Any = 0, out_axes: Any = 0) -> Function:
        raise self._has_no("vmap")

    def jit(self, function: Function, backend: str | None = None) -> Function:
        raise self._has_no("jit")

    def clear_caches(self) -> None:
        """Does nothing: Autograd has no caches."""


#: Autograd.
system: Final = Autograd()
