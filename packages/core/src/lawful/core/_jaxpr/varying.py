"""Over which axes of a mesh values vary: part of the type of a result inside ``lawful.parallel.shard_map``.

A value varies over an axis if devices that differ in their position along it may have different values. The axes of a
result are those of all operands, unless the primitive has a rule in the slot ``"varying"``: a sum over an axis does not
vary over it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lawful.core._jaxpr.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from lawful.core._jaxpr.memoization import memoize
from lawful.core._jaxpr.nesting import holds_jaxprs, map_jaxprs
from lawful.core._primitive.by_name import primitives_by_name
from lawful.core._primitive.primitive import Primitive
from lawful.core._trace.trace import Trace, current, new_trace
from lawful.core._trace.tracer import Tracer
from lawful.core._types.arrays import avals_of, get_aval
from lawful.core._types.aval import AxisNames, ShapedArray


def common_axes(avals: Sequence[ShapedArray]) -> AxisNames:
    """Returns the axes that any of some values varies over.

    >>> x, y = ShapedArray((3,), float, vma=frozenset({"x"})), ShapedArray((3,), float)
    >>> common_axes([x, y])
    frozenset({'x'})
    """
    found: AxisNames = frozenset()
    for aval in avals:
        found |= aval.vma
    return found


def types_its_axes(primitive: Primitive, params: dict[str, Any]) -> bool:
    """Whether abstract evaluation says over which axes results vary: that of a call does.

    A call is of a jaxpr, or of a function as the parameter ``fun``, which knows the types of its results.
    """
    is_call = holds_jaxprs(params) or getattr(params.get("fun"), "out_avals", None) is not None
    return "varying" not in primitive.rules and is_call


def with_axes(
    primitive: Primitive, operands: Sequence[Atom], params: dict[str, Any], results: list[ShapedArray]
) -> list[ShapedArray]:
    """Returns the types of results, as abstract evaluation gave them, with the axes that they vary over.

    Args:
      primitive: the primitive.
      operands: its operands.
      params: its parameters.
      results: the types of its results.

    >>> x, y = Var(ShapedArray((), float, vma=frozenset({"x"}))), Var(ShapedArray((), float))
    >>> with_axes(Primitive("plus"), [x, y], {}, [ShapedArray((), float)])
    [ShapedArray(f64[]{V:x})]
    """
    if types_its_axes(primitive, params):
        return results
    vma = common_axes([atom.aval for atom in operands])
    rule = primitive.rules.get("varying")
    if rule is not None:
        vma = rule(vma, **params)
    return [aval.update(vma=vma) for aval in results]


def vary(x: Any, axes: AxisNames) -> Any:
    """Returns a value as one that varies over further axes: it is the same on all devices along them, as before.

    Outside of those axes, where ``vmap`` stands for them, it is the value itself.

    >>> vary(2.0, frozenset({"x"}))
    2.0
    """
    trace = current.trace
    axes &= trace.checked_axes - trace.divergent_axes
    if axes and hasattr(trace, "casts"):
        return _varied(trace, trace.casts, x, axes)
    return primitives_by_name["pvary"].bind(x, axis_name=_in_order(axes)) if axes else x


def with_axes_of(x: Any, aval: ShapedArray) -> Any:
    """Returns a value as one that varies over the axes of a type too, also those along which branches differ.

    >>> with_axes_of(2.0, ShapedArray((), float, vma=frozenset({"x"})))
    2.0
    """
    missing = aval.vma - get_aval(x).vma
    if missing:
        x = vary(x, missing)
        if within := missing & current.trace.divergent_axes:
            x = primitives_by_name["pvary_in_branch"].bind(x, axis_name=_in_order(within))
    return x


#: By the identity of a tracer, the primitive and the axes: the tracer, and the one that varies over them too. A value
#: is cast once and not for each use, so that the cotangents of all uses are summed over devices together.
Casts = dict[tuple[int, str, AxisNames], tuple[Tracer, Any]]


def vary_alike(
    trace: Trace, casts: Casts, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]]:
    """Returns operands that vary over the same axes, under a trace that records, and parameters; numbers fit any.

    Casts of earlier operands of the trace are used again. The jaxprs of a call take operands of exactly their types.
    Where devices run different ones, as in branches, or run them unequally often, as a loop's body, all that is in them
    varies over the axes along which the devices differ.

    >>> from lawful.core import eval_trace
    >>> vary_alike(eval_trace, {}, Primitive("plus"), [1.0, 2.0], {})
    ([1.0, 2.0], {})
    """
    avals = [aval.update(vma=_recorded_axes(trace, x, aval)) for x, aval in zip(args, avals_of(args), strict=True)]
    if types_its_axes(primitive, params):
        wanted, params = _of_call(primitive, avals, params, trace.divergent_axes)
    else:
        vma = common_axes(avals)
        wanted = [vma if _is_array(x, aval) else aval.vma for x, aval in zip(args, avals, strict=True)]
    varied = [_varied(trace, casts, x, vma - aval.vma) for x, aval, vma in zip(args, avals, wanted, strict=True)]
    return varied, params


def types_alike(
    primitive: Primitive, avals: Sequence[ShapedArray], params: dict[str, Any]
) -> tuple[Sequence[ShapedArray], dict[str, Any]]:
    """Returns the types of operands, and the parameters, that `vary_alike` gives a call: others stay as they are.

    Args:
      primitive: the primitive.
      avals: the types of its operands.
      params: its parameters.

    >>> types_alike(Primitive("plus"), [ShapedArray((2,), float)], {})
    ([ShapedArray(f64[2])], {})
    """
    if not common_axes(avals) or not types_its_axes(primitive, params):
        return avals, params
    wanted, params = _of_call(primitive, avals, params, current.trace.divergent_axes)
    return [aval.update(vma=vma) for aval, vma in zip(avals, wanted, strict=True)], params


def _recorded_axes(trace: Trace, x: Any, aval: ShapedArray) -> AxisNames:
    """Returns the axes over which the variable of a value varies: in a branch that of a value from outside does."""
    is_outside = _is_array(x, aval) and getattr(x, "_trace", None) is not trace
    return aval.vma | trace.divergent_axes if is_outside else aval.vma


def _varied(trace: Trace, casts: Casts, x: Any, missing: AxisNames) -> Any:
    for name, axes in ("pvary", missing - trace.divergent_axes), ("pvary_in_branch", missing & trace.divergent_axes):
        if axes:
            key = id(x), name, axes
            if key in casts:
                x = casts[key][1]
                continue
            found = trace.process_primitive(primitives_by_name[name], [x], {"axis_name": _in_order(axes)})
            if isinstance(x, Tracer):
                casts[key] = x, found
            x = found
    return x


@memoize
def widened(closed: ClosedJaxpr, axes: AxisNames) -> ClosedJaxpr:
    """Returns a jaxpr, and those in it, whose operands and results vary over some axes too.

    Equations of ``pvary`` over them go: what came from outside varies already, and its cotangents are summed outside,
    where all devices meet.
    """
    jaxpr = closed.jaxpr
    results = [var for eqn in jaxpr.eqns for var in eqn.outvars]
    if all(axes <= atom.aval.vma for atom in [*jaxpr.constvars, *jaxpr.invars, *results, *jaxpr.outvars]):
        return closed
    new: dict[Atom, Atom] = {}
    casts: dict[tuple[Atom, str, AxisNames], Var] = {}
    eqns: list[JaxprEqn] = []

    def varying(var: Var) -> Var:
        new[var] = found = Var(var.aval.update(vma=var.aval.vma | axes))
        return found

    def cast(atom: Atom, missing: AxisNames) -> Atom:
        for name, some in ("pvary", missing - axes), ("pvary_in_branch", missing & axes):
            if some:
                out = casts.get((atom, name, some))
                if out is None:
                    out = casts[atom, name, some] = Var(atom.aval.update(vma=atom.aval.vma | some))
                    eqns.append(JaxprEqn(primitives_by_name[name], [atom], [out], {"axis_name": _in_order(some)}))
                atom = out
        return atom

    constvars, invars = [*map(varying, jaxpr.constvars)], [*map(varying, jaxpr.invars)]
    for eqn in jaxpr.eqns:
        primitive, params, operands = eqn.primitive, eqn.params, [new.get(atom, atom) for atom in eqn.invars]
        if primitive.name in ("pvary", "pvary_in_branch"):
            new[eqn.outvars[0]] = cast(operands[0], eqn.outvars[0].aval.vma - operands[0].aval.vma)
            continue
        avals = [atom.aval for atom in operands]
        if types_its_axes(primitive, params):
            is_wider = holds_jaxprs(params)
            wanted, params = _of_call(primitive, avals, params, axes)
        else:
            vma = common_axes(avals)
            is_wider = axes <= vma
            wanted = [aval.vma if type(atom) is Literal else vma for atom, aval in zip(operands, avals, strict=True)]
        operands = [cast(x, vma - aval.vma) for x, aval, vma in zip(operands, avals, wanted, strict=True)]
        outs = [*map(varying, eqn.outvars)] if is_wider else eqn.outvars
        eqns.append(eqn.replace(invars=operands, outvars=outs, params=params))
    outvars = [cast(atom, axes - atom.aval.vma) for atom in [new.get(atom, atom) for atom in jaxpr.outvars]]
    return ClosedJaxpr(Jaxpr(constvars, invars, eqns, outvars, name=jaxpr.name), closed.consts)


def _is_array(x: Any, aval: ShapedArray) -> bool:
    """Whether a value is a variable where it is recorded, and no literal."""
    return bool(aval.shape) or isinstance(x, Tracer)


class diverging(new_trace):
    """Inside it, what is traced runs on some devices only, which differ in their position along some axes.

    >>> with diverging(frozenset({"x"})):
    ...     current.trace.divergent_axes
    frozenset({'x'})
    """

    __slots__ = ()

    def __init__(self, axes: AxisNames) -> None:
        super().__init__(_DivergentTrace(current.trace, axes))


class _DivergentTrace(Trace):
    __slots__ = ()

    def __init__(self, parent: Trace, axes: AxisNames) -> None:
        super().__init__(parent, parent.transformation)
        self.divergent_axes = parent.divergent_axes | axes

    def process_primitive(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        assert self.parent is not None
        return self.parent.process_primitive(primitive, args, params)


def _of_call(
    primitive: Primitive, avals: Sequence[ShapedArray], params: dict[str, Any], axes: AxisNames
) -> tuple[list[AxisNames], dict[str, Any]]:
    """Returns the axes that a call wants each operand to vary over, and its parameters with jaxprs of such operands.

    Args:
      primitive: that of the call.
      avals: the types of its operands.
      params: its parameters.
      axes: those along which the devices that run it diverge.
    """
    if "divergence" in primitive.rules:
        axes |= primitive.rule("divergence")(avals, **params)
    if "runs" not in primitive.rules:
        if axes and holds_jaxprs(params):
            return [aval.vma | axes for aval in avals], map_jaxprs(lambda closed: widened(closed, axes), params)
        return [aval.vma for aval in avals], params
    # An operand, such as a cotangent, that varies over more axes than the jaxpr was traced for widens the whole call.
    axes |= common_axes(
        [avals[i].update(vma=avals[i].vma - var.aval.vma) for var, i in _inputs(primitive, avals, params)]
    )
    if axes:
        params = map_jaxprs(lambda closed: widened(closed, axes), params)
    wanted = [aval.vma for aval in avals]
    for var, i in _inputs(primitive, avals, params):
        wanted[i] |= var.aval.vma
    return wanted, params


def _inputs(primitive: Primitive, avals: Sequence[ShapedArray], params: dict[str, Any]) -> Iterator[tuple[Var, int]]:
    """Yields the inputs of the jaxprs that a call runs, each with the number of its operand."""
    for run in primitive.rule("runs")(JaxprEqn(primitive, [*map(Var, avals)], [], params)):
        yield from zip(run.jaxpr.invars, run.operands, strict=True)


@memoize
def without_axes(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns a jaxpr, and those in it, whose types do not say what varies: to evaluate or lower it.

    Equations of ``pvary`` stay: a loop that is reversed transposes its body while it runs. A primitive may have a rule
    in the slot ``"untyped"``: of the types of operands, and parameters, to parameters. So a call of a Python function,
    which may ask for types, becomes one of a jaxpr; the axes must be known here.

    >>> x = Var(ShapedArray((3,), float, vma=frozenset({"x"})))
    >>> without_axes(ClosedJaxpr(Jaxpr([], [x], [], [x])))
    { lambda ; a:f64[3]. let in (a,) }
    """
    return _without_axes(closed, keep_pvary=True)


@memoize
def without_pvary(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Returns what `without_axes` returns, without ``pvary``, which is the identity there.

    >>> x = Var(ShapedArray((3,), float, vma=frozenset({"x"})))
    >>> without_pvary(ClosedJaxpr(Jaxpr([], [x], [], [x])))
    { lambda ; a:f64[3]. let in (a,) }
    """
    return _without_axes(closed, keep_pvary=False)


def _without_axes(closed: ClosedJaxpr, keep_pvary: bool) -> ClosedJaxpr:
    jaxpr = closed.jaxpr
    new: dict[Atom, Atom] = {}
    inside = without_axes if keep_pvary else without_pvary

    def variables(variables: Sequence[Var]) -> list[Var]:
        found = [Var(var.aval.update(vma=frozenset())) if var.aval.vma else var for var in variables]
        new.update(zip(variables, found, strict=True))
        return found

    constvars, invars = variables(jaxpr.constvars), variables(jaxpr.invars)
    eqns = []
    for eqn in jaxpr.eqns:
        operands = [new.get(atom, atom) for atom in eqn.invars]
        if eqn.primitive.name in ("pvary", "pvary_in_branch") and not keep_pvary:
            new[eqn.outvars[0]] = operands[0]
        else:
            params = eqn.params
            if "untyped" in eqn.primitive.rules:
                params = eqn.primitive.rule("untyped")([atom.aval for atom in eqn.invars], params)
            params = map_jaxprs(inside, params) if holds_jaxprs(params) else params
            eqns.append(eqn.replace(invars=operands, outvars=variables(eqn.outvars), params=params))
    outvars = [new.get(atom, atom) for atom in jaxpr.outvars]
    return ClosedJaxpr(Jaxpr(constvars, invars, eqns, outvars, name=jaxpr.name), closed.consts)


def _in_order(axes: AxisNames) -> Any:
    names = tuple(sorted(axes, key=str))
    return names[0] if len(names) == 1 else names
