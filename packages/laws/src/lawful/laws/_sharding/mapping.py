"""Laws of ``shard_map``: it is ``vmap`` over named axes, in value, in type and in every derivative."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lawful.autodiff import checkpoint
from lawful.core import ArgumentTypeError, get_aval
from lawful.laws._composition.batching import batch_of
from lawful.laws._derivatives.directions import scalarized, tangents_of
from lawful.laws._law.law import Claim, Claims, Fault, Inapplicable, Trial, law
from lawful.laws._sharding.meshes import axes_of, compiled, public
from lawful.laws._sharding.plan import Leaves, Plan, draw_plan
from lawful.parallel import shard_map

_BOTH = (True, False)


def _label(plan: Plan, text: str, checked: bool) -> str:
    return f"{text.format(f'shard_map(f, check_vma={checked})')} {plan.text}"


@law("sharding", needs=("devices", "vmap", "jit"), share=1 / 4)
def law_shard_map_is_vmap(trial: Trial) -> Claims:
    """A function of parts on all devices of a mesh at once is the function mapped over named axes.

    Equation: T(shard_map(f))(x) = T(vmap over each axis of the mesh (f))(x), joined as the specs say, for T among
    nothing, jit and vmap, with types checked or not

    The function runs between drawn collectives; meshes have up to 8 devices and three axes.

    Raises:
      LawViolation: it does not hold.
      Inapplicable: no argument can be split.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_shard_map_is_vmap(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
    """
    plan = draw_plan(trial)
    whole, system = plan.whole(trial), trial.system
    for checked in trial.some(_BOTH):
        mapped = plan.mapped(trial, checked=checked)

        def plain(mapped: Callable[..., Leaves] = mapped, checked: bool = checked) -> Claims:
            yield Claim(_label(plan, "{}(x)", checked), mapped(*plan.args), "vmap", whole(*plan.args), mixed=True)

        def by_jit(mapped: Callable[..., Leaves] = mapped, checked: bool = checked) -> Claims:
            found = compiled(system, mapped)(*plan.args)
            yield Claim(_label(plan, "jit({})(x)", checked), found, "vmap", whole(*plan.args), mixed=True)

        def batched(mapped: Callable[..., Leaves] = mapped, checked: bool = checked) -> Claims:
            splits = [i for i, spec in enumerate(plan.in_specs) if axes_of(spec)]
            chosen = {i for i in splits if trial.random.integers(2)} or {splits[0]}
            in_axes = tuple(
                [int(trial.random.integers(np.ndim(x) + 1)) if i in chosen else None for i, x in enumerate(plan.args)]
            )
            args = [x if axis is None else batch_of(x, 2, axis) for x, axis in zip(plan.args, in_axes, strict=True)]
            found, expected = (system.vmap(function, in_axes)(*args) for function in (mapped, whole))
            yield Claim(_label(plan, f"vmap({{}}, {in_axes})(x)", checked), found, "vmap of vmap", expected, mixed=True)

        for way in trial.some([plain, by_jit, batched]):
            yield from way()


@law("sharding", needs=("devices", "vmap", "jvp", "vjp", "linearize", "grad", "higher order"), share=1 / 4)
def law_shard_map_derivatives(trial: Trial) -> Claims:
    """The derivatives of a function of parts on all devices are those of the function mapped over named axes.

    Equation: T(shard_map(f)) = T(vmap over each axis of the mesh (f)) for T among jvp, linearize, vjp, grad, jit of
    grad, grad of checkpoint, vmap of grad, and second derivatives forward over reverse and reverse over reverse, with
    types checked or not

    Raises:
      LawViolation: it does not hold.
      Inapplicable: no argument can be split, or nothing to differentiate.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case, quick
    >>> from lawful.laws.systems import lawful
    >>> law_shard_map_derivatives(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])), effort=quick)
    """
    plan = draw_plan(trial)
    for checked in trial.some(_BOTH):
        mapped = plan.mapped(trial, checked=checked)
        for way in trial.some([*_WAYS]):
            yield from _compared(trial, plan, mapped, checked, way)


def _compared(trial: Trial, plan: Plan, mapped: Callable[..., Leaves], checked: bool, way: str) -> Claims:
    function, leaves = plan.restricted(mapped)
    reference, _ = plan.restricted(plan.whole(trial))
    results = reference(*leaves)
    if not results:
        raise Inapplicable("law: expected a result that can be differentiated, got none")
    v, w = tangents_of(trial, leaves), tangents_of(trial, results)
    derivative = _WAYS[way]
    expected = derivative(trial, reference, leaves, v, w)
    found = derivative(trial, function, leaves, v, w)
    yield Claim(_label(plan, f"{way} of {{}}", checked), found, way, expected, mixed=True)


_Derivative = Callable[[Trial, Callable[..., Leaves], Leaves, Leaves, Leaves], Any]


def _loss(trial: Trial, function: Callable[..., Leaves]) -> Callable[..., Any]:
    return scalarized(trial.system, function, trial.case.seed)


def _grad(trial: Trial, function: Callable[..., Leaves], leaves: Leaves) -> Callable[..., Any]:
    return trial.system.grad(_loss(trial, function), tuple(range(len(leaves))))


def _of_jvp(trial: Trial, function: Callable[..., Leaves], leaves: Leaves, v: Leaves, w: Leaves) -> Any:
    return trial.system.jvp(function, leaves, v)


def _of_linearize(trial: Trial, function: Callable[..., Leaves], leaves: Leaves, v: Leaves, w: Leaves) -> Any:
    out, push = trial.system.linearize(function, *leaves)
    return out, push(*v)


def _of_vjp(trial: Trial, function: Callable[..., Leaves], leaves: Leaves, v: Leaves, w: Leaves) -> Any:
    out, pull = trial.system.vjp(function, *leaves)
    return out, tuple(pull(w))


def _of_grad(trial: Trial, function: Callable[..., Leaves], leaves: Leaves, v: Leaves, w: Leaves) -> Any:
    return _grad(trial, function, leaves)(*leaves)


def _of_compiled_grad(trial: Trial, function: Callable[..., Leaves], leaves: Leaves, v: Leaves, w: Leaves) -> Any:
    return compiled(trial.system, _grad(trial, function, leaves))(*leaves)


def _of_checkpoint(trial: Trial, function: Callable[..., Leaves], leaves: Leaves, v: Leaves, w: Leaves) -> Any:
    return _grad(trial, checkpoint(function), leaves)(*leaves)


def _of_batched_grad(trial: Trial, function: Callable[..., Leaves], leaves: Leaves, v: Leaves, w: Leaves) -> Any:
    first, *rest = leaves
    if get_aval(first).weak_type:
        return _grad(trial, function, leaves)(*leaves)
    in_axes = (0, *[None] * len(rest))
    return trial.system.vmap(_grad(trial, function, leaves), in_axes)(batch_of(first, 2, 0), *rest)


def _along(trial: Trial, gradient: Callable[..., Any], v: Leaves) -> Callable[..., Any]:
    """Returns the gradient along a direction."""
    ops = trial.system.ops

    def product(*xs: Any) -> Any:
        total: Any = np.float64(0.0)
        for part, t in zip(gradient(*xs), v, strict=True):
            term = ops.mul(part, t)
            real = ops.real(term) if get_aval(term).dtype.kind == "c" else term
            total = ops.add(total, ops.reduce_sum(real, tuple(range(get_aval(real).ndim))))
        return total

    return product


def _forward_over_reverse(trial: Trial, function: Callable[..., Leaves], leaves: Leaves, v: Leaves, w: Leaves) -> Any:
    return trial.system.jvp(_grad(trial, function, leaves), leaves, v)[1]


def _reverse_over_reverse(trial: Trial, function: Callable[..., Leaves], leaves: Leaves, v: Leaves, w: Leaves) -> Any:
    numbers = tuple(range(len(leaves)))
    return trial.system.grad(_along(trial, _grad(trial, function, leaves), v), numbers)(*leaves)


def _reverse_over_forward(trial: Trial, function: Callable[..., Leaves], leaves: Leaves, v: Leaves, w: Leaves) -> Any:
    def tangent(*xs: Any) -> Leaves:
        tangents: Leaves = trial.system.jvp(function, xs, v)[1]
        return tangents

    return tuple(trial.system.vjp(tangent, *leaves)[1](w))


_WAYS: dict[str, _Derivative] = {
    "jvp": _of_jvp,
    "linearize": _of_linearize,
    "vjp": _of_vjp,
    "grad": _of_grad,
    "jit of grad": _of_compiled_grad,
    "grad of checkpoint": _of_checkpoint,
    "vmap of grad": _of_batched_grad,
    "jvp of grad": _forward_over_reverse,
    "grad of grad": _reverse_over_reverse,
    "vjp of jvp": _reverse_over_forward,
}


@law("sharding", needs=("devices", "vmap", "jvp"), share=1 / 4)
def law_shard_map_types(trial: Trial) -> Claims:
    """A value whose type says that it is the same along an axis is the same there; a spec that lies is an error.

    Equation: f(x) at position p = f(x) at position q where p and q differ in axes only over which the type of f(x) does
    not vary; and shard_map(f, out_specs) raises ArgumentTypeError where out_specs lack an axis over
    which it does

    Raises:
      LawViolation: it does not hold.
      Inapplicable: no argument can be split.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_shard_map_types(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])))
    """
    plan = draw_plan(trial)
    for way in trial.some([_same_along_axes, _lies_are_refused]):
        yield from way(trial, plan)


def _same_along_axes(trial: Trial, plan: Plan) -> Claims:
    outs = plan.everywhere(trial)
    for position in plan.axes.positions():
        for i, names in enumerate(plan.varying):
            first = {name: number if name in names else 0 for name, number in position.items()}
            here, there = (outs[tuple(at.values())][i] for at in (position, first))
            yield Claim(
                f"result {i} of f at {position} {plan.text}", here,
                f"at {first}, as its type varies over {', '.join(sorted(map(str, names))) or 'no axis'} only", there,
            )  # fmt: skip


def _lies_are_refused(trial: Trial, plan: Plan) -> Iterator[Fault]:
    for i, (names, spec) in enumerate(zip(plan.varying, plan.out_specs, strict=True)):
        for name in trial.some(sorted(names, key=str)):
            lie = tuple([tuple([axis for axis in axes if axis != name]) for axes in spec])
            out_specs = [*map(public, plan.out_specs)]
            out_specs[i] = public(lie)
            lying = shard_map(
                plan.part, mesh=plan.axes.mesh(trial.system), in_specs=tuple(map(public, plan.in_specs)),
                out_specs=out_specs,
            )  # fmt: skip
            try:
                lying(*plan.args)
            except ArgumentTypeError:
                continue
            yield Fault(
                f"shard_map accepts the spec {out_specs[i]} of result {i}, which varies over {name} {plan.text}"
            )
