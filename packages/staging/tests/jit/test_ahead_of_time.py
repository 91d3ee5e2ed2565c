"""The stages of compilation as values: trace, lower, compile, and what each can tell."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.core import ArgumentTypeError, ArgumentValueError, check_jaxpr
from lawful.staging import Compiled, Lowered, ShapeDtypeStruct, Traced, get_backend, register_backend
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")


def test_jit_stages_follow_each_other(counted: Any) -> None:
    f = counted(lambda x, *, y: {"sum": ops.sin(x) + y})
    g = jit(f)
    traced = g.trace(np.ones(3), y=2.0)
    assert type(traced) is Traced
    lowered = traced.lower()
    assert type(lowered) is Lowered
    compiled = lowered.compile()
    assert type(compiled) is Compiled
    np.testing.assert_array_equal(compiled(np.zeros(3), y=1.0)["sum"], np.ones(3))
    np.testing.assert_array_equal(g.lower(np.ones(3), y=2.0).compile()(np.zeros(3), y=1.0)["sum"], np.ones(3))
    g(np.ones(3), y=5.0)
    assert f.calls == 1


def test_jit_stages_what_was_traced_is_a_jaxpr() -> None:
    traced = jit(lambda x: ops.sin(x)).trace(ShapeDtypeStruct((3,), "float32"))
    assert str(traced.jaxpr) == "{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }"
    check_jaxpr(traced.jaxpr)
    assert traced.out_info == ShapeDtypeStruct((3,), "float32")


def test_jit_stages_text_is_the_program_that_runs() -> None:
    lowered = jit(lambda x: ops.sin(x) * 2.0).lower(np.float64(1.0))
    text = lowered.as_text()
    assert text.startswith("def program(")
    assert text.index("sin") < text.index("mul")
    assert lowered.compile().as_text() == text


def test_jit_stages_cost_grows_with_the_program() -> None:
    def cost(n: int) -> Any:
        def f(x: Any) -> Any:
            for _ in range(n):
                x = ops.sin(x)
            return x

        return jit(f).lower(np.ones(2)).cost_analysis()

    assert cost(7) == {"equations": 7}
    compiled = jit(ops.sin).lower(np.ones(2)).compile()
    assert compiled.cost_analysis() == {"equations": 1}
    assert compiled.memory_analysis() is None


def test_jit_stages_compiled_call_omits_static_arguments() -> None:
    compiled = jit(lambda x, n: x * n, static_argnums=1).lower(np.ones(2), 3).compile()
    np.testing.assert_array_equal(compiled(np.ones(2)), [3.0, 3.0])
    with pytest.raises(ArgumentTypeError, match="leave static arguments out"):
        compiled(np.ones(2), 3)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((np.ones(4),), r"expected arguments of types f64\[3\], got f64\[4\]"),
        ((np.ones(3, np.float32),), r"got f32\[3\]"),
        ((1.0,), r"got ~f64\[\]"),
        (((np.ones(3),),), "expected arguments of the tree"),
        ((), "expected arguments of the tree"),
        (("text",), "got 'text' of type str at argument 0"),
    ],
)
def test_jit_stages_compiled_refuses_other_types(args: Any, words: str) -> None:
    """A compiled function takes only the types that it was compiled for."""
    compiled = jit(lambda x: x).lower(np.ones(3)).compile()
    with pytest.raises(TypeError, match=words) as caught:
        compiled(*args)
    assert str(caught.value).startswith(f"{__file__}:")


def test_jit_stages_unknown_backend_names_those_that_there_are() -> None:
    with pytest.raises(ArgumentValueError, match=r"backend: expected one of .*numpy.*, got 'quantum'"):
        jit_by(lambda x: x, backend="quantum")(1.0)


def test_jit_stages_default_backend_can_be_chosen_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    get_backend.cache_clear()  # type: ignore[attr-defined]
    monkeypatch.setenv("LAWFUL_BACKEND", "numpy")
    try:
        assert get_backend().name == "numpy"
    finally:
        get_backend.cache_clear()  # type: ignore[attr-defined]


def test_jit_stages_registered_backend_is_found_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    class Registered:
        name = "registered"
        platform = "cpu"

        def lower(self, closed: object, *, name: str, donated: object = ()) -> object:
            return get_backend("numpy").lower(closed, name=name, donated=())  # type: ignore[arg-type]

    def search() -> None:
        raise AssertionError("the entry points are searched")

    monkeypatch.setattr("lawful.staging._backends._registered", {"numpy": get_backend("numpy")})
    monkeypatch.setattr("lawful.staging._backends._installed", search)
    backend = Registered()
    try:
        register_backend(backend)  # type: ignore[arg-type]
        assert get_backend("registered") is backend
        assert jit_by(lambda x: x + 1.0, backend="registered")(1.0) == 2.0
    finally:
        get_backend.cache_clear()  # type: ignore[attr-defined]


def test_jit_stages_donated_arguments_are_named_by_their_leaves() -> None:
    traced = jit(lambda x, y, z: (x, y, z), donate_argnums=1, donate_argnames="z").trace(1.0, [2.0, 3.0], z={"a": 4.0})
    assert traced.donated == (1, 2, 3)
    traced = jit(lambda n, x, y: (x, y), static_argnums=0, donate_argnums=(1,)).trace("s", (1.0, 2.0), 3.0)
    assert traced.donated == (0, 1)
    assert jit(lambda x, y: y, donate_argnums=-1).trace(1.0, 2.0).donated == (1,)


def test_jit_stages_numpy_backend_ignores_donation() -> None:
    x = np.ones(3)
    y = jit(lambda x: x + 1.0, donate_argnums=0)(x)
    np.testing.assert_array_equal(x, np.ones(3))
    np.testing.assert_array_equal(y, np.full(3, 2.0))


def test_jit_stages_numpy_backend_refuses_options() -> None:
    lowered = jit_by(lambda x: x + 1.0, backend="numpy").lower(1.0)
    for none in (None, {}):
        assert lowered.compile(compiler_options=none)(1.0) == 2.0
    with pytest.raises(ArgumentValueError, match=r"no compiler_options, .* got {'fast': True}; leave them out"):
        lowered.compile({"fast": True})


def test_stages_say_what_was_traced() -> None:
    def f(x: Any, n: int, *, y: Any) -> Any:
        return {"out": x["a"] * y, "n": x["b"]}

    g = jit(f, static_argnums=1, donate_argnums=0)
    traced = g.trace({"a": np.ones(3), "b": 2}, 5, y=2.0)
    lowered = traced.lower()
    for stage in (lowered, lowered.compile()):
        (x,), names = stage.args_info
        assert (x["a"].shape, x["a"].dtype, x["a"].donated) == ((3,), np.dtype(np.float64), True)
        assert (names["y"].shape, names["y"].donated) == ((), False)
        assert stage.args_info == traced.args_info
        assert stage.in_tree == traced.in_tree == tree.structure(stage.in_avals)
        assert tree.leaves(stage.in_avals) == traced.jaxpr.in_avals
        assert stage.donate_argnums == (0, 1)
        assert (stage.out_tree, stage.out_info) == (traced.out_tree, traced.out_info)


def test_lowered_dialect_of_the_numpy_backend() -> None:
    lowered = jit_by(ops.sin, backend="numpy").lower(1.0)
    assert lowered.as_text() == lowered.as_text("python") == lowered.compiler_ir()
    with pytest.raises(ArgumentValueError, match=r"expected python as dialect, .* got 'hlo'; leave it out"):
        lowered.as_text("hlo")


@pytest.mark.parametrize("platforms", [None, ("cpu",), ["cpu"], ("cpu", "cpu")])
def test_traced_lower_platform_of_the_backend(platforms: Any) -> None:
    lowered = jit(ops.sin).trace(1.0).lower(lowering_platforms=platforms)
    assert lowered.as_text() == jit(ops.sin).lower(1.0).as_text()
    assert lowered.compile()(1.0) == np.sin(1.0)


@pytest.mark.parametrize("platforms", [("tpu",), ("cpu", "cuda"), ()])
def test_traced_lower_platform_of_no_backend_error(platforms: Any) -> None:
    words = r"lower: expected lowering_platforms of backend 'numpy', which has 'cpu' alone, got \("
    with pytest.raises(ArgumentValueError, match=words):
        jit(ops.sin).trace(1.0).lower(lowering_platforms=platforms)


@pytest.mark.parametrize("platforms", ["cpu", {"cpu"}, (1,)])
def test_traced_lower_platforms_of_no_names_error(platforms: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"as a tuple of names, got .*; write \('cpu',\)"):
        jit(ops.sin).trace(1.0).lower(lowering_platforms=platforms)
