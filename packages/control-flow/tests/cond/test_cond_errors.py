"""Errors of `cond` and `switch` for predicates, branches and results that do not fit."""

import re
from functools import partial
from typing import Any

import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import grad
from lawful.batching import vmap
from lawful.control_flow import cond, switch
from lawful.core import (
    ArgumentTypeError,
    ArgumentValueError,
    NonArrayError,
    TracerBoolConversionError,
    UnexpectedTracerError,
)
from lawful.staging import jit as jit_by

jit = partial(jit_by, backend="numpy")


def require(error: type[Exception], words: str, call: Any) -> None:
    with pytest.raises(error, match=re.escape(words)) as caught:
        call()
    assert str(caught.value).startswith(f"{__file__}:")
    assert cond(True, lambda x: x + 1.0, lambda x: x, 1.0) == 2.0, "and the system is usable afterwards"


@pytest.mark.parametrize(
    ("pred", "got"),
    [(np.ones(2), "f64[2]"), (np.array([True]), "bool[1]"), ("a", "str"), (None, "NoneType"), ([True], "list")],
)
def test_cond_error_predicate_not_scalar(pred: Any, got: str) -> None:
    require(
        ArgumentTypeError,
        f"cond: expected a boolean scalar as predicate, got {got}; reduce it with all or any, or use where",
        lambda: cond(pred, lambda: 1.0, lambda: 2.0),
    )


def test_cond_error_traced_predicate_not_scalar() -> None:
    for transform in (jit, lambda f: vmap(lambda x: f(x * np.ones(2)))):
        require(
            ArgumentTypeError,
            "cond: expected a boolean scalar as predicate, got bool[2]",
            lambda t=transform: t(lambda x: cond(x > 0, lambda: 1.0, lambda: 2.0))(np.ones(2)),
        )


@pytest.mark.parametrize(
    ("branches", "words"),
    [
        ((1.0, lambda: 1.0), "cond: expected a function as true_fun, got float; wrap it in a lambda"),
        ((lambda: 1.0, None), "cond: expected a function as false_fun, got NoneType; wrap it in a lambda"),
    ],
)
def test_cond_error_branch_not_callable(branches: Any, words: str) -> None:
    require(ArgumentTypeError, words, lambda: cond(True, *branches))


@pytest.mark.parametrize(
    ("true", "false", "words"),
    [
        (
            lambda x: {"a": x},
            lambda x: {"b": x},
            "got PyTreeDef({'b': *}) from false_fun and PyTreeDef({'a': *}) from true_fun (expected a dict with keys "
            "'b' at the root of the tree, got a dict with keys 'a' (missing 'b'; extra 'a')); return the same tree",
        ),
        (
            lambda x: {"a": (x, [x, x])},
            lambda x: {"a": (x, [x])},
            "got PyTreeDef({'a': (*, [*])}) from false_fun and PyTreeDef({'a': (*, [*, *])}) from true_fun (expected "
            "a list of length 1 at key path ['a'][1] of the tree, got a list of length 2)",
        ),
        (lambda x: {"a": [x]}, lambda x: {"a": x}, "a list of length 1 at key path ['a'] of the tree, got a leaf"),
        (lambda x: {"a": x}, lambda x: {"a": [x]}, "a list of length 1 at key path ['a'] of the tree, got a leaf"),
        (lambda x: x, lambda x: (x, x), "got PyTreeDef((*, *)) from false_fun and PyTreeDef(*) from true_fun"),
        (lambda x: None, lambda x: x, "got PyTreeDef(*) from false_fun and PyTreeDef(None) from true_fun"),
        (lambda x: [x], lambda x: (x,), "got PyTreeDef((*,)) from false_fun and PyTreeDef([*]) from true_fun"),
    ],
)
def test_cond_error_branches_differ_in_structure(true: Any, false: Any, words: str) -> None:
    require(ArgumentTypeError, words, lambda: cond(True, true, false, 1.0))
    require(ArgumentTypeError, words, lambda: jit(grad(lambda x: cond(x > 0, true, false, x)))(1.0))


@pytest.mark.parametrize(
    ("true", "false", "words"),
    [
        (lambda x: x, lambda x: x[:2], "f64[2] from false_fun and f64[3] from true_fun at result;"),
        (lambda x: x, lambda x: ops.convert_element_type(x, "float32"), "f32[3] from false_fun and f64[3] from"),
        (
            lambda x: {"k": [x, 1]},
            lambda x: {"k": [x, 1.0]},
            "f64[] from false_fun and i64[] from true_fun at result['k'][1]",
        ),
        (lambda x: (x, x > 0), lambda x: (x, x), "f64[3] from false_fun and bool[3] from true_fun at result[1];"),
        (lambda x: (x, x[0]), lambda x: (x[:1], x[:1]), "at result[0]; f64[1] from false_fun and f64[] from"),
    ],
)
def test_cond_error_branches_differ_in_shape_or_dtype(true: Any, false: Any, words: str) -> None:
    call = lambda: cond(True, true, false, np.ones(3))  # noqa: E731
    require(ArgumentTypeError, "cond: expected branches with results of one type, got ", call)
    require(ArgumentTypeError, words, call)
    require(ArgumentTypeError, "convert with astype or broadcast in one of them", call)


def test_switch_error_names_the_branch() -> None:
    same = lambda x: x  # noqa: E731
    require(
        ArgumentTypeError,
        "got f64[] from branch 0 and bool[] from branch 2 at result",
        lambda: switch(0, [same, same, lambda x: x > 0], 1.0),
    )
    require(
        ArgumentTypeError,
        "switch: expected branches with results of one structure, got PyTreeDef(*) from "
        "branch 0 and PyTreeDef((*,)) from branch 1",
        lambda: switch(0, [same, lambda x: (x,), same], 1.0),
    )


@pytest.mark.parametrize(
    ("index", "got"),
    [(True, "~bool[]"), (1.0, "~f64[]"), (np.array([1]), "i64[1]"), ("a", "str"), (None, "NoneType")],
)
def test_switch_error_index_not_integer(index: Any, got: str) -> None:
    require(
        ArgumentTypeError,
        f"switch: expected an integer scalar as index, got {got}; use cond for a boolean",
        lambda: switch(index, [lambda: 1.0, lambda: 2.0]),
    )


def test_switch_error_no_branches_or_not_callable() -> None:
    require(ArgumentValueError, "switch: expected at least one branch, got none", lambda: switch(0, []))
    require(
        ArgumentTypeError,
        "switch: expected functions as branches, got float as branch 1; wrap it in a lambda",
        lambda: switch(0, [lambda: 1.0, 2.0]),  # type: ignore[list-item]
    )


def test_cond_error_not_an_array() -> None:
    require(
        NonArrayError,
        "cond: expected arrays or numbers as arguments, got 'a' of type str at argument 0['k']",
        lambda: cond(True, lambda d: 1.0, lambda d: 2.0, {"k": "a"}),
    )
    require(
        NonArrayError,
        "at result['k']; return arrays, numbers, or trees of them",
        lambda: cond(True, lambda: {"k": "a"}, lambda: {"k": 1.0}),
    )


def test_cond_error_concrete_value_inside_a_branch() -> None:
    require(
        TracerBoolConversionError,
        "the abstract tracer ~bool[] of cond made at",
        lambda: cond(True, lambda x: x if x > 0 else -x, lambda x: x, 2.0),
    )


def test_cond_error_tracer_leaked_from_a_branch() -> None:
    kept: list[Any] = []
    cond(True, lambda x: (kept.append(x * 2.0), x)[1], lambda x: x, 1.0)
    require(UnexpectedTracerError, "of cond made at", lambda: kept[0] + 1.0)
    # Also if it leaks from one branch into the other.
    kept.clear()
    require(
        UnexpectedTracerError,
        "which has ended",
        lambda: cond(True, lambda x: kept[0] + x, lambda x: (kept.append(x * 1.0), x)[1], 1.0),
    )


def test_cond_exception_in_a_branch_propagates() -> None:
    raised = KeyError("mine")

    def fail(x: Any) -> Any:
        raise raised

    for transform in (lambda f: f, jit, grad, lambda f: vmap(f, axis_size=2, in_axes=None)):
        for branches in ((fail, lambda x: x), (lambda x: x, fail)):
            with pytest.raises(KeyError) as caught:
                transform(lambda x, b=branches: cond(x > 0, *b, x))(1.0)
            assert caught.value is raised


def test_cond_branch_with_wrong_signature() -> None:
    """A branch that takes other arguments raises Python's own TypeError."""
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        cond(True, lambda x: x, lambda x: x)
