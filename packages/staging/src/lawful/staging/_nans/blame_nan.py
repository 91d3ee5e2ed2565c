"""``blame_nan``: the equation that makes the NaN, or the infinity, in the results of a function."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from operator import itemgetter
from typing import Any

from lawful import tree
from lawful.core import (
    ArgumentTypeError,
    NonArrayError,
    ShapedArray,
    as_bool,
    current,
    eval_trace,
    get_aval,
    is_array,
    is_inexact,
    new_trace,
    shorten,
)
from lawful.staging._analyzed_call import StaticArgument, called, declared_statics, mark_statics
from lawful.staging._make_jaxpr import ShapeDtypeStruct
from lawful.staging._nans.blame import Blame
from lawful.staging._nans.observation import observation, unchecked
from lawful.staging._nans.trace import CONSTANT, KINDS, BlameTrace, BlameTracer
from lawful.staging._signature import argument_names, describe_argument, function_name, refuse_dtypes, require_callable


def blame_nan(fun: Callable[..., Any], *, discarded: bool = False) -> Callable[..., Blame | None]:
    """Returns a function that finds the equation that makes the NaN, or else the infinity, in the results of ``fun``.

    Args:
      fun: a function of pytrees, also a transformed one: ``grad(loss)``, ``jit(vmap(f))``.
      discarded: whether to find the first NaN that any operation makes, also if no result depends on it.

    ``blame_nan(fun)(*args)`` calls ``fun`` once, on the plain interpreters and NumPy. Calls of compiled functions,
    branches, loops and functions with rules are entered. It returns the :class:`Blame` of the first equation that makes
    a NaN, out of operands without one, that reaches a result. If no result has a NaN, it is the equation that makes
    an infinity. It returns None if all results are finite. A NaN that a NumPy function makes of NumPy arrays that do
    not depend on floating-point arguments is seen as a constant.

    Raises:
      ArgumentTypeError: it is called within a transformation, or an argument has no value or another dtype.
      NonArrayError: a result is an iterator, or is to be awaited.

    Law: it returns None if and only if all floating-point results are finite.

    >>> from lawful.autodiff import grad
    >>> from lawful.ops import mul, sqrt
    >>> print(blame_nan(grad(lambda x: mul(sqrt(x), 0.0)))(0.0))
    NaN in result was made by ...
    """
    require_callable("blame_nan", fun)
    discarded = as_bool("blame_nan", "discarded", discarded)

    def blamed(*args: Any, **kwargs: Any) -> Blame | None:
        if current.trace is not eval_trace:
            raise ArgumentTypeError(
                f"blame_nan of {function_name(fun)}: expected to be called outside of transformations, got a call "
                f"within {current.trace.transformation}; apply blame_nan last, as in blame_nan(jit(grad(f)))(x)"
            )
        with observation(), unchecked():
            trace = BlameTrace()
            marked = mark_statics(declared_statics(fun), args, kwargs)
            _require_values(f"blame_nan of {function_name(fun)}", marked)
            leaves, treedef = tree.flatten(marked)
            names = argument_names(fun, treedef)
            given = [
                trace.new_input(x, f"the argument {name}") if is_array(x) and is_inexact(get_aval(x).dtype) else x
                for name, x in zip(names, leaves, strict=True)
            ]
            with new_trace(trace):
                given = [x.value if isinstance(x, StaticArgument) else x for x in given]
                args, kwargs = tree.unflatten(treedef, given)
                result = called(f"blame_nan of {function_name(fun)}", fun, args, kwargs)
                _require_results(f"blame_nan of {function_name(fun)}", result)
        return _of_result(trace, result, discarded)

    return blamed


def _require_values(name: str, args: Any) -> None:
    """Raises ArgumentTypeError for an argument that has a type and no value, or a dtype that is not supported."""
    for path, leaf in tree.leaves_with_path(args):
        if isinstance(leaf, ShapeDtypeStruct | ShapedArray):
            raise ArgumentTypeError(
                f"{name}: expected arrays with values, because the function is evaluated, got {leaf} at "
                f"{describe_argument(path)}; give such an array, as of numpy.ones"
            )
    refuse_dtypes(name, args)


def _require_results(name: str, result: Any) -> None:
    """Raises NonArrayError for a result that is computed only when somebody asks for it."""
    for path, leaf in tree.leaves_with_path(result):
        if isinstance(leaf, Iterator | Awaitable):
            raise NonArrayError(
                f"{name}: expected a function that returns arrays or numbers, got {shorten(leaf)} of type "
                f"{type(leaf).__name__} at result{tree.keystr(path)}, of which nothing was computed; return a list"
            )


def _of_result(trace: BlameTrace, result: Any, discarded: bool) -> Blame | None:
    """Returns what made the first NaN that reaches a result, or else the first infinity."""
    leaves = tree.leaves_with_path(result)
    for kind in range(len(KINDS)):
        if discarded and trace.first[kind] is not None:
            return trace.first[kind]
        found = []
        for path, x in leaves:
            made = None
            if is_array(x) and is_inexact(get_aval(x).dtype):  # a predicate or an index knows what decided it, too
                made = (x.made if isinstance(x, BlameTracer) else trace.given(x, CONSTANT))[kind]
            if made is not None:
                found.append((trace.age(made), f"result{tree.keystr(path)}", made))
        if found:
            _, name, blame = min(found, key=itemgetter(0))
            return replace(blame, result_name=name)
    return None
