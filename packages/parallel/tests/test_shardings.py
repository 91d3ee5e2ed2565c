"""Meshes, specs, and the parts of arrays that devices have."""

import pickle
from typing import Any

import numpy as np
import pytest

from lawful.core import ArgumentTypeError, ArgumentValueError
from lawful.parallel import (
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    get_mesh,
    make_mesh,
    numpy_devices,
    set_mesh,
)
from lawful.parallel import (
    PartitionSpec as P,
)


def mesh(*sizes: int) -> Mesh:
    return make_mesh(sizes, tuple("xyz"[: len(sizes)]), devices=numpy_devices(int(np.prod(sizes))))


@pytest.mark.parametrize("sizes", [(1,), (8,), (2, 4), (2, 2, 2), (1, 3)])
@pytest.mark.parametrize(
    "spec",
    [P(), P("x"), P(None, "x"), P(("x",)), P("y"), P("y", "x"), P(("x", "y")), P(("y", "x")), P("z", ("x", "y"))],
)
def test_parts_tile_the_array_in_order_of_axes(sizes: tuple[int, ...], spec: P) -> None:
    on = mesh(*sizes)
    if not {*spec.axes()} <= {*on.axis_names}:
        with pytest.raises(ArgumentValueError, match="expected axes of Mesh"):
            NamedSharding(on, spec)
        return
    sharding = NamedSharding(on, spec)
    x = np.arange(24 * 48).reshape(24, 48)
    shard_shape = sharding.shard_shape(x.shape)
    parts = sharding.devices_indices_map(x.shape)
    assert list(parts) == list(on.flat_devices)
    for position, device in np.ndenumerate(on.devices):
        at = dict(zip(on.axis_names, position, strict=True))
        starts = []
        for names, size in zip(sharding.dimension_axes(2), shard_shape, strict=True):
            number = 0
            for name in names:
                number = number * on.shape[name] + at[name]
            starts.append(number * size)
        expected = x[starts[0] : starts[0] + shard_shape[0], starts[1] : starts[1] + shard_shape[1]]
        np.testing.assert_array_equal(x[parts[device]], expected)
    assert sharding.is_fully_replicated == (shard_shape == x.shape)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mesh(8).__class__(numpy_devices(2), ("x", "y")), "an axis name for each of 1 dimensions"),
        (lambda: Mesh(numpy_devices(4), ("x", "x")), "expected an axis name for each"),
        (lambda: Mesh(np.array(numpy_devices(4)).reshape(2, 2), ("x", "x")), "'x' more than once"),
        (lambda: Mesh(numpy_devices(1) * 2, "x"), "each device once"),
        (lambda: make_mesh((3, 4), ("x", "y"), devices=numpy_devices(8)), "expected 12 devices"),
        (lambda: make_mesh((2,), ("x",), devices=numpy_devices(8)), "expected 2 devices"),
        (lambda: make_mesh((0,), ("x",)), "at least one device"),
        (lambda: make_mesh((1,), ("x", "y")), "a name for each of 1 axes"),
        (lambda: AbstractMesh((2,), ("x",), axis_types=(AxisType.Manual,)), "AxisType.Auto or Explicit"),
        (lambda: AbstractMesh((2,), ("x",), (AxisType.Explicit,) * 2), "for each of 1 axes"),
        (lambda: P(None, unreduced={"x"}), "no unreduced axes, got {'x'}"),
        (lambda: P(None, reduced={"x"}), "no reduced axes, got {'x'}"),
        (lambda: P("x", "x"), "'x' more than once"),
        (lambda: P("x", ("y", "x")), "'x' more than once"),
        (lambda: NamedSharding(mesh(2), P("q")), "got 'q'"),
        (lambda: NamedSharding(mesh(2), P("x", None)).shard_shape((2,)), "at least 2 dimensions"),
        (lambda: NamedSharding(mesh(4), P(None, "x")).shard_shape((2, 6)), "dimension 1 .* of 4.* axis 'x'.* got 6"),
        (lambda: NamedSharding(mesh(4, 2), P(("x", "y"))).shard_shape((4,)), "of 8, the size of axes 'x', 'y'"),
        (lambda: NamedSharding(mesh(4), P(), memory_kind="pinned_host"), "memory"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_wrong_meshes_specs_and_shapes_say_what_is_wrong(make: Any, message: str) -> None:
    with pytest.raises(ArgumentValueError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: P([["x"]]),
        lambda: P(P("x")),
        lambda: P({"x"}),
        lambda: NamedSharding(mesh(2), ("x",)),
        lambda: NamedSharding("x", P()),
        lambda: NamedSharding(AbstractMesh((2,), "x"), P()).device_order,
        lambda: set_mesh("x"),
        lambda: make_mesh((1,), 3),
        lambda: Mesh([1, 2], "x"),
    ],
)
def test_arguments_of_other_types_are_refused(make: Any) -> None:
    with pytest.raises(ArgumentTypeError):
        make()


def test_specs_have_one_form_and_behave_as_sequences() -> None:
    assert P(("x",), ()) == P("x", None) == ("x", None)
    assert hash(P(("x",))) == hash(P("x"))
    assert P("x") != P("x", None)
    assert list(P("x", None, ("y", "z"))) == ["x", None, ("y", "z")]
    assert P("x").__add__((None, "y")) == P("x", None, "y")
    assert P("x").__radd__((None,)) == P(None, "x")
    assert P("x", None)[1] is None
    assert len(P()) == 0
    assert repr(P("x", P.UNCONSTRAINED)) == "PartitionSpec('x', UNCONSTRAINED)"


def test_equivalent_shardings_put_equal_parts_on_equal_devices() -> None:
    on = mesh(4, 1, 2)
    sharding = NamedSharding(on, P("x", "y"))
    assert sharding.is_equivalent_to(NamedSharding(on, P("x")), 2)
    assert sharding.is_equivalent_to(NamedSharding(on, P(("x", "y"), None)), 2)
    assert not sharding.is_equivalent_to(NamedSharding(on, P("z")), 2)
    flat = make_mesh((8,), ("a",), devices=numpy_devices(8))
    assert NamedSharding(on, P(("x", "z"))).is_equivalent_to(NamedSharding(flat, P("a")), 1)
    assert not NamedSharding(on, P(("z", "x"))).is_equivalent_to(NamedSharding(flat, P("a")), 1)
    backwards = make_mesh((8,), ("a",), devices=numpy_devices(8)[::-1])
    assert not NamedSharding(flat, P("a")).is_equivalent_to(NamedSharding(backwards, P("a")), 1)


def test_meshes_are_equal_by_devices_and_names() -> None:
    assert mesh(2, 2) == mesh(2, 2)
    assert hash(mesh(2, 2)) == hash(mesh(2, 2))
    assert mesh(2, 2) != mesh(4, 1)
    assert mesh(2, 2).abstract_mesh == AbstractMesh((2, 2), ("x", "y"))
    spec = NamedSharding(mesh(2, 2), P("x", ("y",)))
    assert spec.update(spec=P("y")) == NamedSharding(mesh(2, 2), P("y"))
    assert spec.update(mesh=mesh(1, 2)) == NamedSharding(mesh(1, 2), P("x", "y"))
    assert spec.with_dimension_axes([("y",), (), ()]) == NamedSharding(mesh(2, 2), P("y"))
    assert pickle.loads(pickle.dumps(P("x", None, P.UNCONSTRAINED))) == P("x", None, P.UNCONSTRAINED)


def test_contexts_of_meshes_nest_and_end() -> None:
    assert get_mesh() is None
    with mesh(2), set_mesh(mesh(4)):
        assert get_mesh() == mesh(4)
    assert get_mesh() is None
