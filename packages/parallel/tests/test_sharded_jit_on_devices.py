"""``jit`` with shardings, and constraints: values are those without, and lie where they should."""

from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad, jvp, vjp
from lawful.batching import psum, vmap
from lawful.control_flow import scan
from lawful.core import ArgumentTypeError, ArgumentValueError, InvalidArgumentError
from lawful.parallel import (
    AbstractMesh,
    Mesh,
    NamedSharding,
    devices,
    make_mesh,
    numpy_devices,
    set_mesh,
    shard_map,
    with_sharding_constraint,
)
from lawful.parallel import PartitionSpec as P
from lawful.staging import ShapeDtypeStruct, jit, make_jaxpr, pure_callback

xla_backend = pytest.importorskip("lawful.xla_backend", reason="it is about XLA's devices")
device_put = xla_backend.device_put

rng = np.random.default_rng(7)
A, B = rng.normal(size=(8, 4)), rng.normal(size=(4, 16))
SPECS = [P(), P("x"), P("y"), P("x", "y"), P(None, "y"), P(("x", "y")), P(("y", "x")), P(None, "x")]


@pytest.fixture
def mesh() -> Mesh:
    return make_mesh((4, 2), ("x", "y"))


@pytest.mark.parametrize("out", SPECS, ids=str)
@pytest.mark.parametrize("left", SPECS, ids=str)
def test_shardings_of_arguments_and_results_change_no_value(mesh: Mesh, left: P, out: P) -> None:
    shardings = [NamedSharding(mesh, spec) for spec in (left, out)]
    f = jit(lambda a, b: np.tanh(a) @ b, in_shardings=(shardings[0], None), out_shardings=shardings[1])
    found = f(A, B)
    np.testing.assert_allclose(found, np.tanh(A) @ B)
    assert found.sharding.is_equivalent_to(shardings[1], 2)
    again = f(device_put(A, shardings[0]), B)
    np.testing.assert_array_equal(again, found)


def test_computation_follows_the_data(mesh: Mesh) -> None:
    f = jit(lambda a, b: a @ b)
    found = f(device_put(A, NamedSharding(mesh, P("x"))), device_put(B, NamedSharding(mesh, P(None, "y"))))
    assert found.sharding == NamedSharding(mesh, P("x", "y"))
    np.testing.assert_allclose(found, A @ B)


@pytest.mark.parametrize("spec", [P("x"), P(None, "y"), P("y", P.UNCONSTRAINED), P()], ids=str)
def test_a_constraint_changes_no_value_and_no_derivative(mesh: Mesh, spec: P) -> None:
    sharding = NamedSharding(mesh, spec)

    def f(a: Any) -> Any:
        return with_sharding_constraint(np.sin(a) * 2.0, sharding)

    def plain(a: Any) -> Any:
        return np.sin(a) * 2.0

    np.testing.assert_allclose(jit(f)(A), plain(A))
    np.testing.assert_allclose(f(A), plain(A))
    t = np.ones_like(A)
    np.testing.assert_allclose(jit(lambda a: jvp(f, (a,), (t,))[1])(A), jvp(plain, (A,), (t,))[1])
    np.testing.assert_allclose(jit(lambda a: vjp(f, a)[1](t)[0])(A), vjp(plain, A)[1](t)[0])
    np.testing.assert_allclose(jit(vmap(f))(np.stack([A, A])), plain(np.stack([A, A])))
    rows = jit(lambda a: scan(lambda c, _: (f(c), c.sum()), a, None, length=3)[1])(A)
    np.testing.assert_allclose(rows, [A.sum(), plain(A).sum(), plain(plain(A)).sum()])


def test_a_constraint_stands_in_the_cotangent_too(mesh: Mesh) -> None:
    sharding = NamedSharding(mesh, P("x"))
    closed = make_jaxpr(lambda a: vjp(lambda a: with_sharding_constraint(a, sharding), a)[1](a)[0])(A)
    assert [eqn.params["sharding"].spec for eqn in closed.eqns] == [P("x", None)] * 2


def test_a_result_lies_as_its_constraint_says(mesh: Mesh) -> None:
    with set_mesh(mesh):
        found = jit(lambda a: with_sharding_constraint(a + 1.0, P("y", "x")))(A)
        eager = with_sharding_constraint(A, P("y", "x"))
    assert found.sharding == eager.sharding == NamedSharding(mesh, P("y", "x"))


def test_programs_compiled_ahead_of_time_show_shardings(mesh: Mesh) -> None:
    left, right, out = (NamedSharding(mesh, spec) for spec in (P("x", None), P(None, "y"), P("x", "y")))
    compiled = jit(lambda a, b: a @ b, in_shardings=(left, right), out_shardings=out).lower(A, B).compile()
    assert compiled.input_shardings == ((left, right), {})
    assert compiled.output_shardings == out
    np.testing.assert_allclose(compiled(A, B), A @ B)
    by_rows = ShapeDtypeStruct((8, 4), "float64", sharding=left)
    compiled = jit(lambda a: a.sum(1)).lower(by_rows).compile()
    assert compiled.input_shardings[0][0].is_equivalent_to(left, 2)
    assert compiled.output_shardings == NamedSharding(mesh, P("x"))
    found = compiled(A[:, :4])  # an array of the host goes where the program takes it
    assert found.sharding == NamedSharding(mesh, P("x"))
    np.testing.assert_allclose(found, A[:, :4].sum(1))


def test_jit_traces_again_for_another_mesh_of_the_context(mesh: Mesh) -> None:
    function = jit(lambda a: with_sharding_constraint(a + 1.0, P("x")))
    other = make_mesh((2,), ("x",), devices=devices()[:2])
    for _ in range(2):  # calls after the first take a shorter path
        for each in (mesh, other):
            with set_mesh(each):
                assert function(A).sharding.device_set == {*each.flat_devices}
            assert each(function)(A).sharding.mesh == each
    with pytest.raises(ArgumentTypeError, match="a mesh in the context"):
        function(A)


def test_constraint_to_one_device(mesh: Mesh) -> None:
    third = xla_backend.SingleDeviceSharding(devices()[3])
    assert with_sharding_constraint(A, third).sharding == third
    found = jit(lambda a: with_sharding_constraint(a, third) + 1.0, in_shardings=third)(A)
    assert found.sharding == third


def test_donated_arguments_are_used_up(mesh: Mesh) -> None:
    x = device_put(A, NamedSharding(mesh, P("x")))
    found = jit(lambda x: x * 2.0, donate_argnums=0)(x)
    assert x.is_deleted()
    assert found.sharding == NamedSharding(mesh, P("x"))


def test_static_arguments_have_no_sharding(mesh: Mesh) -> None:
    sharding = NamedSharding(mesh, P("x"))
    f = jit(lambda n, a: a**n, static_argnums=0, in_shardings=(sharding,), out_shardings=sharding)
    np.testing.assert_allclose(f(3, A), A**3)


def test_mistakes_with_shardings_are_told(mesh: Mesh) -> None:
    by_rows, by_columns = NamedSharding(mesh, P("x")), NamedSharding(mesh, P(None, "y"))
    f = jit(lambda a: a + 1.0, in_shardings=by_rows)
    for call, error, message in [
        (lambda: f(device_put(A, by_columns)), ArgumentValueError, "expected argument 0 with the sharding"),
        (lambda: f(a=A), ArgumentValueError, "pass them by position"),
        (lambda: f(A[:6]), ArgumentValueError, "argument 0: .* dimension 0 .* multiple of 4"),
        (lambda: jit(lambda a: a, in_shardings=(by_rows, by_rows))(A), ArgumentValueError, "prefix of the tree"),
        (lambda: jit(lambda a: a, out_shardings=3)(A), ArgumentTypeError, "NamedSharding"),
        (
            lambda: jit(lambda a: {"b": (a, a[:6])}, out_shardings=by_rows)(A), ArgumentValueError,
            r"jit of <lambda>: result\['b'\]\[1\]: .* multiple of 4",
        ),
        (
            lambda: f.lower(ShapeDtypeStruct((6, 4), "float64")), ArgumentValueError,
            r"jit of <lambda>: args\[0\]: .* multiple of 4",
        ),
        (
            lambda: with_sharding_constraint([A[0, 0]], by_rows), ArgumentValueError,
            r"with_sharding_constraint: x\[0\]: .* 1 dimensions",
        ),
        (
            lambda: jit(lambda a: with_sharding_constraint(a, by_rows))(device_put(A, xla_backend.devices()[3])),
            ArgumentValueError, "on the same devices",
        ),
    ]:  # fmt: skip
        with pytest.raises(error, match=message):
            call()  # type: ignore[no-untyped-call]
    np.testing.assert_allclose(f(A), A + 1.0)


def test_in_shardings_move_the_same_parts_in_another_order() -> None:
    """An Array split equally over the same devices is moved, as JAX does; on other devices it is an error."""
    ahead, back = (make_mesh((8,), ("x",), devices=devices()[::step]) for step in (1, -1))
    by_rows = NamedSharding(ahead, P("x"))
    f = jit(lambda a: a + 1.0, in_shardings=by_rows)
    for _ in range(2):
        found = f(device_put(A, NamedSharding(back, P("x"))))
        assert found.sharding.is_equivalent_to(by_rows, 2)
        np.testing.assert_array_equal(found, A + 1.0)
    with pytest.raises(ArgumentValueError, match="expected argument 0 with the sharding"):
        f(device_put(A.T, NamedSharding(back, P(None, "x"))))
    halves = [NamedSharding(make_mesh((4,), ("x",), devices=devices()[i : i + 4]), P("x")) for i in (0, 4)]
    with pytest.raises(ArgumentValueError, match=r"on \[cpu:0, .*cpu:3\] that in_.* on \[cpu:4, .*cpu:7\]; move"):
        jit(lambda a: a, in_shardings=halves[0])(device_put(A, halves[1]))


def test_repeated_calls_check_shardings(mesh: Mesh) -> None:
    """A call runs the last program directly only if its Arrays lie as ``in_shardings`` says."""
    by_rows, by_columns = NamedSharding(mesh, P("x")), NamedSharding(mesh, P(None, "y"))
    f = jit(lambda a, b: (a + 1.0, b["w"] * 2.0), in_shardings=(by_rows, by_columns))
    a, b = device_put(A, by_rows), device_put(B, by_columns)
    for _ in range(3):
        for given in ((a, {"w": b}), (A, {"w": b}), (A, {"w": B}), (device_put(A), {"w": b})):
            found = f(*given)
            np.testing.assert_array_equal(found[0], A + 1.0)
            np.testing.assert_array_equal(found[1], B * 2.0)
            assert found[0].sharding.is_equivalent_to(by_rows, 2)
        with pytest.raises(ArgumentValueError, match="expected argument 0 with the sharding"):
            f(device_put(A, by_columns), {"w": b})


def test_repeated_calls_follow_the_mesh_of_the_context(mesh: Mesh) -> None:
    other = make_mesh((2, 4), ("x", "y"))
    f = jit(lambda a: a + 1.0, in_shardings=P("x"))
    for _ in range(2):
        with set_mesh(mesh):
            x = device_put(A, NamedSharding(mesh, P("x")))
            np.testing.assert_array_equal(f(x), A + 1.0)
        with set_mesh(other), pytest.raises(ArgumentValueError, match="expected argument 0 with the sharding"):
            f(x)


def test_shardings_are_checked_without_devices_too() -> None:
    mesh = make_mesh((4, 2), ("x", "y"), devices=numpy_devices(8))
    f = jit(
        lambda a, b: a @ b, backend="numpy", in_shardings=(NamedSharding(mesh, P("x")), None),
        out_shardings=NamedSharding(mesh, P("x", "y")),
    )  # fmt: skip
    np.testing.assert_array_equal(f(A, B), A @ B)
    np.testing.assert_allclose(grad(lambda a: f(a, B).sum())(A), np.tile(B.sum(1), (8, 1)))
    with pytest.raises(ArgumentValueError, match="multiple of 4"):
        f(A[:6], B)


def test_a_single_device_is_a_sharding_too() -> None:
    third = xla_backend.SingleDeviceSharding(xla_backend.devices()[2])
    found = jit(lambda a: a + 1.0, in_shardings=third)(A)
    np.testing.assert_array_equal(found, A + 1.0)
    assert found.devices() == {xla_backend.devices()[2]}


def test_a_mesh_that_numpy_plays_is_not_for_xla() -> None:
    sharding = NamedSharding(make_mesh((2,), ("x",), devices=numpy_devices(2)), P("x"))
    with pytest.raises(ArgumentValueError, match="a mesh of XLA's devices, got NumpyDevice"):
        jit(lambda a: with_sharding_constraint(a, sharding), backend="xla")(A)


def test_abstract_mesh_has_the_devices_of_arguments(mesh: Mesh) -> None:
    axes = mesh.abstract_mesh
    a = device_put(A, NamedSharding(mesh, P("x")))

    def constrained(a: Any) -> Any:
        return with_sharding_constraint(np.sin(a), NamedSharding(axes, P("y", "x")))

    found = jit(constrained)(a)
    assert found.sharding == NamedSharding(mesh, P("y", "x"))
    np.testing.assert_allclose(found, np.sin(A))
    eager = with_sharding_constraint(a, NamedSharding(axes, P("y", "x")))
    assert eager.sharding == NamedSharding(mesh, P("y", "x"))
    np.testing.assert_allclose(jit(grad(lambda a: constrained(a).sum()))(a), np.cos(A))
    normalized = shard_map(lambda a: a / psum(a.sum(), "x"), mesh=axes, in_specs=P("x"), out_specs=P("x"))
    for function in (normalized, jit(normalized)):
        np.testing.assert_allclose(function(a), A / A.sum())
        assert function(a).sharding == NamedSharding(mesh, P("x"))


def test_abstract_mesh_without_devices_is_an_error(mesh: Mesh) -> None:
    sharding = NamedSharding(mesh.abstract_mesh, P("x"))
    with pytest.raises(ArgumentValueError, match="expected an argument on the devices of a mesh"):
        jit(lambda a: with_sharding_constraint(a, sharding))(A)
    with pytest.raises(InvalidArgumentError, match="expected an array on a mesh with the axes"):
        with_sharding_constraint(A, sharding)
    with pytest.raises(ArgumentTypeError, match="expected a mesh with devices"):
        shard_map(lambda a: a, mesh=mesh.abstract_mesh, in_specs=P("x"), out_specs=P("x"))(A)
    fewer = NamedSharding(AbstractMesh((4,), ("x",)), P("x"))
    with pytest.raises(ArgumentValueError, match="expected 4 devices"):
        jit(lambda a: with_sharding_constraint(a, fewer))(device_put(A, NamedSharding(mesh, P("x"))))


def test_lower_for_an_abstract_mesh(mesh: Mesh) -> None:
    """The program is lowered for axes; the devices are those of other arguments, or given to compile."""
    sharding = NamedSharding(mesh.abstract_mesh, P("x"))
    struct = ShapeDtypeStruct(A.shape, A.dtype, sharding=sharding)
    backwards = NamedSharding(make_mesh((4, 2), ("x", "y"), devices=devices()[::-1]), P("x"))
    for function in (jit(np.sin), jit(np.sin, in_shardings=sharding, out_shardings=sharding)):
        lowered = function.trace(struct).lower()
        with pytest.raises(ArgumentValueError, match="give device_assignment to compile"):
            lowered.compile()
        for wanted in (NamedSharding(mesh, P("x")), backwards):
            compiled = lowered.compile(device_assignment=np.array(wanted.device_order))
            assert compiled.output_shardings == wanted
            for a in (A, device_put(A, wanted)):
                assert compiled(a).sharding == wanted
                np.testing.assert_allclose(compiled(a), np.sin(A))
        with pytest.raises(ArgumentValueError, match="expected 8 devices for NamedSharding"):
            lowered.compile(device_assignment=devices()[:2])
    both = jit(lambda a, b: a + b).lower(struct, ShapeDtypeStruct(A.shape, A.dtype, sharding=backwards))
    assert both.compile().input_shardings[0] == (backwards, backwards)
    with pytest.raises(ArgumentValueError, match=r"the device_assignment \[cpu:7, .* leave it out"):
        both.compile(device_assignment=devices())
    made = jit(lambda: with_sharding_constraint(ops.iota(np.float64, 8), sharding)).lower()
    np.testing.assert_array_equal(made.compile(device_assignment=devices())(), np.arange(8.0))


def test_compiled_ahead_of_time_refuses_other_shardings(mesh: Mesh) -> None:
    rows = device_put(A, NamedSharding(mesh, P("x")))
    columns = device_put(A, NamedSharding(mesh, P(None, "x")))
    for compiled in (jit(np.sin).lower(rows).compile(), jit(np.sin, in_shardings=rows.sharding).lower(A).compile()):
        same = NamedSharding(make_mesh((4, 2), ("p", "q")), P(("p",), None))
        for a in (rows, A, device_put(A), device_put(A, same)):
            np.testing.assert_allclose(compiled(a), np.sin(A))
        for other in (columns, device_put(A, devices()[3])):
            with pytest.raises(
                ArgumentValueError, match="expected argument 0 with the sharding that it was compiled for"
            ):
                compiled(other)
    follows = jit(np.sin).lower(A).compile()  # no sharding was given
    assert follows(columns).sharding == columns.sharding


def test_device_assignment_of_a_program_on_one_device() -> None:
    lowered = jit(np.sin).lower(1.0)
    assert lowered.compile(device_assignment=devices()[3:4])(1.0).devices() == {devices()[3]}
    for given in (devices()[:2], []):
        with pytest.raises(ArgumentValueError, match="expected one device in device_assignment"):
            lowered.compile(device_assignment=given)
    with pytest.raises(ArgumentValueError, match="the NumPy backend has no devices"):
        jit(np.sin, backend="numpy").lower(1.0).compile(device_assignment=devices())


def test_jit_with_unconstrained_shardings_is_an_error(mesh: Mesh) -> None:
    free = NamedSharding(mesh, P(P.UNCONSTRAINED, "x"))
    for shardings in ({"in_shardings": free}, {"out_shardings": (free,)}, {"out_shardings": P(P.UNCONSTRAINED)}):
        with pytest.raises(ArgumentValueError, match="that say how each dimension is split, got UNCONSTRAINED"):
            jit(lambda a: (a,), **shardings)


def test_out_info_of_a_compiled_program_has_shardings(mesh: Mesh) -> None:
    sharding = NamedSharding(mesh, P("x"))
    compiled = jit(lambda a: a * 2.0).lower(device_put(A, sharding)).compile()
    assert compiled.out_info.sharding == sharding
    np.testing.assert_allclose(compiled(A), A * 2.0)


def test_result_shardings_keep_the_names_of_axes_of_one_device() -> None:
    mesh = make_mesh((1, 4, 1), ("x", "y", "z"), devices=devices()[:4])
    split = NamedSharding(mesh, P("x", "y", "z"))
    a = np.arange(32.0).reshape(2, 8, 2)
    mapped = shard_map(lambda a: a + 1.0, mesh=mesh, in_specs=split.spec, out_specs=split.spec)
    inside = NamedSharding(mesh, P("x", ("y", "z")))
    for f, x, spec in [
        (mapped, a, split.spec),
        (jit(lambda a: a + 1.0), device_put(a, split), split.spec),
        (jit(lambda a: with_sharding_constraint(a + 1.0, inside)), device_put(a, split), inside.spec),
        (jit(lambda a: a + 1.0, out_shardings=NamedSharding(mesh, P("z"))), a, P("z")),
        (jit(lambda a: a.sum(0)), device_put(a, split), P("y")),
    ]:
        found = f(x)
        assert found.sharding.spec == spec, found.sharding
        np.testing.assert_array_equal(found, a.sum(0) if found.ndim == 2 else a + 1.0)


def test_repeated_calls_of_one_argument_check_it(mesh: Mesh) -> None:
    """The direct path of a program of one argument and one result runs it only for the Array that it is for."""
    by_rows, by_columns = NamedSharding(mesh, P("x")), NamedSharding(mesh, P(None, "y"))
    f = jit(lambda a: a + 1.0, out_shardings=by_rows)
    x = device_put(A, by_rows)
    for _ in range(4):
        x = f(x)
        assert x.sharding is by_rows, "the next call compares it by identity"
    np.testing.assert_allclose(x, A + 4.0)
    for other in (A, device_put(A, by_columns), device_put(A, NamedSharding(mesh, P("x")))):
        np.testing.assert_array_equal(f(other), A + 1.0)
        np.testing.assert_array_equal(f(x), np.asarray(x) + 1.0)
    assert f(device_put(A.astype(np.float32), by_rows)).dtype == np.float32
    called = jit(lambda a: pure_callback(lambda part: np.asarray(f(device_put(A, by_rows)))[:2], a[:2], a))
    with pytest.raises(xla_backend.XlaError, match="expected a program on one device in a Python function"):
        shard_map(called, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(device_put(A, by_rows))
    x.delete()
    with pytest.raises(xla_backend.DeletedArrayError):
        f(x)


def test_call_of_parts_of_one_shape_laid_out_otherwise() -> None:
    """The direct call of a program compares shardings: parts of the same shapes may be other parts of the array."""
    mesh = make_mesh((2, 2), ("x", "y"), devices=devices()[:4])
    function, x = jit(lambda x: x * 2 + 1), np.arange(16.0).reshape(4, 4)
    for spec in (P("x", "y"), P("x", "y"), P("x", "y"), P("y", "x")):
        np.testing.assert_array_equal(np.asarray(function(device_put(x, NamedSharding(mesh, spec)))), x * 2 + 1)
