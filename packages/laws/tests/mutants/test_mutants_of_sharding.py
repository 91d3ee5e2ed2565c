"""The laws of sharding have mutants that they must reject: wrong rules of collectives, ``shard_map`` and ``pmap``."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import batching, ops
from lawful.laws import Case, LawViolation, laws, quick
from lawful.laws.systems import lawful
from lawful.parallel import NamedSharding, sharding_constraint_p
from lawful.parallel._shard_map import reference, rules
from lawful.staging import _equations

pytestmark = pytest.mark.once

Plant = Callable[[pytest.MonkeyPatch], None]
CASES = [
    Case.of(lambda x, y: ops.sin(x * y) * y, np.array([0.5, 1.0, 1.5]), np.array(2.0), seed=seed) for seed in range(60)
]


def minor_first(patch: pytest.MonkeyPatch) -> None:
    right = reference._split
    patch.setattr(reference, "_split", lambda x, spec, *rest: right(x, tuple([axes[::-1] for axes in spec]), *rest))


def forget(primitive: Any) -> Plant:
    return lambda patch: patch.setitem(primitive.rules, "transpose", lambda ct, x, **params: [ct])


def sum_twice(patch: pytest.MonkeyPatch) -> None:
    def transpose(ct: Any, x: Any, **params: Any) -> list[Any]:
        totals = [batching.psum_invariant_p.bind(ops.mul(ct, 0.5), **params) for _ in range(2)]
        return [ops.add(*totals)]

    patch.setitem(batching.pvary_p.rules, "transpose", transpose)


def nothing_varies(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(batching.axis_index_p.rules, "varying", lambda _, **params: frozenset())


def unsummed(patch: pytest.MonkeyPatch) -> None:
    right = rules._summed
    patch.setattr(rules, "_summed", lambda closed, cts, outs, sizes: right(closed, cts, ((),) * len(outs), sizes))


def reversed_devices(patch: pytest.MonkeyPatch) -> None:
    right = NamedSharding.devices_indices_map

    def indices(self: NamedSharding, shape: Any) -> Any:
        found = right(self, shape)
        return dict(zip(found, reversed([*found.values()]), strict=True))

    patch.setattr(NamedSharding, "devices_indices_map", indices)


def doubled_constraint(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(sharding_constraint_p.rules, "transpose", lambda ct, x, **params: [ops.add(ct, ct)])


def cast_for_each_use(patch: pytest.MonkeyPatch) -> None:
    right = _equations.vary_alike
    patch.setattr(_equations, "vary_alike", lambda trace, casts, *rest: right(trace, {}, *rest))


def neighbour(patch: pytest.MonkeyPatch) -> None:
    right = batching.reduce_scatter_p.rule("batch")

    def batch(args: Any, dims: Any, **params: Any) -> Any:
        out, dim = right(args, dims, **params)
        return (out, dim) if dim is None else (ops.rev(out, (dim,)), dim)

    patch.setitem(batching.reduce_scatter_p.rules, "batch", batch)


MUTANTS: list[tuple[str, Plant]] = [
    ("shard_map_is_vmap", minor_first),
    ("shard_map_derivatives", forget(batching.psum_p)),
    ("shard_map_types", nothing_varies),
    ("pmap_is_vmap", unsummed),
    ("collectives_are_definitions", neighbour),
    ("collectives_transpose", forget(batching.pbroadcast_p)),
    ("sharded_jit_is_jit", doubled_constraint),
    ("resharding_is_identity", reversed_devices),
    ("gradient_collectives", sum_twice),
    ("gradient_collectives", cast_for_each_use),
]


@pytest.mark.parametrize(("name", "plant"), MUTANTS)
def test_law_of_sharding_rejects_a_mutant(name: str, plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    def hold_all() -> None:
        lawful.clear_caches()
        for case in CASES:
            laws[name](lawful, case, effort=quick)

    hold_all()
    plant(monkeypatch)
    with pytest.raises(LawViolation):
        hold_all()
    monkeypatch.undo()
    lawful.clear_caches()
