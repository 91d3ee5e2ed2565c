"""Functions of parts, made of a case's function: it runs on every device, with collectives before and behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lawful import tree
from lawful.core import AxisNames, ClosedJaxpr, get_aval, is_inexact
from lawful.laws._law.law import Inapplicable, Trial
from lawful.laws._sharding.meshes import (
    Axes,
    Spec,
    as_vmap,
    axes_of,
    draw_axes,
    draw_names,
    draw_spec,
    on_every_device,
    public,
    whole_near,
)
from lawful.laws._sharding.steps import Step, draw_before, draw_behind, draw_divergence
from lawful.laws._staging.cost import all_equations
from lawful.ops import expand_dims, reshape
from lawful.parallel import shard_map
from lawful.staging import make_jaxpr

Leaves = list[Any]
_LARGEST = 256


@dataclass(frozen=True, slots=True)
class Plan:
    """A function of parts and its arguments.

    Attributes:
      axes: the axes of the mesh.
      in_specs: how each argument is split.
      out_specs: how each result is split.
      args: the arguments, of which the parts are near those of the case.
      part: the function, of parts to a list of parts.
      varying: the axes over which types say that each result varies.
      text: the steps, for messages.
    """

    axes: Axes
    in_specs: tuple[Spec, ...]
    out_specs: tuple[Spec, ...]
    args: Leaves
    part: Callable[..., Leaves]
    varying: tuple[AxisNames, ...]
    text: str

    @property
    def differentiable(self) -> list[int]:
        """The arguments of floating-point or complex numbers."""
        return [i for i, x in enumerate(self.args) if is_inexact(get_aval(x).dtype)]

    def mapped(self, trial: Trial, *, checked: bool) -> Callable[..., Leaves]:
        """Returns the function of whole arrays, by ``shard_map``."""
        found: Callable[..., Leaves] = shard_map(
            self.part, mesh=self.axes.mesh(trial.system), in_specs=tuple(map(public, self.in_specs)),
            out_specs=[*map(public, self.out_specs)], check_vma=checked,
        )  # fmt: skip
        return found

    def whole(self, trial: Trial) -> Callable[..., Leaves]:
        """Returns the function of whole arrays, by nested ``vmap`` over named axes."""
        found: Callable[..., Leaves] = as_vmap(
            trial.system, lambda parts: self.part(*parts), self.axes, self.in_specs, self.out_specs
        )
        return found

    def everywhere(self, trial: Trial) -> dict[tuple[int, ...], Leaves]:
        """Returns the results at every position."""
        on_all = on_every_device(trial.system, lambda parts: self.part(*parts), self.axes, self.in_specs)
        found: dict[tuple[int, ...], Leaves] = on_all(*self.args)
        return found

    def restricted(self, function: Callable[..., Leaves]) -> tuple[Callable[..., Leaves], Leaves]:
        """Returns a function of those arguments that can be differentiated to such results, and these arguments.

        Raises:
          Inapplicable: there are none.
        """
        numbers = self.differentiable
        if not numbers:
            raise Inapplicable("law: expected an argument to differentiate by, got none")

        def of_floats(*xs: Any) -> Leaves:
            args = list(self.args)
            for i, x in zip(numbers, xs, strict=True):
                args[i] = x
            return [y for y in function(*args) if is_inexact(get_aval(y).dtype)]

        return of_floats, [self.args[i] for i in numbers]


def draw_plan(trial: Trial) -> Plan:
    """Returns a function of parts for a case.

    Raises:
      Inapplicable: no argument can be split, what the function does cannot be staged, or derivatives within it sum
        cotangents over devices.
    """
    random, axes = trial.random, draw_axes(trial.random)
    leaves, structure = tree.flatten(trial.args)
    avals = [get_aval(x) for x in leaves]
    splittable = [i for i, aval in enumerate(avals) if not aval.weak_type and aval.size * axes.count <= _LARGEST]
    if not splittable:
        raise Inapplicable("shard_map: expected an array that can be split, got none")
    always = splittable[random.integers(len(splittable))]
    specs: list[Spec] = []
    stretched: list[bool] = []
    for i, aval in enumerate(avals):
        names = draw_names(random, axes, i == always) if i in splittable else ()
        # A new first dimension of length 1, or parts along those that are there.
        stretched.append(bool(names) and (aval.ndim == 0 or random.integers(3) == 0))
        specs.append(draw_spec(random, names, aval.ndim + stretched[-1]) if names else ((),) * aval.ndim)
    args = [
        whole_near(axes, spec, x.reshape((1, *aval.shape)) if new else x) if axes_of(spec) else x
        for x, aval, spec, new in zip(leaves, avals, specs, stretched, strict=True)
    ]
    before = [draw_before(random, axes) if axes_of(spec) else ("", lambda x: x) for spec in specs]
    behind = [draw_behind(random, axes) for _ in range(3)]
    where, diverging = draw_divergence(random, axes)
    function = diverging(trial.function)

    def given(parts: Sequence[Any]) -> Any:
        steps = zip(parts, avals, stretched, before, strict=True)
        whole = [step(reshape(x, aval.shape) if new else x) for x, aval, new, (_, step) in steps]
        return tree.unflatten(structure, whole)

    def part(*parts: Any) -> Leaves:
        outs = tree.leaves(function(*given(parts)))
        return [behind[min(i, 2)][1](y) for i, y in enumerate(outs)]

    def check(*parts: Any) -> None:
        if _sums_over(make_jaxpr(function)(*given(parts)), axes):
            raise Inapplicable(
                "shard_map: expected no derivative within the function by what several devices share, got one, whose "
                "cotangents are summed over them, which vmap does not do"
            )

    steps = [("before:", label) for label, _ in before] + [("behind:", label) for label, _ in behind]
    text = "; ".join([f"{what} {label}" for what, label in [*steps, ("f", where)] if label])
    return _with_results(trial, Plan(axes, tuple(specs), (), args, part, (), text), check)


def _sums_over(closed: ClosedJaxpr, axes: Axes) -> bool:
    """Whether values that vary over axes of a mesh are summed over them: no sub-mesh has axes of these names."""
    sums = [eqn.params["axis_name"] for eqn in all_equations(closed.jaxpr) if eqn.primitive.name == "psum_invariant"]
    return any([not {*axes.names}.isdisjoint(names if type(names) is tuple else (names,)) for names in sums])


def _with_results(trial: Trial, plan: Plan, check: Callable[..., None]) -> Plan:
    """Returns a plan with specs of results: each is split over the axes over which it varies, and some others.

    Args:
      trial: draws.
      plan: it has no specs of results.
      check: takes parts, and raises Inapplicable if the plan is none.
    """
    axes, random = plan.axes, trial.random
    varying: list[AxisNames] = []

    def watched(*parts: Any) -> Leaves:
        check(*parts)
        outs = plan.part(*parts)
        varying[:] = [get_aval(y).vma for y in outs]
        return [expand_dims(y, (0,)) for y in outs]

    every = shard_map(
        watched, mesh=axes.mesh(trial.system), in_specs=tuple(map(public, plan.in_specs)),
        out_specs=public((axes.names,)),
    )  # fmt: skip
    results = make_jaxpr(every)(*plan.args).out_avals
    news: list[bool] = []
    specs: list[Spec] = []
    for aval, names in zip(results, varying, strict=True):
        more = [name for name in axes.names if name in names or random.integers(4) == 0]
        order = [more[i] for i in random.permutation(len(more))]
        new = bool(more) and (aval.ndim == 1 or random.integers(3) == 0)
        specs.append(draw_spec(random, order, aval.ndim - (not new)) if more else ((),) * (aval.ndim - 1))
        news.append(new)

    def part(*parts: Any) -> Leaves:
        outs = plan.part(*parts)
        return [expand_dims(y, (0,)) if new else y for y, new in zip(outs, news, strict=True)]

    text = f"on a mesh of {axes}, from {_texts(plan.in_specs)} to {_texts(specs)}" + (
        f", {plan.text}" if plan.text else ""
    )
    return Plan(axes, plan.in_specs, tuple(specs), plan.args, part, tuple(varying), text)


def _texts(specs: Sequence[Spec]) -> str:
    return ", ".join([str(public(spec)).replace("PartitionSpec", "P") for spec in specs])


__all__ = ["Leaves", "Plan", "Step", "draw_plan"]
