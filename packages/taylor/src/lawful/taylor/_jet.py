"""``jet``: the derivatives of a function along a curve, up to any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any

from lawful import tree
from lawful.core import ArgumentTypeError, ArgumentValueError, get_aval, is_inexact
from lawful.ops import convert_element_type, full
from lawful.staging import copy_aliased, flatten_outputs, function_name, in_avals, require_callable
from lawful.taylor._series import Series, scaled
from lawful.taylor._trace import jet_flat


def jet[R](
    fun: Callable[..., R], primals: Sequence[Any], series: Sequence[Any], factorial_scaled: bool = True
) -> tuple[R, Any]:
    """Returns ``fun`` of the start of a curve, and the derivatives of ``fun`` along the curve there.

    Args:
      fun: a function of pytrees of arrays that returns such a tree. Python control flow on values works.
      primals: the tuple of arguments, where the curve is at ``t = 0``.
      series: for each argument the list of its derivatives by ``t`` of order 1, 2, … K: each a tree of the structure,
        shapes and dtypes of the argument. All have K of them. Of an argument without floats they are integers, or of
        dtype float0, and do not matter.
      factorial_scaled: whether derivatives are given and returned; else Taylor coefficients, which are the
        derivatives over ``k!``.

    Returns:
      ``fun(*primals)``, and the list of its K derivatives by ``t``, each a tree like it.

    Raises:
      ArgumentTypeError: primals and series differ in structure, shape or dtype; an integer is to move.
      ArgumentValueError: the series differ in length.

    Laws: ``jet(f, x, [v]) = jvp(f, x, v)``; the k-th derivative is that of the k-fold ``jvp`` of ``t ↦ f(x(t))``;
    ``jet`` of a composition is the composition of ``jet``s. Source: ``jax.experimental.jet.jet``; Griewank and
    Walther, "Evaluating Derivatives", 2nd ed., SIAM 2008, chapter 13.

    >>> jet(lambda x: x * x * x, (2.0,), ([1.0, 0.0, 0.0],))
    (8.0, [12.0, 12.0, 6.0])
    """
    require_callable("jet", fun)
    order, flat, in_tree = _flat_series(primals, series, factorial_scaled)
    name = function_name(fun)
    out_tree: Any = None

    def function(*leaves: Any) -> list[Any]:
        nonlocal out_tree
        outs, out_tree = flatten_outputs(f"jet of {name}", fun(*tree.unflatten(in_tree, leaves)))
        return outs

    outs = jet_flat(function, flat, order)
    weights = [factorial(k) if factorial_scaled else 1 for k in range(order + 1)]
    values = [x[0] for x in outs]
    terms = [[_term(x[0], x[k], weights[k]) for x in outs] for k in range(1, order + 1)]
    given = [c for x in flat for c in x]
    owned = copy_aliased([*values, *[x for term in terms for x in term]], given)
    results = [owned[i : i + len(values)] for i in range(0, len(owned), len(values) or 1)]
    results += [[] for _ in range(order + 1 - len(results))]
    value, *derivatives = [tree.unflatten(out_tree, leaves) for leaves in results]
    return value, derivatives


def _term(first: Any, x: Any, weight: int) -> Any:
    aval = get_aval(first)
    if not is_inexact(aval.dtype):
        return full(aval.shape, 0, aval.dtype)
    if x is None:
        zero = full(aval.shape, 0, aval.dtype)
        return 0.0 if aval.weak_type and aval.dtype == float else zero
    return scaled(weight, x)


def _flat_series(primals: Any, series: Any, factorial_scaled: bool) -> tuple[int, list[Series], Any]:
    """Returns the order, the Taylor coefficients of each leaf of the arguments, and the tree of these."""
    for argument, value in (("primals", primals), ("series", series)):
        if not isinstance(value, tuple | list):
            raise ArgumentTypeError(
                f"jet: expected a tuple or list as {argument}, got {type(value).__name__}; write jet(f, (x,), ([v],))"
            )
    if len(primals) != len(series):
        raise ArgumentValueError(
            f"jet: expected a series for each argument, got {len(series)} for {len(primals)}; give the derivatives of "
            "each argument as a list"
        )
    lengths = [len(terms) if isinstance(terms, tuple | list) else -1 for terms in series]
    if len(set(lengths)) > 1 or -1 in lengths:
        got = ", ".join("no list" if length < 0 else str(length) for length in lengths)
        raise ArgumentValueError(
            f"jet: expected lists of as many derivatives for each argument, got {got}; fill up with zeros"
        )
    order = lengths[0] if lengths else 0
    leaves, in_tree = tree.flatten(tuple(primals))
    in_avals("jet", (tuple(primals), {}), leaves)
    by_order = [[terms[k] for terms in series] for k in range(order)]
    paths = [path for path, _ in tree.leaves_with_path(tuple(primals))]
    flat: list[Series] = [[x] for x in leaves]
    for k, trees in enumerate(by_order, 1):
        found, found_tree = tree.flatten(tuple(trees))
        if found_tree != in_tree:
            raise ArgumentTypeError(
                f"jet: expected derivatives of order {k} with the structure of the arguments, got {found_tree} for "
                f"{in_tree}; give the same tree"
            )
        for path, x, terms in zip(paths, found, flat, strict=True):
            terms.append(_coefficient(path, k, terms[0], x, factorial_scaled))
    return order, flat, in_tree


def _coefficient(path: Any, k: int, first: Any, x: Any, factorial_scaled: bool) -> Any:
    aval, given = get_aval(first), get_aval(x)
    if not is_inexact(aval.dtype):
        if is_inexact(given.dtype):
            raise ArgumentTypeError(
                f"jet: expected no derivative that is not an integer of argument{tree.keystr(path)}, which is {aval}, "
                f"got {given} of order {k}; give the argument as a float"
            )
        return None
    if given.shape != aval.shape or (given.dtype != aval.dtype and not given.weak_type):
        raise ArgumentTypeError(
            f"jet: expected a derivative of type {aval}, got {given} of order {k} at argument{tree.keystr(path)}; "
            "convert it with astype or broadcast it"
        )
    if given.dtype != aval.dtype:
        x = convert_element_type(x, aval.dtype)
    return scaled(1 / factorial(k), x) if factorial_scaled else x
