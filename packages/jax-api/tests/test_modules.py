"""The modules of `lawful.jax`: names of the table, keywords of JAX, transformations, switches."""

import importlib
import importlib.util
import inspect
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
from lawful.core import ArgumentValueError
from lawful.jax import lax, random
from lawful.jax._support.namespaces.table import modules, names_of
from lawful.jax.experimental.xla_metadata import set_xla_metadata, xla_metadata_call

#: Names of classes of XLA's backend, and of dtypes that an older ml_dtypes has not.
NOT_HERE: set[str] = {name for name in ("int1", "uint1") if not hasattr(ml_dtypes, name)}
if importlib.util.find_spec("lawful.xla_backend") is None:
    NOT_HERE.add("Shard")


def absent(module: str) -> bool:
    """Whether all names of a module are left out."""
    return all(row.reason for row in names_of(module).values())


@pytest.mark.parametrize("module", [name for name in modules() if not absent(name)])
def test_module_has_each_name_of_the_table(module: str) -> None:
    ours = importlib.import_module(f"lawful.{module}")
    missing = [row.name for row in names_of(module).values() if not row.reason and not hasattr(ours, row.name)]
    assert {*missing} <= NOT_HERE


def test_module_says_why_a_name_is_left_out() -> None:
    with pytest.raises(AttributeError, match=r"lawful.jax.new_ref is left out: "):
        _ = jax.new_ref
    with pytest.raises(AttributeError, match=r"has no attribute 'sine', nor has JAX's"):
        _ = jnp.sine


@pytest.mark.parametrize(
    ("module", "name", "reason"),
    [
        ("lawful.jax", "export", "is left out: "),
        ("lawful.jax.experimental", "pallas", "is left out: "),
        ("lawful.jax.numpy", "sine", "nor has JAX's"),
    ],
)
def test_import_of_a_name_says_why_it_is_left_out(module: str, name: str, reason: str) -> None:
    with pytest.raises(ImportError, match=reason):
        exec(f"from {module} import {name}")
    assert not hasattr(importlib.import_module(module), name)


def test_module_signatures_are_those_of_jax() -> None:
    assert list(inspect.signature(jnp.sum).parameters)[:3] == ["a", "axis", "dtype"]
    assert str(inspect.signature(lax.add)) == "(x, y)"


def test_keyword_operands_by_jax_name() -> None:
    assert lax.add(x=1.0, y=2.0) == lax.add(1.0, y=2.0) == 3.0


def test_keyword_that_changes_nothing_is_accepted() -> None:
    assert jnp.zeros(2, out_sharding=None).tolist() == [0.0, 0.0]
    assert lax.exp(0.0, accuracy=None) == 1.0
    assert random.gumbel(random.key(0), mode="low") == random.gumbel(random.key(0))


def test_keyword_without_meaning_here_is_refused() -> None:
    with pytest.raises(ArgumentValueError, match="expected no mode, got 'high'"):
        jax.random.gumbel(jax.random.key(0), mode="high")


def test_transformations_return_arrays() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        return jnp.sum(x**2)

    x = jnp.arange(3.0)
    value, vjp = jax.vjp(f, x)
    for found in (value, *vjp(1.0), jax.grad(f)(x), jax.jit(f)(x), jax.hessian(f)(x), jax.vmap(f)(x[:, None]),
                  *jax.jvp(f, (x,), (x,)), jax.jacobian(f)(x), jax.linearize(f, x)[1](x)):  # fmt: skip
        assert type(found) is jax.Array


def test_transformations_pass_other_arguments_as_they_are() -> None:
    grad = jax.grad(lambda w, x: jnp.sum(w * x.at[0].set(1.0)))
    assert grad(jnp.ones(2), jnp.zeros(2)).tolist() == [1.0, 0.0]


def test_jit_keeps_structure_and_attributes() -> None:
    double = jax.jit(lambda tree: jax.tree.map(lambda x: 2 * x, tree))
    out = double({"a": [jnp.ones(2), np.ones(1)], "b": (3,)})
    assert type(out["a"][0]) is type(out["b"][0]) is jax.Array
    assert double.lower(out).compile() is not None
    assert double(double(out))["b"][0] == 24


def test_jit_donated_array_keeps_its_values() -> None:
    x = jax.jit(lambda x: x + 1)(jnp.zeros(1000))
    jax.jit(lambda x: x * 2, donate_argnums=0)(x)
    assert np.all(np.asarray(x) == 1.0)


def test_disable_jit_runs_python() -> None:
    seen = []
    f = jax.jit(lambda x: seen.append(type(x)) or x)
    with jax.disable_jit():
        f(jnp.ones(2))
    assert seen == [jax.Array]


def test_debug_nans_raises_for_jit() -> None:
    with jax.debug_nans(True), pytest.raises(FloatingPointError, match="expected numbers, got NaN"):
        jax.jit(jnp.log)(-1.0)


@pytest.mark.parametrize(
    "name", ["jax_debug_nans", "jax_debug_infs", "jax_disable_jit", "jax_explain_cache_misses", "jax_num_cpu_devices"]
)
def test_config_refuses_values_of_other_types(name: str) -> None:
    before = jax.config.read(name)
    with pytest.raises(TypeError, match=r"expected (True or False|an integer).*, got 'yes'; (pass|give)"):
        jax.config.update(name, "yes")
    assert jax.config.read(name) is before
    if before is False:
        jax.config.update(name, 0)  # as in JAX
        assert jax.config.read(name) is False


def test_config_warns_of_what_is_fixed() -> None:
    jax.config.update("jax_enable_x64", True)
    with pytest.warns(UserWarning, match="types are x64 always"):
        jax.config.update("jax_enable_x64", False)
    assert jax.config.jax_enable_x64
    with pytest.raises(AttributeError, match="the name of a switch"):
        jax.config.update("jax_fast", True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jax.config.update("jax_platform_name", "cpu")
        jax.config.update("jax_dump_ir_to", "")  # of logs and dumps: accepted, without effect
        jax.config.update("jax_remat3", True)  # of another implementation in JAX
    with pytest.warns(UserWarning, match="keys are those of the seed itself"):
        jax.config.update("jax_random_seed_offset", 1)


def test_set_xla_metadata_decorator_keeps_the_function() -> None:
    function = jax.jit(jnp.sin)
    for decorate in (set_xla_metadata(label="sine"), xla_metadata_call(label="sine"), xla_metadata_call):
        assert decorate(function) is function


def test_scalar_types_are_dtypes_and_functions() -> None:
    assert jnp.float32(3).dtype == jnp.float32 == np.float32
    assert jnp.zeros(2, jnp.int8).dtype == np.dtype(jnp.int8)
    assert jnp.issubdtype(jnp.float32, jnp.floating)
    assert jax.grad(lambda x: jnp.float32(x))(jnp.float64(2.0)) == 1.0
    assert isinstance(np.float32(3), jnp.float32)
    assert not isinstance(3.0, jnp.float32)
    assert not isinstance(jnp.float32(3), jnp.float32)  # it is an array, as in JAX


def test_ufunc_methods() -> None:
    x = jnp.arange(3.0)
    assert jnp.add.reduce(x) == 3.0
    assert jnp.multiply.outer(x, x).shape == (3, 3)


def test_random_keys() -> None:
    key = random.PRNGKey(0)
    assert random.key_data(random.wrap_key_data(key)).tolist() == [0, 0]
    first, second = random.split(key)
    assert random.normal(first, (2,)).tolist() != random.normal(second, (2,)).tolist()


def test_primitives_by_the_tables_of_interpreters() -> None:
    from_core = jax.extend.core.Primitive("triple")
    from_core.def_impl(lambda x: 3.0 * x)
    from_core.def_abstract_eval(lambda x: x)
    jax.interpreters.ad.deflinear2(from_core, lambda ct, x: [from_core.bind(ct)])
    jax.interpreters.batching.defvectorized(from_core)
    assert jax.grad(from_core.bind)(2.0) == 3.0
    assert jax.vmap(jax.grad(from_core.bind))(jnp.ones(2)).tolist() == [3.0, 3.0]
    assert from_core in jax.interpreters.ad.primitive_transposes


def test_interpreter_of_jax_documentation_runs() -> None:
    """An interpreter as JAX's documentation writes it, with its names of `jax.extend.core`."""
    from lawful.jax.extend.core import Literal, jaxpr_as_fun

    closed = jax.make_jaxpr(lambda x: jnp.exp(jnp.sin(x)) + 1.0)(2.0)
    values = dict(zip(closed.jaxpr.invars, [2.0], strict=True))
    for eqn in closed.jaxpr.eqns:
        args = [atom.val if isinstance(atom, Literal) else values[atom] for atom in eqn.invars]
        functions, params = eqn.primitive.get_bind_params(eqn.params)
        out = eqn.primitive.bind(*functions, *args, **params)
        values.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else [out], strict=True))
    assert [values[var] for var in closed.jaxpr.outvars] == jaxpr_as_fun(closed)(2.0)


def test_experimental_callbacks_and_labels() -> None:
    from lawful.jax.experimental import io_callback

    seen = []
    shape = jax.ShapeDtypeStruct((), jnp.float64)
    with set_xla_metadata(label="a"):
        y = jax.jit(lambda x: io_callback(lambda x: (seen.append(float(x)), x + 1)[1], shape, x, ordered=True))(1.0)
    assert (float(y), seen) == (2.0, [1.0])
    assert isinstance(y, jax.Array)
    assert set_xla_metadata(jnp.ones(2), label="b").tolist() == [1.0, 1.0]
    assert set_xla_metadata(label="c")(lambda x: x + 1)(1) == 2


def test_pytree_with_a_dict_as_auxiliary_data_is_compiled() -> None:
    """JAX's documentation has such a class, although it asks for a hash."""

    class Scaled:
        def __init__(self, x, mul):
            self.x, self.mul = x, mul

    jax.tree_util.register_pytree_node(Scaled, lambda s: ((s.x,), {"mul": s.mul}), lambda aux, x: Scaled(*x, **aux))
    traced = []
    calc = jax.jit(lambda s, y: (traced.append(s.mul), s.x * y if s.mul else y)[1])
    assert [float(calc(Scaled(2.0, mul), 3.0)) for mul in (True, False, True, 1, 1)] == [6.0, 3.0, 6.0, 6.0, 6.0]
    assert list(map(repr, traced)) == ["True", "False", "1"]  # what is equal and not the same is traced again


def test_iterative_solvers_of_scipy() -> None:
    from lawful.jax.scipy.sparse.linalg import bicgstab, cg, gmres

    matrix, right = jnp.array([[4.0, 1.0], [1.0, 3.0]]), jnp.array([1.0, 2.0])
    for solve in (cg, bicgstab, gmres):
        x, info = solve(matrix, right, tol=1e-12)
        assert info is None
        assert isinstance(x, jax.Array)
        assert jnp.allclose(matrix @ x, right)


def test_random_dtype_none_is_the_default() -> None:
    key = random.key(0)
    drawn = {
        "bits": random.bits(key, (2,), None),
        "rademacher": random.rademacher(key, (2,), None),
        "geometric": random.geometric(key, 0.5, None, None),
        "randint": random.randint(key, (2,), 0, 5, None),
        "poisson": random.poisson(key, 3.0, None, None, out_sharding=None),
        "binomial": random.binomial(key, 10, 0.5, None, None),
    }
    kinds = {name: x.dtype.kind for name, x in drawn.items()}
    assert kinds == dict.fromkeys(drawn, "i") | {"bits": "u", "binomial": "f"}
    assert drawn["bits"].dtype == random.bits(key).dtype == np.uint64  # as in JAX with x64


def test_absent_devices_are_a_runtime_error_as_in_jax() -> None:
    for name in ("tpu", "rocm"):
        with pytest.raises(RuntimeError, match=f"got '{name}'"):
            jax.devices(name)
    assert jax.devices("cpu")[0].platform in ("cpu", "numpy")
    with pytest.raises(RuntimeError, match="got 'quantum'"):
        jax.jit(lambda x: x, backend="quantum")(1.0)


@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_shapes_that_do_not_fit_are_both_kinds_of_error(kind: type[Exception]) -> None:
    """JAX raises TypeError where NumPy raises ValueError, and programs of both catch them."""
    x, y = jnp.ones((2, 3)), jnp.ones((4, 5))
    functions = (jnp.add, jnp.dot, jnp.matmul, jnp.inner, lambda x, y: jnp.tensordot(x, y, 1), lax.mul, lax.pow)
    for function in (*functions, lambda x, y: jnp.concatenate([x, y])):
        for stage in (lambda f: f, jax.jit, jax.make_jaxpr):
            with pytest.raises(kind, match="expected"):
                stage(function)(x, y)


def test_shapes_of_lists() -> None:
    assert (jnp.ndim([1]), jnp.shape([[1, 2]]), jnp.size([1, 2]), jnp.size([[1, 2]], axis=1)) == (1, (1, 2), 2, 2)


def test_grids_and_broadcast_arrays_are_tuples() -> None:
    x = jnp.arange(2.0)
    for found in (jnp.meshgrid(x, x, indexing="ij", sparse=True), jnp.broadcast_arrays(x, 1.0), jnp.meshgrid()):
        assert type(found) is tuple
        assert all(type(part) is jax.Array for part in found)


def test_closed_jaxpr_literals_are_its_constants() -> None:
    x = jnp.arange(3.0)
    (constant,) = jax.make_jaxpr(lambda y: x * y)(2.0).literals
    assert constant.tolist() == x.tolist()


def test_reciprocal_of_integers_is_no_integer() -> None:
    for x in (2, np.array([1, 2, -4]), jnp.arange(1, 4), jnp.arange(1, 4, dtype=jnp.int32)):
        for f in (jnp.reciprocal, jax.jit(jnp.reciprocal)):
            assert np.array_equal(f(x), 1.0 / np.asarray(x))
    assert jnp.reciprocal(jnp.array([False, True])).tolist() == [np.inf, 1.0]
    assert jnp.reciprocal(jnp.float32(4)).dtype == jnp.float32
    assert jax.grad(jnp.reciprocal)(2.0) == -0.25


def test_stax_has_the_older_names_of_initializers() -> None:
    from lawful.jax.example_libraries import stax

    assert stax.glorot()(random.key(0), (3, 4)).shape == stax.randn()(random.key(0), (3, 4)).shape == (3, 4)
    assert stax.logsoftmax(jnp.zeros(1)).tolist() == [0.0]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"compiler_options": ["xla_cpu_enable_fast_math"]}, TypeError, "mapping from names"),
        ({"abstracted_axes": {0: "n"}}, ValueError, "leave it out"),
        ({"static_argnum": 0}, TypeError, "static_argnum"),
    ],
)
def test_jit_refuses_options_without_effect(options: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        jax.jit(lambda x: x, **options)
    assert float(jax.jit(lambda x: x, compiler_options={}, keep_unused=True)(1.0)) == 1.0


def test_stax_parallel_gives_tuples_of_parameters() -> None:
    from lawful.jax.example_libraries import stax

    init, apply = stax.serial(stax.FanOut(2), stax.parallel(stax.Dense(3), stax.Identity), stax.FanInSum)
    _, parameters = init(jax.random.PRNGKey(0), (1, 3))
    assert jax.tree.structure(parameters) == jax.tree.structure([(), ((0, 0), ()), ()])
    assert apply(parameters, jnp.ones((1, 3))).shape == (1, 3)
