"""The laws of sharding on eight devices of XLA: `conftest.py` runs this file in a process that has them."""

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad
from lawful.laws import Case, LawViolation, draw_case, examine, find_source, laws, quick
from lawful.laws.systems import Lawful
from lawful.parallel import NamedSharding, devices
from tests.laws._held import seeds

NAMES = (
    *("shard_map_is_vmap", "shard_map_derivatives", "pmap_is_vmap", "collectives_are_definitions"),
    *("collectives_transpose", "sharded_jit_is_jit", "resharding_is_identity"),
)
#: Programs without calls of Python.
ONE_DEVICE = "smooth with jit, vmap, cond, scan, vjp, checkpoint, with_jvp_rule"
SEVERAL = f"{ONE_DEVICE}, with_shard_map, with_pmap, with_shardings"


@pytest.fixture(scope="module")
def xla() -> Lawful:
    return Lawful("xla", backends=("xla",), devices=lambda count: devices("cpu")[:count])


@pytest.mark.parametrize("name", NAMES)
def test_laws_of_sharding_hold_on_xla_devices(xla: Lawful, name: str) -> None:
    count = 30 if name in ("collectives_are_definitions", "collectives_transpose", "resharding_is_identity") else 8
    # A program is for one set of devices: what is inside `shard_map` stays there.
    source = find_source(ONE_DEVICE if name == "sharded_jit_is_jit" else SEVERAL)
    for seed in seeds(count):
        outcome = examine(laws[name], xla, draw_case(source, seed), quick)
        assert outcome.verdict != "failed", outcome.error


@pytest.mark.parametrize("way", ["whole", "stacked", "summed"])
@pytest.mark.parametrize("sizes", [(1,), (4,), (2, 3)])
def test_detours_over_xla_devices_keep_values_and_gradients(xla: Lawful, way: str, sizes: tuple[int, ...]) -> None:
    x, y = np.linspace(0.1, 1.0, 12).reshape(6, 2), np.float64(0.7)
    through = xla.scope

    def loss(function: Any) -> Any:
        return lambda *args: (function(*args) ** 2).sum()

    def product(x: Any, y: Any) -> Any:
        return ops.sin(x) * y

    expected = grad(loss(product), (0, 1))(x, y)
    for found in (
        through["with_shard_map"](product, sizes, True, way),
        through["with_shardings"](product, sizes, True),
    ):
        np.testing.assert_allclose(found(x, y), product(x, y))
        for one, other in zip(grad(loss(found), (0, 1))(x, y), expected, strict=True):
            np.testing.assert_allclose(one, other)


def test_resharding_finds_devices_in_another_order(xla: Lawful, monkeypatch: pytest.MonkeyPatch) -> None:
    right = NamedSharding.devices_indices_map

    def reversed_devices(self: NamedSharding, shape: Any) -> Any:
        found = right(self, shape)
        return dict(zip(found, reversed([*found.values()]), strict=True))

    monkeypatch.setattr(NamedSharding, "devices_indices_map", reversed_devices)
    cases = [Case.of(np.sin, np.arange(6.0), seed=seed) for seed in range(20)]

    def hold_all() -> None:
        for case in cases:
            laws["resharding_is_identity"](xla, case)

    with pytest.raises(LawViolation):
        hold_all()
