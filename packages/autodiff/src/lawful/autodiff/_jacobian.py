"""``jacfwd``, ``jacrev`` and ``hessian``: whole Jacobians, by mapping one derivative over a basis."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.autodiff._grad import Argnums, chosen_arguments, positions_of
from lawful.autodiff._jvp import jvp
from lawful.autodiff._rows import rows_hook
from lawful.autodiff._vjp import vjp
from lawful.core import ArgumentTypeError, float0, get_aval, is_inexact
from lawful.ops import reshape
from lawful.staging import copy_aliased, function_name, require_callable


def _basis(leaves: list[Any]) -> list[Any]:
    """Returns the unit vectors of the space of these leaves: each with a new first dimension over all of them."""
    avals = [get_aval(x) for x in leaves]
    total = sum(aval.size for aval in avals)
    basis, start = [], 0
    for aval in avals:
        block = np.zeros((total, aval.size), aval.dtype)
        block[start : start + aval.size] = np.eye(aval.size, dtype=aval.dtype)
        basis.append(block.reshape(total, *aval.shape))
        start += aval.size
    return basis


def _require_floating(name: str, what: str, values: Any) -> None:
    if all([is_inexact(get_aval(x).dtype) for x in tree.leaves(values)]):
        return
    for path, x in tree.leaves_with_path(values):
        aval = get_aval(x)
        if not is_inexact(aval.dtype):
            raise ArgumentTypeError(
                f"{name}: expected floating {what}, got {aval} at {what}{tree.keystr(path)}; integers and booleans "
                "have no derivative: leave them out, or return them with has_aux=True"
            )


def _check_kind(name: str, what: str, values: Any, *, holomorphic: bool) -> None:
    _require_floating(name, what, values)
    for x in tree.leaves(values):
        aval = get_aval(x)
        if holomorphic != (aval.dtype.kind == "c"):
            wanted = "complex" if holomorphic else "real"
            raise ArgumentTypeError(
                f"{name}: expected {wanted} {what}, got {aval}; "
                + ("leave holomorphic out" if holomorphic else "pass holomorphic=True if it is holomorphic")
            )


def _jacobian(
    fun: Callable[..., Any],
    argnums: Argnums,
    has_aux: bool,
    holomorphic: bool,
    label: str,
    *,
    columns: bool,
    allow_int: bool = False,
) -> Callable[..., Any]:
    require_callable(label, fun)
    positions = positions_of(argnums)
    name = f"{label} of {function_name(fun)}"

    @functools.wraps(fun, updated=())
    def jacobian_fun(*args: Any, **kwargs: Any) -> Any:
        from lawful.batching import vmap

        chosen, leaves, in_tree, _ = chosen_arguments(name, positions, args)

        def function(*differentiated: Any) -> Any:
            full = list(args)
            for position, x in zip(chosen, tree.unflatten(in_tree, differentiated), strict=True):
                full[position] = x
            return fun(*full, **kwargs)

        function.__name__ = function_name(fun)
        if columns:
            _check_kind(name, "arguments", tuple(chosen.values()), holomorphic=holomorphic)
            outs, blocks, aux = _by_columns(vmap, function, leaves, has_aux)
            if holomorphic:
                _check_kind(name, "results", outs, holomorphic=True)
        else:
            if holomorphic:
                _check_kind(name, "arguments", tuple(chosen.values()), holomorphic=True)
            elif not allow_int:
                _require_floating(name, "arguments", tuple(chosen.values()))
            outs, blocks, aux = _by_rows(vmap, function, leaves, has_aux, name, holomorphic)
        out_leaves, out_tree = tree.flatten(outs)
        shaped = [
            _reshaped(block, (*get_aval(x).shape, *get_aval(leaf).shape))
            for x, row in zip(out_leaves, blocks, strict=True)
            for block, leaf in zip(row, leaves, strict=True)
        ]
        owned = iter(copy_aliased(shaped, leaves))
        rows = []
        for _ in out_leaves:
            gradients = tree.unflatten(in_tree, [next(owned) for _ in leaves])
            rows.append(tuple(gradients) if isinstance(argnums, Sequence) else gradients[0])
        jacobian = tree.unflatten(out_tree, rows)
        return (jacobian, aux) if has_aux else jacobian

    return jacobian_fun


def _reshaped(block: Any, shape: tuple[int, ...]) -> Any:
    # Derivatives by integers have no bits that could be moved.
    return np.zeros(shape, float0) if get_aval(block).dtype == float0 else reshape(block, shape)


def _by_columns(
    vmap: Any, function: Callable[..., Any], leaves: list[Any], has_aux: bool
) -> tuple[Any, list[Any], Any]:
    """Returns the outputs, and for each output leaf its blocks by input leaf, from one jvp for each input element."""

    def push(*tangents: Any) -> Any:
        return jvp(function, tuple(leaves), tangents, has_aux=has_aux)

    out_axes = (None, -1, None) if has_aux else (None, -1)
    result = vmap(push, out_axes=out_axes)(*_basis(leaves))
    ends = np.cumsum([get_aval(x).size for x in leaves])
    starts = [0, *ends[:-1]] if leaves else []
    blocks = [
        [t[..., int(start) : int(end)] for start, end in zip(starts, ends, strict=True)] for t in tree.leaves(result[1])
    ]
    return result[0], blocks, result[2] if has_aux else None


def _by_rows(
    vmap: Any, function: Callable[..., Any], leaves: list[Any], has_aux: bool, name: str, holomorphic: bool
) -> tuple[Any, list[Any], Any]:
    """Returns the outputs, and for each output leaf its blocks by input leaf, from one vjp for each output element."""
    outs, f_vjp, *aux = vjp(function, *leaves, has_aux=has_aux)
    out_leaves, out_tree = tree.flatten(outs)
    _check_kind(name, "results", outs, holomorphic=holomorphic)
    if not out_leaves:
        return outs, [], aux[0] if has_aux else None
    pulled = rows_hook.use(vmap, f_vjp, out_tree, _basis(out_leaves), leaves)
    if len(out_leaves) == 1:
        return outs, [pulled], aux[0] if has_aux else None
    blocks, start = [], 0
    for x in out_leaves:
        end = start + get_aval(x).size
        blocks.append([ct if get_aval(ct).dtype == float0 else ct[start:end] for ct in pulled])
        start = end
    return outs, blocks, aux[0] if has_aux else None


def jacfwd[**P](
    fun: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[P, Any]:
    """Returns a function that gives the Jacobian of ``fun``, by forward mode: best with few inputs.

    Args:
      fun: a function of pytrees of arrays that returns such a tree.
      argnums: which positional arguments to differentiate by; several give a tuple of Jacobians.
      has_aux: whether ``fun`` returns ``(output, aux)``; then ``(jacobian, aux)`` is returned.
      holomorphic: whether ``fun`` is complex-differentiable.

    Returns:
      A function whose result has, for each output leaf, a tree as the argument, of arrays of the output leaf's
      shape followed by the argument leaf's.

    Raises:
      ArgumentTypeError: an argument to differentiate by has integers, or is complex without ``holomorphic``.

    Law: equal to ``jacrev``. Source: ``jax.jacfwd``.

    >>> jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _jacobian(fun, argnums, has_aux, holomorphic, "jacfwd", columns=True)


def jacrev[**P](
    fun: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[P, Any]:
    """Returns a function that gives the Jacobian of ``fun``, by reverse mode: best with few outputs.

    Arguments, result and errors are those of :func:`jacfwd`, but the result of ``fun`` has to be floating, and with
    ``allow_int`` arguments of integers get a Jacobian of dtype ``float0`` instead of an error.

    Law: equal to ``jacfwd``. Source: ``jax.jacrev``.

    >>> jacrev(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _jacobian(fun, argnums, has_aux, holomorphic, "jacrev", columns=False, allow_int=allow_int)


def hessian[**P](
    fun: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[P, Any]:
    """Returns a function that gives the Hessian of ``fun``: the Jacobian, by forward mode, of that by reverse mode.

    Arguments and errors are those of :func:`jacfwd`.

    Law: symmetric. Source: ``jax.hessian``.

    >>> hessian(lambda x: x[0] * x[0] * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """
    return jacfwd(jacrev(fun, argnums, has_aux, holomorphic), argnums, has_aux, holomorphic)
