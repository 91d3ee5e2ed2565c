"""What libraries such as Equinox build on: types and traces, primitives with rules, pytrees that can be called."""

import dataclasses
import inspect
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
from lawful.jax import lax
from lawful.jax._src.core import trace_state_clean
from lawful.jax._src.traceback_util import include_frame, register_exclusion
from lawful.jax.extend.core import Primitive, find_top_trace, mapped_aval, unmapped_aval, valid_jaxtype
from lawful.jax.interpreters import ad, batching, mlir


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Scale:
    """A pytree that can be called, as layers are."""

    factor: Any

    def __call__(self, x: Any) -> Any:
        return self.factor * x


RETURNING: dict[str, Any] = {
    "jit": lambda x: jax.jit(Scale)(x),
    "vmap": lambda x: jax.vmap(Scale)(x),
    "scan": lambda x: lax.scan(lambda scale, _: (scale, None), Scale(x), None, 2)[0],
    "grad": lambda x: jax.grad(lambda scale: jnp.sum(scale(2.0)))(Scale(x)),
}


def test_undefined_primal_is_a_tree_without_leaves() -> None:
    aval = jax.core.ShapedArray((2,), np.float32)
    leaves, treedef = jax.tree.flatten({"x": ad.UndefinedPrimal(aval), "y": 1.0})
    assert leaves == [1.0]
    found = jax.tree.map(lambda y: 2.0 * y, jax.tree.unflatten(treedef, leaves))
    assert (type(found["x"]), found["x"].aval, found["y"]) == (ad.UndefinedPrimal, aval, 2.0)
    assert jax.tree.structure(ad.UndefinedPrimal(aval)) == jax.tree.structure(ad.UndefinedPrimal(aval))
    other = ad.UndefinedPrimal(aval.update(shape=(3,)))
    assert jax.tree.structure(ad.UndefinedPrimal(aval)) != jax.tree.structure(other)


@pytest.mark.parametrize("name", RETURNING)
def test_transformations_return_callable_trees(name: str) -> None:
    found = RETURNING[name](np.ones(2))
    assert type(found) is Scale
    assert isinstance(found.factor, jax.Array)
    assert jax.tree.structure(found) == jax.tree.structure(Scale(0.0))


def test_vmap_has_the_attributes_of_a_callable_tree() -> None:
    mapped: Any = jax.vmap(jax.vmap(Scale(2.0)))
    assert mapped.factor == 2.0
    with pytest.raises(AttributeError, match="such"):
        _ = mapped.such


def test_vmap_of_an_object_whose_name_is_no_string() -> None:
    scale = Scale(2.0)
    scale.__name__ = None  # type: ignore[attr-defined]
    assert jax.vmap(scale)(jnp.arange(2.0)).tolist() == [0.0, 2.0]


def test_eval_shape_of_a_callable_tree() -> None:
    found = jax.eval_shape(Scale, jnp.ones(2))
    assert type(found) is Scale
    assert found.factor.shape == (2,)


def test_ensure_compile_time_eval_traces_traced_values() -> None:
    def f(x: Any) -> Any:
        with jax.ensure_compile_time_eval():
            known = jnp.sum(jax.vmap(jnp.cos)(jnp.zeros(2)))
            assert not isinstance(known, jax.core.Tracer)
            return x * float(known), lax.cond(x > 0.0, jnp.sin, jnp.cos, x)

    assert jax.jit(f)(2.0) == (4.0, np.sin(2.0))
    assert jax.grad(lambda x: f(x)[0])(2.0) == 2.0
    assert jax.vmap(f)(jnp.arange(2.0))[0].tolist() == [0.0, 2.0]


def test_custom_vjp_residuals_keep_python_numbers() -> None:
    found = []

    @jax.custom_vjp
    def f(x: Any) -> Any:
        return x * 2.0

    def bwd(residuals: Any, ct: Any) -> Any:
        found.append(residuals)
        return (residuals["factor"] * ct,)

    f.defvjp(lambda x: (f(x), {"factor": 2.0, "flag": True, "x": x}), bwd)
    for gradient in (jax.grad(f), jax.jit(jax.grad(f)), jax.grad(jax.jit(f))):
        assert gradient(3.0) == 2.0
        residuals = found.pop()
        assert residuals["flag"] is True
        assert type(residuals["factor"]) is float
        assert isinstance(residuals["x"], jax.Array)


def test_eval_jaxpr_gives_arrays() -> None:
    closed = jax.make_jaxpr(lambda x: (x * 2.0, 3))(1.0)
    found = jax.core.eval_jaxpr(closed.jaxpr, closed.consts, 2.0)
    assert [type(x) for x in found] == [jax.Array, jax.Array]
    assert found == [4.0, 3]


def doubling() -> Primitive:
    """A primitive whose rules use what only arrays of JAX have."""
    double_p = Primitive("double_of_library")
    double_p.def_impl(lambda x, *, times: x.at[...].multiply(2.0 * times))
    double_p.def_abstract_eval(lambda x, *, times: x)
    ad.deflinear2(double_p, lambda ct, x, *, times: [double_p.bind(ct.at[...].get(), times=times)])
    mlir.register_lowering(double_p, mlir.lower_fun(lambda x, *, times: x * 2.0 * times, multiple_results=False))
    return double_p


def test_primitive_rules_get_and_give_arrays() -> None:
    double_p = doubling()
    assert isinstance(lax.sin_p, Primitive)
    assert type(double_p.bind(np.ones(2), times=1)) is jax.Array
    assert double_p.impl(np.ones(2), times=3).tolist() == [6.0, 6.0]
    assert jax.grad(lambda x: double_p.bind(x, times=1).sum())(jnp.ones(2)).tolist() == [2.0, 2.0]


def test_lower_fun_is_a_lowering_rule() -> None:
    double_p = doubling()
    assert jax.jit(lambda x: double_p.bind(x, times=2))(jnp.ones(2)).tolist() == [4.0, 4.0]


def test_axis_primitive_batchers_get_size_and_name() -> None:
    seen = []
    first_p = Primitive("first_of_library")
    first_p.def_impl(lambda x: x[0])

    def rule(size: Any, name: Any, _: Any, args: Any, dims: Any) -> Any:
        seen.append((size, name, type(args), type(args[0]), dims))
        return jnp.moveaxis(args[0], dims[0], 0)[:, 0], 0

    batching.axis_primitive_batchers[first_p] = rule
    assert jax.vmap(first_p.bind, in_axes=1, axis_name="i")(jnp.arange(6.0).reshape(2, 3)).tolist() == [0.0, 1.0, 2.0]
    assert seen == [(3, "i", tuple, jax.Array, (1,))]
    assert type(seen[0][-1][0]) is int


def test_zero_from_primal_of_a_tree() -> None:
    zeros = jax.custom_derivatives.zero_from_primal({"x": jnp.ones(2), "i": jnp.arange(3)})
    assert zeros["x"].tolist() == [0.0, 0.0]
    assert zeros["i"].dtype == jax.dtypes.float0
    symbolic = jax.custom_derivatives.zero_from_primal([jnp.ones(2)], symbolic_zeros=True)
    assert isinstance(symbolic[0], jax.custom_derivatives.SymbolicZero)


def test_load_of_bfloat16(tmp_path: Path) -> None:
    x = jnp.array([1.5, -2.0], jnp.bfloat16)
    jnp.save(tmp_path / "x.npy", x)
    found = jnp.load(tmp_path / "x.npy")
    assert found.dtype == jnp.bfloat16
    assert found.tolist() == x.tolist()


def test_reduce_window_of_integers_from_infinity() -> None:
    x = jnp.array([3, -1, 2], jnp.int32)
    largest = lax.reduce_window(x, -jnp.inf, lax.max, (2,), (1,), "SAME")
    assert largest.dtype == jnp.int32
    assert largest.tolist() == [3, 2, 2]
    assert lax.reduce_window(x, jnp.inf, lax.min, (2,), (1,), "VALID").tolist() == [-1, -1]


def test_find_top_trace_is_that_of_the_tracers() -> None:
    def f(x: Any) -> Any:
        main = find_top_trace([x]).main
        assert isinstance(x, ad.JVPTracer)
        assert getattr(x._trace, "main") is main  # noqa: B009  # mypy knows no such attribute
        assert not isinstance(jnp.ones(2), ad.JVPTracer)
        doubled: Any = jnp.multiply(x, 2.0)
        return doubled

    assert jax.jvp(f, (1.0,), (1.0,)) == (2.0, 2.0)


def test_mapped_and_unmapped_avals() -> None:
    aval = jax.core.ShapedArray((2, 3), jnp.float32)
    assert mapped_aval(3, 1, aval) == jax.core.ShapedArray((2,), jnp.float32)
    assert unmapped_aval(3, 1, mapped_aval(3, 1, aval)) == aval
    assert mapped_aval(4, None, aval) == unmapped_aval(4, None, aval) == aval
    with pytest.raises(ValueError, match="expected a dimension 0 of length 3"):
        mapped_aval(3, 0, aval)


def test_register_exclusion_hides_frames_of_a_file() -> None:
    def frame_of(file: str) -> FrameType:
        known: dict[str, Any] = {"inspect": inspect, "__name__": "program"}
        exec(compile("def look(): return inspect.currentframe()", file, "exec"), known)
        found: FrameType = known["look"]()
        return found

    assert include_frame(frame_of("/library/layers.py"))
    register_exclusion("/library/layers.py")
    assert not include_frame(frame_of("/library/layers.py"))
    assert include_frame(frame_of("/library/others.py"))


def test_trace_state_clean_is_false_within_transformations() -> None:
    found: list[bool] = []

    def f(x: Any) -> Any:
        found.append(trace_state_clean())
        return x * 2.0

    f(1.0)
    for transformed in (jax.jit(f), jax.grad(f), jax.make_jaxpr(f)):
        transformed(1.0)
    jax.vmap(f)(jnp.ones(2))
    assert found == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("value", "is_valid"),
    [(1, True), (np.ones(2), True), (jnp.ones(2), True), ("1", False), (None, False), ([1], False),
     (np.array(["a"]), False), (jax.ShapeDtypeStruct((), float), True)],
)  # fmt: skip
def test_valid_jaxtype(value: Any, is_valid: bool) -> None:
    assert valid_jaxtype(value) is is_valid
