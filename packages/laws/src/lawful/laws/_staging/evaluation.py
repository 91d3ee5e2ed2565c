"""Laws of evaluation: staged, compiled and eager programs give the same."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from lawful import tree
from lawful.core import eval_closed_jaxpr, get_aval
from lawful.laws._law.law import Claim, Claims, Fault, Trial, law
from lawful.staging import eval_shape, make_jaxpr


@cache
def installed_backends() -> tuple[str, ...]:
    """Returns the names of the backends that ``jit`` can use here: NumPy's, and those of installed distributions.

    >>> "numpy" in installed_backends()
    True
    """
    return tuple(sorted({"numpy", *(point.name for point in entry_points(group="lawful.backends"))}))


@law("evaluation", needs=("jit",))
def law_jit_is_eager(trial: Trial) -> Claims:
    """A compiled function gives what the function gives, in value, shape, dtype and weakness, on every backend.

    Equation: jit(f)(x) = f(x)

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_jit_is_eager(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    function, args = trial.function, trial.args
    expected = trial.value(function, args)
    for backend in trial.system.backends:
        compiled = trial.system.jit(function, backend)
        first = compiled(*args)
        yield Claim(f"jit(f, backend='{backend}')(x)", first, "f(x)", expected, weakness=True)
        yield Claim("the second call", compiled(*args), "the first call", first, "nothing", weakness=True)
        if trial.effort.most > 1:
            nested = trial.system.jit(lambda *xs, compiled=compiled: compiled(*xs), backend)
            yield Claim("jit(jit(f))(x)", nested(*args), "jit(f)(x)", first, weakness=True)


@law("evaluation", needs=("jaxprs",))
def law_eval_jaxpr(trial: Trial) -> Claims:
    """Evaluating the jaxpr of a function gives what the function gives, and its types are those of the values.

    Equation: eval_jaxpr(make_jaxpr(f)(x))(x) = f(x)

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_eval_jaxpr(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    function, args = trial.function, trial.args
    expected = trial.value(function, args)
    closed = make_jaxpr(function)(*args)
    outs = eval_closed_jaxpr(closed, *tree.leaves(args))
    yield Claim("eval_jaxpr(make_jaxpr(f)(x))(x)", outs, "f(x)", tree.leaves(expected), weakness=True)
    stated, found = closed.out_avals, [get_aval(x) for x in tree.leaves(expected)]
    if stated != found:
        yield Fault(f"the jaxpr says that the results are {stated}, f(x) gives {found}", str(closed))
    shapes = [get_aval(x) for x in tree.leaves(eval_shape(function, *args))]
    if shapes != found:
        yield Fault(f"eval_shape says that the results are {shapes}, f(x) gives {found}")
