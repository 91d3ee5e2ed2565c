"""Laws of evaluation: staged, compiled and eager programs give the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from lawful import tree
from lawful.core import eval_closed_jaxpr, get_aval
from lawful.laws._law import Claim, Claims, Fault, law
from lawful.staging import eval_shape, jit, make_jaxpr


@cache
def installed_backends() -> tuple[str, ...]:
    """Returns the names of the backends that ``jit`` can use here: NumPy's, and those of installed distributions."""
    return tuple(sorted({"numpy", *(point.name for point in entry_points(group="lawful.backends"))}))


@law
def law_jit_is_eager(function: Callable[..., Any], *args: Any, backends: Sequence[str] | None = None) -> Claims:
    """A compiled function gives what the function gives, in value, shape, dtype and weakness, on every backend.

    Equation: jit(f)(x) = f(x)

    Args:
      function: a function of pytrees of arrays.
      args: its arguments.
      backends: names of backends; all that are installed by default.

    Raises:
      LawViolation: it does not hold.
    """
    expected = function(*args)
    for backend in installed_backends() if backends is None else backends:
        compiled = jit(function, backend=backend)
        first = compiled(*args)
        yield Claim(f"jit(f, backend='{backend}')(x)", first, "f(x)", expected, weakness=True)
        yield Claim("the second call", compiled(*args), "the first call", first, "nothing", weakness=True)
        nested = jit(lambda *xs, compiled=compiled: compiled(*xs), backend=backend)
        yield Claim("jit(jit(f))(x)", nested(*args), "jit(f)(x)", first, weakness=True)


@law
def law_eval_jaxpr(function: Callable[..., Any], *args: Any) -> Claims:
    """Evaluating the jaxpr of a function gives what the function gives, and its types are those of the values.

    Equation: eval_jaxpr(make_jaxpr(f)(x))(x) = f(x)

    Raises:
      LawViolation: it does not hold.
    """
    expected = function(*args)
    closed = make_jaxpr(function)(*args)
    outs = eval_closed_jaxpr(closed, *tree.leaves(args))
    yield Claim("eval_jaxpr(make_jaxpr(f)(x))(x)", outs, "f(x)", tree.leaves(expected), weakness=True)
    stated, found = closed.out_avals, [get_aval(x) for x in tree.leaves(expected)]
    if stated != found:
        yield Fault(f"the jaxpr says that the results are {stated}, f(x) gives {found}", str(closed))
    shapes = [get_aval(x) for x in tree.leaves(eval_shape(function, *args))]
    if shapes != found:
        yield Fault(f"eval_shape says that the results are {shapes}, f(x) gives {found}")
