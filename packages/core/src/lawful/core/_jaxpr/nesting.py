"""Jaxprs within the parameters of jaxprs: found in one order, each once, with no recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from lawful.core._jaxpr.eval import eval_closed_jaxpr
from lawful.core._jaxpr.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn
from lawful.core._types.aval import ShapedArray

if TYPE_CHECKING:
    from lawful.core._primitive.primitive import Primitive


class Run(NamedTuple):
    """A jaxpr that an equation runs: what a primitive's rule in the slot ``"runs"`` gives of an equation, in a list.

    Attributes:
      jaxpr: what is run, once or many times.
      operands: for each of its inputs, which operand of the equation it is. A slice of a loop's operand has one
        dimension less than the operand.
      results: for each of its outputs, which result of the equation it is, or a slice of which. Empty if none of them
        is: it computes the predicate of a loop.
      fed_back: which operand an output replaces in the next iteration: positions of operands of the equation, by
        positions of outputs of the jaxpr. Without iterations the result is that operand.

    >>> from lawful.core import parse_jaxpr
    >>> body = parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }").jaxpr
    >>> Run(body, operands=[0], results=[0], fed_back={0: 0}).fed_back
    {0: 0}
    """

    jaxpr: Jaxpr
    operands: Sequence[int]
    results: Sequence[int]
    fed_back: Mapping[int, int] = MappingProxyType({})


def runs_of_call(eqn: JaxprEqn) -> list[Run]:
    """Returns what the call of a jaxpr runs: that jaxpr, with all operands, for all results.

    >>> from lawful.core import Primitive, parse_jaxpr
    >>> closed = parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }")
    >>> (run,) = runs_of_call(JaxprEqn(Primitive("invoke"), closed.invars, closed.invars, {"jaxpr": closed}))
    >>> run.jaxpr is closed.jaxpr, run.operands, run.results
    (True, range(0, 1), range(0, 1))
    """
    return [Run(eqn.params["jaxpr"].jaxpr, range(len(eqn.invars)), range(len(eqn.outvars)))]


def expand_call(*args: Any, jaxpr: ClosedJaxpr, **_: Any) -> list[Any]:
    """Evaluates the jaxpr of a call: its rule in the slot ``"expand"``.

    >>> from lawful.core import parse_jaxpr
    >>> expand_call(3.0, jaxpr=parse_jaxpr("{ lambda ; a:f64[]. let in (a, a) }"))
    [3.0, 3.0]
    """
    return eval_closed_jaxpr(jaxpr, *args)


def weakness_of_call(params: dict[str, Any]) -> list[bool]:
    """Returns whether the inputs of the jaxpr of a call are weak: a rule in the slot ``"weakness"``.

    >>> from lawful.core import parse_jaxpr
    >>> weakness_of_call({"jaxpr": parse_jaxpr("{ lambda ; a:f64[] b:~f64[]. let in (a, b) }")})
    [False, True]
    """
    return [aval.weak_type for aval in params["jaxpr"].in_avals]


def with_weakness_of_jaxprs(
    primitive: Primitive, avals: Sequence[ShapedArray], params: dict[str, Any]
) -> Sequence[ShapedArray]:
    """Returns the types of operands of a call, with the weakness of the inputs of its jaxprs.

    A jaxpr can be called with Python numbers where it was made for arrays, and with arrays where it was made for
    numbers: its results have the types that it states. A primitive that holds jaxprs says in the slot ``"weakness"``,
    by its parameters, whether each operand is weak; None stands for either, and in place of the list for any call.

    Args:
      primitive: the primitive; of one without that rule the types stay as they are.
      avals: the types of the operands.
      params: the parameters.

    >>> from lawful.core import Primitive, get_aval, parse_jaxpr
    >>> invoke_p = Primitive("invoke")
    >>> _ = invoke_p.def_rule("weakness", weakness_of_call)
    >>> closed = parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }")
    >>> with_weakness_of_jaxprs(invoke_p, [get_aval(2.0)], {"jaxpr": closed})
    [ShapedArray(f64[])]
    """
    rule = primitive.rules.get("weakness")
    stated = None if rule is None else rule(params)
    if stated is None or len(stated) != len(avals):
        return avals
    pairs = zip(avals, stated, strict=True)
    return [aval if weak is None or aval.weak_type == weak else aval.update(weak_type=weak) for aval, weak in pairs]


def sub_jaxprs(values: Iterable[Any]) -> Iterator[Jaxpr | ClosedJaxpr]:
    """Yields the jaxprs among some values of parameters, also those in tuples and lists.

    >>> from lawful.core import parse_jaxpr
    >>> closed = parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }")
    >>> list(sub_jaxprs([3, (closed, closed)]))
    [{ lambda ; a:f64[]. let in (a,) }, { lambda ; a:f64[]. let in (a,) }]
    """
    rest = [*values]
    rest.reverse()
    while rest:
        value = rest.pop()
        if isinstance(value, tuple | list):
            rest.extend(reversed(value))
        elif isinstance(value, Jaxpr | ClosedJaxpr):
            yield value


def holds_jaxprs(params: dict[str, Any]) -> bool:
    """Whether there is a jaxpr among some parameters, also in tuples and lists.

    >>> from lawful.core import parse_jaxpr
    >>> closed = parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }")
    >>> holds_jaxprs({"jaxpr": closed}), holds_jaxprs({"axis": 0})
    (True, False)
    """
    return next(sub_jaxprs(params.values()), None) is not None


def holds_constants(params: dict[str, Any]) -> bool:
    """Whether a jaxpr among some parameters has constants of its own.

    >>> from lawful.core import Var, get_aval
    >>> c = Var(get_aval(2.0))
    >>> closed = ClosedJaxpr(Jaxpr([c], [], [], [c]), [2.0])
    >>> holds_constants({"jaxpr": closed}), holds_constants({"axis": 0})
    (True, False)
    """
    return any(isinstance(jaxpr, ClosedJaxpr) and jaxpr.consts for jaxpr in sub_jaxprs(params.values()))


def ordered_params(params: dict[str, Any]) -> list[tuple[str, Any]]:
    """Returns parameters in the order in which they print: by name, those that hold jaxprs last.

    >>> from lawful.core import parse_jaxpr
    >>> ordered_params({"body": parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }"), "size": 3, "axis": 0})
    [('axis', 0), ('size', 3), ('body', { lambda ; a:f64[]. let in (a,) })]
    """
    items = sorted(params.items(), key=itemgetter(0))
    if holds_jaxprs(params):
        items.sort(key=lambda item: next(sub_jaxprs(item[1:]), None) is not None)
    return items


def open_jaxpr(jaxpr: Jaxpr | ClosedJaxpr) -> Jaxpr:
    """Returns a jaxpr without the values of its constants.

    >>> from lawful.core import parse_jaxpr
    >>> closed = parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }")
    >>> open_jaxpr(closed) is closed.jaxpr, open_jaxpr(closed.jaxpr) is closed.jaxpr
    (True, True)
    """
    return jaxpr.jaxpr if isinstance(jaxpr, ClosedJaxpr) else jaxpr


def jaxprs_in_params(params: dict[str, Any]) -> Iterator[Jaxpr]:
    """Yields the jaxprs among an equation's parameters, without their constants, also those in tuples and lists.

    >>> from lawful.core import parse_jaxpr
    >>> closed = parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }")
    >>> list(jaxprs_in_params({"branches": (closed,), "size": 3})) == [closed.jaxpr]
    True
    """
    return map(open_jaxpr, sub_jaxprs(params.values()))


def map_jaxprs(function: Callable[[ClosedJaxpr], ClosedJaxpr], params: dict[str, Any]) -> dict[str, Any]:
    """Returns parameters with a function applied to each closed jaxpr among them, also to those in tuples.

    >>> from lawful.core import parse_jaxpr
    >>> closed, other = parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }"), parse_jaxpr("{ lambda ; a:f64[]. let in () }")
    >>> map_jaxprs(lambda closed: other, {"jaxpr": closed, "size": 3})
    {'jaxpr': { lambda ; a:f64[]. let in () }, 'size': 3}
    """
    return {name: _map_value(function, value) for name, value in params.items()}


def _map_value(function: Callable[[ClosedJaxpr], ClosedJaxpr], value: Any) -> Any:
    if isinstance(value, ClosedJaxpr):
        return function(value)
    if type(value) is tuple and any(isinstance(item, ClosedJaxpr | tuple) for item in value):
        return tuple([_map_value(function, item) for item in value])
    return value


def nested_jaxprs(eqn: JaxprEqn) -> Iterator[Jaxpr]:
    """Yields the jaxprs in an equation in the order in which they print."""
    if not holds_jaxprs(eqn.params):  # the common case, without sorting
        return iter(())
    return map(open_jaxpr, sub_jaxprs([value for _, value in ordered_params(eqn.params)]))


def distinct_jaxprs(roots: Iterable[Jaxpr]) -> tuple[list[Jaxpr], set[int]]:
    """Returns the distinct jaxprs within some, each after those within it, and the ids of those met again.

    >>> from lawful.core import parse_jaxpr
    >>> jaxpr = parse_jaxpr("{ lambda ; a:f64[]. let in (a,) }").jaxpr
    >>> order, repeated = distinct_jaxprs([jaxpr, jaxpr])
    >>> order == [jaxpr], repeated == {id(jaxpr)}
    (True, True)
    """
    order: list[Jaxpr] = []
    seen: set[int] = set()
    shared: set[int] = set()
    # Each jaxpr on the path, with the rest of its children; the roots have no parent.
    stack: list[tuple[Jaxpr | None, Iterator[Jaxpr]]] = [(None, iter(roots))]
    while stack:
        jaxpr, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            if jaxpr is not None:
                order.append(jaxpr)
        elif id(child) in seen:
            shared.add(id(child))
        else:
            seen.add(id(child))
            stack.append((child, chain.from_iterable(nested_jaxprs(eqn) for eqn in child.eqns if eqn.params)))
    return order, shared
