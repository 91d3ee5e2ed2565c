"""Programs on several devices compute what the unsharded programs compute: on devices that NumPy plays."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from lawful import ops
from lawful.autodiff import grad, vjp
from lawful.laws import (
    Case,
    Inapplicable,
    Program,
    draw_case,
    examine,
    find_source,
    forms,
    holds,
    law_collectives_are_definitions,
    law_collectives_transpose,
    law_gradient_collectives,
    law_pmap_is_vmap,
    law_resharding_is_identity,
    law_shard_map_derivatives,
    law_shard_map_is_vmap,
    law_shard_map_types,
    law_sharded_jit_is_jit,
    laws,
    programs,
    quick,
    usual_dtypes,
)
from lawful.laws.systems import lawful, with_pmap, with_shard_map, with_shardings
from lawful.parallel import PartitionSpec as P
from lawful.parallel import make_mesh, numpy_devices, shard_map
from lawful.staging import make_jaxpr

from ._held import parts, seeds, share

EVERY = programs(forms=tuple(forms), nesting=6, max_depth=1)
LAWS = [
    law_shard_map_is_vmap,
    law_shard_map_derivatives,
    law_shard_map_types,
    law_pmap_is_vmap,
    law_collectives_are_definitions,
    law_collectives_transpose,
    law_sharded_jit_is_jit,
    law_resharding_is_identity,
    law_gradient_collectives,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@share(2)
@given(program=EVERY)
def test_programs_on_devices_obey_the_law(law: Any, program: Program) -> None:
    holds(law, lawful, program, effort=quick)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("source", ["smooth", "complex", "every dtype"])
def test_drawn_programs_obey_the_law(law: Any, source: str) -> None:
    name = law.__name__.removeprefix("law_")
    for seed in seeds(20):
        outcome = examine(laws[name], lawful, draw_case(find_source(source), seed), quick)
        assert outcome.verdict != "failed", outcome.error


OF_FUNCTIONS = [
    law for law in laws.values() if law.subject == "function" and law.group not in ("cost", "loops", "leaks")
]


@pytest.mark.parametrize("form", ["with_shard_map", "with_pmap", "with_shardings"])
def test_forms_on_devices_obey_every_law(form: str) -> None:
    for seed in seeds(8):
        drawn = draw_case(find_source(f"sharded with {form}, jit, vmap, cond, scan, vjp, checkpoint"), seed)
        for law in OF_FUNCTIONS:
            outcome = examine(law, lawful, drawn, quick)
            assert outcome.verdict != "failed", outcome.error


@pytest.mark.parametrize("way", ["whole", "stacked", "summed"])
@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("sizes", [(1,), (3,), (2, 2), (2, 1, 3)])
def test_detours_over_devices_keep_values_and_gradients(way: str, checked: bool, sizes: tuple[int, ...]) -> None:
    x, y = np.linspace(0.1, 1.0, 12).reshape(6, 2), np.float64(0.7)

    def loss(function: Any) -> Any:
        return lambda *args: (function(*args)["b"][0] * function(*args)["a"]).sum()

    detour = with_shard_map(parts, sizes, checked, way)
    expected = grad(loss(parts), (0, 1))(x, y)
    for found in (detour, with_shardings(parts, sizes, True), with_shardings(parts, sizes, False)):
        np.testing.assert_allclose(found(x, y)["a"], parts(x, y)["a"])
        for one, other in zip(grad(loss(found), (0, 1))(x, y), expected, strict=True):
            np.testing.assert_allclose(one, other)
    mapped = with_pmap(lambda x, y: ops.sin(x) * y, (0, None), -1)(x, y)
    np.testing.assert_allclose(mapped, (np.sin(x) * y).T)


def test_gradient_of_elements_of_split_arrays_has_no_collective() -> None:
    mesh = make_mesh((4,), ("x",), devices=numpy_devices(4))
    mapped = shard_map(lambda x: ops.sin(x) * x, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    program = make_jaxpr(grad(lambda x: mapped(x).sum()))(np.arange(8.0))
    assert "psum" not in str(program)
    assert "all_gather" not in str(program)


def test_laws_say_nothing_where_nothing_can_be_split() -> None:
    with pytest.raises(Inapplicable):
        law_shard_map_is_vmap(lawful, Case.of(lambda x: x + 1, 2.0))
    with pytest.raises(Inapplicable):
        law_collectives_transpose(lawful, Case.of(lambda x: x, np.arange(3)))
    assert np.dtype(np.int8) in usual_dtypes
    law_collectives_are_definitions(lawful, Case.of(lambda x: x, np.arange(3, dtype=np.int8)))


def test_laws_of_shard_map_leave_shared_derivatives_out() -> None:
    """The cotangent of what devices share is a sum over them, which vmap does not compute: no law compares them."""

    def pulled(x: Any, y: Any) -> Any:
        return vjp(lambda z: ops.add(z, y), x)[1](y)[0]

    verdicts = []
    for seed in range(30):
        try:
            law_shard_map_is_vmap(lawful, Case.of(pulled, np.array(-1.76), np.array([-0.07]), seed=seed), effort=quick)
        except Inapplicable as error:
            verdicts.append("summed over them" in str(error))
        else:
            verdicts.append(False)
    assert 0 < sum(verdicts) < len(verdicts)
