"""Laws of sharded arrays and programs: how an array lies on devices changes no value."""

from __future__ import annotations

from typing import Any

import numpy as np

from lawful import tree
from lawful.core import get_aval
from lawful.laws._derivatives.directions import restrict, scalarized
from lawful.laws._law.law import Claim, Claims, Inapplicable, Trial, law
from lawful.laws._sharding.meshes import (
    Axes,
    draw_axes,
    draw_names,
    draw_spec,
    fitting_names,
    index_at,
    public,
    whole_near,
)
from lawful.parallel import NamedSharding, with_sharding_constraint
from lawful.staging import jit


def _sharding(trial: Trial, axes: Axes, x: Any) -> NamedSharding:
    """Returns a random sharding whose axes divide an array."""
    spec = fitting_names(trial.random, axes, get_aval(x).shape)
    return NamedSharding(axes.mesh(trial.system), public(spec))


@law("sharding", needs=("devices", "jit", "grad"), share=1 / 4)
def law_sharded_jit_is_jit(trial: Trial) -> Claims:
    """A compiled function whose arguments, results or intermediate values are split over devices is the function.

    Equation: jit(f, in_shardings, out_shardings)(x) = jit(f)(x) = jit(f)(x on devices), with constraints on arguments
    and results, and the same of the gradient and of the batched function

    Raises:
      LawViolation: it does not hold.

    >>> from lawful import ops
    >>> from lawful.laws import Case
    >>> from lawful.laws.systems import lawful
    >>> law_sharded_jit_is_jit(lawful, Case.of(lambda x: ops.sin(x) * x, 0.5))
    """
    axes, system = draw_axes(trial.random), trial.system
    function, args = trial.function, trial.args
    results = trial.value(function, args)
    backend = "numpy" if system.devices(1)[0].platform == "numpy" else "xla"
    ins, outs = (tree.map(lambda x: _sharding(trial, axes, x), value) for value in (args, results))
    text = f"on a mesh of {axes} from {_specs(ins)} to {_specs(outs)}"

    def constrained(*xs: Any) -> Any:
        return with_sharding_constraint(function(*with_sharding_constraint(xs, ins)), outs)

    def by_shardings() -> Claims:
        found = jit(function, in_shardings=ins, out_shardings=outs, backend=backend)(*args)
        yield Claim(f"jit(f, in_shardings, out_shardings)(x) {text}", found, "f(x)", results)

    def by_arguments() -> Claims:
        placed = with_sharding_constraint(args, ins)
        yield Claim(f"jit(f)(x on devices) {text}", jit(function, backend=backend)(*placed), "f(x)", results)

    def by_constraints() -> Claims:
        found = jit(constrained, backend=backend)(*args)
        yield Claim(f"jit(f with constraints)(x) {text}", found, "f(x)", results)

    def of_gradient() -> Claims:
        restricted, leaves = restrict(trial)
        numbers = tuple(range(len(leaves)))
        given = tuple([_sharding(trial, axes, x) for x in leaves])

        def within(*xs: Any) -> Any:
            return restricted(*with_sharding_constraint(xs, given))

        gradient = system.grad(scalarized(system, within, trial.case.seed), numbers)
        found = jit(gradient, in_shardings=given, out_shardings=given, backend=backend)(*leaves)
        expected = system.grad(scalarized(system, restricted, trial.case.seed), numbers)(*leaves)
        yield Claim(f"jit(grad(f), in_shardings, out_shardings)(x) on a mesh of {axes}", found, "grad(f)(x)", expected)

    for way in trial.some([by_shardings, by_arguments, by_constraints, of_gradient]):
        try:
            yield from way()
        except Inapplicable:
            continue


def _specs(shardings: Any) -> str:
    specs = [sharding.spec for sharding in tree.leaves(shardings, is_leaf=lambda x: isinstance(x, NamedSharding))]
    return ", ".join([str(spec).replace("PartitionSpec", "P") for spec in specs])


@law("sharding", needs=("devices",), share=1 / 4)
def law_resharding_is_identity(trial: Trial) -> Claims:
    """An array that goes from one sharding to another keeps its values; each device has the part that its spec names.

    Equation: put(put(x, s), t) = x, and part of put(x, s) on the device at position p = x at the index that the spec of
    s names there, for meshes of one device order or several, inside jit and outside

    Raises:
      LawViolation: it does not hold.
      Inapplicable: no argument is an array.

    >>> import numpy as np
    >>> from lawful import ops
    >>> from lawful.laws import Case, quick
    >>> from lawful.laws.systems import lawful
    >>> law_resharding_is_identity(lawful, Case.of(lambda x: ops.sin(x) * x, np.array([0.5, 1.0])), effort=quick)
    """
    random, system = trial.random, trial.system
    arrays = [x for x in tree.leaves(trial.args) if not get_aval(x).weak_type]
    if not arrays:
        raise Inapplicable("resharding: expected an array, got none")
    for x in trial.some(arrays):
        axes = draw_axes(random)
        spec = draw_spec(random, draw_names(random, axes, 0), get_aval(x).ndim) if get_aval(x).ndim else ()
        whole = whole_near(axes, spec, x) if any(spec) else np.asarray(x)
        first = NamedSharding(axes.mesh(system), public(spec))
        yield from _parts(axes, first, spec, whole)
        placed = with_sharding_constraint(whole, first)
        yield from _shards(first, placed, whole)
        yield Claim(f"an array in {first}", placed, "itself", whole, "nothing")
        for _ in trial.some(range(2)):
            # A mesh of the same devices, in another order and with other axes.
            others = [other for other in (Axes(("a",), (axes.count,)), *_factored(axes.count)) if other.count]
            other = others[random.integers(len(others))]
            second = NamedSharding(other.mesh(system), public(fitting_names(random, other, whole.shape)))
            if random.integers(2):
                placed = jit(lambda y, to=second: with_sharding_constraint(y, to), backend=_backend(trial))(whole)
            else:
                placed = with_sharding_constraint(placed, second)
            yield from _shards(second, placed, whole)
            yield Claim(f"an array that went from {first} to {second}", placed, "itself", whole, "nothing")


def _backend(trial: Trial) -> str:
    return "numpy" if trial.system.devices(1)[0].platform == "numpy" else "xla"


def _factored(count: int) -> list[Axes]:
    return [Axes(("a", "b"), (size, count // size)) for size in range(2, count) if count % size == 0]


def _parts(axes: Axes, sharding: NamedSharding, spec: Any, whole: Any) -> Claims:
    """The index of each device's part is the one that the spec names at the device's position."""
    found = sharding.devices_indices_map(whole.shape)
    devices = np.reshape(np.array(sharding.device_order, object), axes.sizes)
    for position in axes.positions():
        device = devices[tuple(position.values())]
        expected = whole[index_at(axes, spec, whole.shape, position)] if spec else whole
        yield Claim(
            f"the part at {position} of an array in {sharding}",
            whole[found[device]],
            "its definition",
            expected,
            "nothing",
        )


def _shards(sharding: Any, placed: Any, whole: Any) -> Claims:
    """Each shard is the part of the array at the index that the sharding gives its device."""
    for shard in getattr(placed, "addressable_shards", ()):
        expected = whole[sharding.devices_indices_map(whole.shape)[shard.device]]
        yield Claim(
            f"the part of {shard.device} in {sharding}", np.asarray(shard.data), "its definition", expected, "nothing"
        )
