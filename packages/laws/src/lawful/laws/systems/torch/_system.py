"""The adapter of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from lawful import tree
from lawful.core import ShapedArray, get_aval
from lawful.laws._law.implementation import Function, Implementation
from lawful.laws.systems._detours import plain_detours, plain_imports
from lawful.laws.systems.torch._functions import ops
from lawful.laws.systems.torch._namespace import numpy_dtype, tensor_of, torch


def array(value: Any) -> Any:
    """Returns a pytree with copies of its arrays and numbers as tensors."""
    return tree.map(tensor_of, value)


def stop_gradient(x: Any) -> Any:
    """Returns a pytree of constants."""
    return tree.map(lambda leaf: tensor_of(leaf).detach(), x)


class _Flat:
    """A function from tensors to a tuple of tensors: PyTorch supports fewer pytrees.

    Args:
      function: a function of pytrees.
      args: its arguments.
    """

    def __init__(self, function: Function, args: Sequence[Any]) -> None:
        self.function = function
        leaves, self.treedef = tree.flatten(tuple(args))
        self.leaves = tuple(map(tensor_of, leaves))

    def __call__(self, *leaves: Any) -> tuple[Any, ...]:
        out = self.function(*tree.unflatten(self.treedef, leaves))
        results, self.out_treedef = tree.flatten(out)
        return tuple(map(tensor_of, results))

    def result(self, values: Sequence[Any]) -> Any:
        """Returns leaves as a pytree with the structure of the result."""
        return tree.unflatten(self.out_treedef, values)

    def arguments(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Returns leaves as pytrees with the structures of the arguments."""
        args: tuple[Any, ...] = tree.unflatten(self.treedef, values)
        return args


def _leaves(values: Any) -> tuple[Any, ...]:
    return tuple(map(tensor_of, tree.leaves(values)))


def jvp(function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Returns the results of a function and their tangents."""
    flat = _Flat(function, primals)
    # jvp refuses tensors whose elements overlap in memory, as broadcasting creates them.
    own = tuple([leaf.contiguous() for leaf in flat.leaves])
    out, tangent = torch.func.jvp(flat, own, _leaves(tuple(tangents)))
    return flat.result(out), flat.result(tangent)


def vjp(function: Function, *primals: Any) -> tuple[Any, Function]:
    """Returns the results of a function, and the function from their cotangents to a tuple of those of primals."""
    flat = _Flat(function, primals)
    out, pull = torch.func.vjp(flat, *flat.leaves)
    return flat.result(out), lambda cotangent: flat.arguments(pull(_leaves(cotangent)))


def grad(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """Returns the gradient of a function that gives one real number."""
    return lambda *args: value_and_grad(function, argnums)(*args)[1]


def value_and_grad(function: Function, argnums: int | Sequence[int] = 0) -> Function:
    """Returns the function that gives a real number and its gradient."""
    chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def both(*args: Any) -> Any:
        def restricted(*values: Any) -> Any:
            full = list(args)
            for i, value in zip(chosen, values, strict=True):
                full[i] = value
            return function(*full)

        flat = _Flat(restricted, [args[i] for i in chosen])
        every = tuple(range(len(flat.leaves)))
        gradient, value = torch.func.grad_and_value(lambda *leaves: flat(*leaves)[0], every)(*flat.leaves)
        found = flat.arguments(gradient)
        return value, found[0] if isinstance(argnums, int) else found

    return both


def vmap(function: Function, in_axes: Any = 0, out_axes: Any = 0) -> Function:
    """Returns a function mapped over axes of its arguments; one axis for all leaves of an argument."""

    def mapped(*args: Any) -> Any:
        flat = _Flat(function, args)
        axes = in_axes if isinstance(in_axes, tuple | list) else (in_axes,) * len(args)
        in_dims = [axis for axis, arg in zip(axes, args, strict=True) for _ in tree.leaves(arg)]
        return flat.result(torch.func.vmap(flat, tuple(in_dims), out_axes)(*flat.leaves))

    return mapped


_SCOPE: Final[dict[str, Any]] = {
    "np": np,
    "array": array,
    "grad": grad,
    "jvp": jvp,
    "ops": ops,
    "stop_gradient": stop_gradient,
    "value_and_grad": value_and_grad,
    "vjp": vjp,
    "vmap": vmap,
}

_NO_NUMPY_METHODS = "the methods of tensors take other arguments than NumPy's, and do not promote as they do"


class Torch(Implementation):
    """PyTorch's function transforms, on the CPU."""

    name = "torch"
    absent: Mapping[str, str] = MappingProxyType(
        {
            "devices": "laws of sharding are about the programs that lawful splits over devices",
            "jet": "it has no Taylor mode",
            "associative_scan": "its loops exist in compiled functions only",
            "checkpoint": "torch.utils.checkpoint hooks into what is saved, which torch.func does not support",
            "complex": "its cotangents are conjugates of JAX's",
            "cond": "its choice exists in compiled functions only",
            "custom_jvp": "torch.autograd.Function takes tensors only, and closes over none that is differentiated",
            "custom_vjp": "torch.autograd.Function takes tensors only, and closes over none that is differentiated",
            "custom_vmap": "torch.autograd.Function takes tensors only, and closes over none that is mapped",
            "empty batches": "many of its functions raise an error when they are mapped over no elements",
            "fori_loop": "its loops exist in compiled functions only",
            "integer tangents": "it differentiates by floating numbers only",
            "jaxprs": "it has another program representation",
            "jit": "torch.compile needs a C++ compiler, and takes seconds for each program",
            "linear_transpose": "it transposes no function that is not a derivative",
            "map": "its loops exist in compiled functions only",
            "mixed jit": "see jit",
            "linearize": "torch.func.linearize cannot stand inside of another transform",
            "scan": "its loops exist in compiled functions only",
            "switch": "its choice exists in compiled functions only",
            "threads": "the levels of forward mode are one for all threads, which gives wrong tangents of zero",
            "while_loop": "its loops exist in compiled functions only",
            "weak types": "its rules of promotion have other kinds of scalars",
        }
    )
    excluded: Mapping[str, str] = MappingProxyType(
        {
            "arithmetic of integers": "of integers and Python numbers it gives the default float, of 32 bits",
            "operator.floordiv": "it has no derivative of it, not even zero",
            "operator.pow": "the same as of ops.pow",
            "ops.pow": "its derivative by the exponent of the derivative by the base is zero at exponent zero",
            "reversed slices": "it takes no negative step",
            **dict.fromkeys((".sum", ".mean", ".T ", ".max", ".prod"), _NO_NUMPY_METHODS),
        }
    )
    scope: Mapping[str, Any] = MappingProxyType(_SCOPE | plain_detours)
    imports: Mapping[str, str] = MappingProxyType(
        {
            name: "import numpy as np" if name == "np" else f"from lawful.laws.systems.torch import {name}"
            for name in _SCOPE
        }
        | plain_imports
    )

    def array(self, value: Any) -> Any:
        return tensor_of(value)

    def numpy(self, value: Any) -> Any:
        return value.detach().numpy(force=True) if isinstance(value, torch.Tensor) else value

    def aval(self, value: Any) -> ShapedArray:
        if not isinstance(value, torch.Tensor):
            return get_aval(value)
        return ShapedArray(tuple(value.shape), numpy_dtype(value))

    def jvp(self, function: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return jvp(function, primals, tangents)

    def linearize(self, function: Function, *primals: Any) -> tuple[Any, Function]:
        raise self._has_no("linearize")

    def linear_transpose(self, function: Function, *examples: Any) -> Function:
        raise self._has_no("linear_transpose")

    def vjp(self, function: Function, *primals: Any) -> tuple[Any, Function]:
        return vjp(function, *primals)

    def grad(self, function: Function, argnums: int | Sequence[int] = 0) -> Function:
        return grad(function, argnums)

    def jacfwd(self, function: Function) -> Function:
        return _of_tensors(torch.func.jacfwd(function))

    def jacrev(self, function: Function) -> Function:
        return _of_tensors(torch.func.jacrev(function))

    def vmap(self, function: Function, in_axes: Any = 0, out_axes: Any = 0) -> Function:
        return vmap(function, in_axes, out_axes)

    def jit(self, function: Function, backend: str | None = None) -> Function:
        raise self._has_no("jit")

    def clear_caches(self) -> None:
        """Does nothing: there is no compilation."""


def _of_tensors(function: Callable[..., Any]) -> Function:
    return lambda *args: function(*map(tensor_of, args))


#: PyTorch.
system: Final = Torch()
