"""Debug prints: the same lines as in JAX, equally often, for a table of programs, evaluated and compiled.

JAX does not define the order of prints without ``ordered``, and reorders them when compiled. So the order of lines is
compared where JAX evaluates, and where it promises the order.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest

import lawful.numpy
from lawful import autodiff, batching, control_flow, custom_rules, debug, staging
from lawful.taylor import jet

TRANSFORMATIONS = (
    "checkpoint", "grad", "hessian", "jacfwd", "jacrev", "jvp", "linear_transpose", "linearize", "value_and_grad",
    "vjp",
)  # fmt: skip
CUSTOM_RULES = ("custom_jvp", "custom_vjp")
CONTROL_FLOW = ("cond", "switch", "scan", "while_loop", "fori_loop", "map")
POLICIES = ("everything_saveable", "dots_saveable", "nothing_saveable")

OURS = SimpleNamespace(
    np=lawful.numpy, print=debug.print, callback=debug.callback, jit=staging.jit, vmap=batching.vmap,
    eval_shape=staging.eval_shape, make_jaxpr=staging.make_jaxpr, policies=autodiff.checkpoint_policies,
    **{name: getattr(autodiff, name) for name in TRANSFORMATIONS},
    **{name: getattr(custom_rules, name) for name in CUSTOM_RULES},
    **{name: getattr(control_flow, name) for name in CONTROL_FLOW},
)  # fmt: skip
THEIRS = SimpleNamespace(
    np=jax.numpy, print=jax.debug.print, callback=jax.debug.callback, jit=jax.jit, vmap=jax.vmap,
    eval_shape=jax.eval_shape, make_jaxpr=jax.make_jaxpr, policies=jax.checkpoint_policies,
    **{name: getattr(jax, name) for name in (*TRANSFORMATIONS, *CUSTOM_RULES)},
    **{name: getattr(jax.lax, name) for name in CONTROL_FLOW},
)  # fmt: skip

X = np.float64(2.0)
XS = np.array([0.0, 1.0, 2.0])
YS = np.array([10.0, 11.0])


def said(lib, fmt, *values, then):
    lib.print(fmt, *values)
    return then


def square(lib):
    return lambda x: said(lib, "x={}", x, then=x * x)


def two(lib):
    return lambda x: said(lib, "a {}", x, then=said(lib, "b {}", x * 2, then=x + 1.0))


def scanned(lib, body, **options):
    return lambda x: lib.scan(body, x, XS, **options)


def step(lib):
    return lambda carry, y: said(lib, "{} {}", carry, y, then=(carry + y, carry * 0.5))


def chosen(lib):
    return lambda x: lib.cond(
        x > 1, lambda x: said(lib, "true {}", x, then=x * x), lambda x: said(lib, "false {}", x, then=2 * x), x
    )


def doubled_until(lib, limit):
    return lambda x: lib.while_loop(lambda c: c < limit, lambda c: said(lib, "iteration {}", c, then=c * 2), x)


def with_jvp(lib):
    @lib.custom_jvp
    def f(x):
        return said(lib, "function {}", x, then=x * 2.0)

    f.defjvp(lambda xs, dots: said(lib, "rule {}", xs[0], then=(xs[0] * 2.0, dots[0] * 2.0)))
    return f


def with_jvp_of_tangents(lib):
    @lib.custom_jvp
    def f(x):
        return x * 2.0

    f.defjvp(lambda xs, dots: said(lib, "tangent {}", dots[0], then=(xs[0] * 2.0, dots[0] * 2.0)))
    return f


def with_vjp(lib):
    @lib.custom_vjp
    def f(x):
        return said(lib, "function {}", x, then=x * 2.0)

    f.defvjp(
        lambda x: said(lib, "forwards {}", x, then=(x * 2.0, x)),
        lambda x, ct: said(lib, "backwards {} {}", x, ct, then=(ct * 2.0,)),
    )
    return f


def branches(lib):
    return [lambda x, k=k: said(lib, f"branch {k} {{}}", x, then=x * k) for k in range(3)]


def checkpointed(lib, f, **options):
    return lib.checkpoint(f, **options)


# For a library, the function and its arguments.
PROGRAMS: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "call": lambda lib: (square(lib), X),
    "two prints": lambda lib: (two(lib), X),
    "no arguments": lambda lib: (lambda x: said(lib, "hello", then=x), X),
    "strings and numbers": lambda lib: (lambda x: said(lib, "{} {} {} {}", 3, 0.5, "text", True, then=x), X),
    "array": lambda lib: (lambda x: said(lib, "{} {:.2f}", x, x[1], then=x), XS),
    "tree": lambda lib: (lambda x: said(lib, "{0[a]} {0[b][0]}", {"a": x, "b": (x,)}, then=x), XS),
    "dtypes": lambda lib: (
        lambda x: said(lib, "{} {} {} {}", x > 1, x.astype("int32"), x.astype("float32"), x + 1j, then=x), XS
    ),
    "result not used": lambda lib: (lambda x: said(lib, "{}", square(lib)(x), then=1.0), X),
    "print of a constant": lambda lib: (lambda x: said(lib, "{}", XS * 2, then=x), X),
    # Differentiation
    "jvp": lambda lib: (lambda x: lib.jvp(square(lib), (x,), (1.0,)), X),
    "grad": lambda lib: (lib.grad(square(lib)), X),
    "value_and_grad": lambda lib: (lib.value_and_grad(square(lib)), X),
    "grad of an argument not printed": lambda lib: (
        lib.grad(lambda x, y: said(lib, "{}", y, then=x * y)), X, np.float64(3.0)
    ),
    "linearize": lambda lib: (lambda x: [lib.linearize(square(lib), x)[1](t) for t in (1.0, 2.0)], X),
    "vjp": lambda lib: (lambda x: [lib.vjp(square(lib), x)[1](t) for t in (1.0, 2.0)], X),
    "hessian": lambda lib: (lib.hessian(square(lib)), X),
    "grad of grad": lambda lib: (lib.grad(lib.grad(square(lib))), X),
    "jacfwd": lambda lib: (lib.jacfwd(square(lib)), XS),
    "jacrev": lambda lib: (lib.jacrev(square(lib)), XS),
    "grad of jit": lambda lib: (lib.grad(lib.jit(square(lib))), X),
    "linear_transpose": lambda lib: (
        lambda x: lib.linear_transpose(lambda y: said(lib, "{}", y, then=2 * y), x)(1.0), X
    ),
    "custom_jvp": lambda lib: (with_jvp(lib), X),
    "jvp of custom_jvp": lambda lib: (lambda x: lib.jvp(with_jvp(lib), (x,), (1.0,)), X),
    "grad of custom_jvp": lambda lib: (lib.grad(with_jvp(lib)), X),
    "jvp of a rule that prints tangents": lambda lib: (lambda x: lib.jvp(with_jvp_of_tangents(lib), (x,), (1.0,)), X),
    "grad of a rule that prints tangents": lambda lib: (lib.grad(with_jvp_of_tangents(lib)), X),
    "custom_vjp": lambda lib: (with_vjp(lib), X),
    "grad of custom_vjp": lambda lib: (lib.grad(with_vjp(lib)), X),
    # Batching
    "vmap": lambda lib: (lib.vmap(two(lib)), XS),
    "vmap of a print of nothing mapped": lambda lib: (lib.vmap(lambda x: said(lib, "hello", then=x)), XS),
    "vmap with something shared": lambda lib: (
        lib.vmap(lambda x, y: said(lib, "{} {}", x, y, then=x), in_axes=(0, None)), XS, X
    ),
    "vmap over the last dimension": lambda lib: (lib.vmap(square(lib), in_axes=1), np.arange(6.0).reshape(2, 3)),
    "vmap of grad": lambda lib: (lib.vmap(lib.grad(square(lib))), XS),
    "grad of vmap": lambda lib: (lib.grad(lambda x: lib.vmap(square(lib))(x).sum()), XS),
    "vmap of jit": lambda lib: (lib.vmap(lib.jit(two(lib))), XS),
    # Choices
    "cond taken": lambda lib: (chosen(lib), X),
    "cond not taken": lambda lib: (chosen(lib), np.float64(0.5)),
    "jvp of cond": lambda lib: (lambda x: lib.jvp(chosen(lib), (x,), (1.0,)), X),
    "grad of cond": lambda lib: (lib.grad(chosen(lib)), X),
    "switch": lambda lib: (lambda x: [lib.switch(i, branches(lib), x) for i in (0, 2, 1, 7)], X),
    "vmap of cond of what is shared": lambda lib: (
        lib.vmap(lambda p, x: lib.cond(p, square(lib), two(lib), x), in_axes=(None, 0)), True, XS
    ),
    "result of cond not used": lambda lib: (lambda x: said(lib, "after", then=(chosen(lib)(x), x)[1]), X),
    # Loops
    "scan": lambda lib: (scanned(lib, step(lib)), X),
    "scan in reverse": lambda lib: (scanned(lib, step(lib), reverse=True), X),
    "scan unrolled": lambda lib: (scanned(lib, step(lib), unroll=2), X),
    "scan that prints a constant": lambda lib: (
        lambda x: lib.scan(lambda c, y: said(lib, "{}", x, then=(c + y, None)), x, XS), X
    ),
    "scan of nothing": lambda lib: (lambda x: lib.scan(step(lib), x, XS[:0]), X),
    "result of scan not used": lambda lib: (lambda x: (scanned(lib, step(lib))(x), x)[1], X),
    "jvp of scan": lambda lib: (lambda x: lib.jvp(scanned(lib, step(lib)), (x,), (1.0,)), X),
    "grad of scan": lambda lib: (lib.grad(lambda x: scanned(lib, step(lib))(x)[0]), X),
    "vmap of scan": lambda lib: (lib.vmap(scanned(lib, step(lib))), XS),
    "while_loop": lambda lib: (doubled_until(lib, 10), X),
    "while_loop without an iteration": lambda lib: (doubled_until(lib, 1), X),
    "jvp of while_loop": lambda lib: (lambda x: lib.jvp(doubled_until(lib, 10), (x,), (1.0,)), X),
    "print in the predicate": lambda lib: (
        lambda x: lib.while_loop(
            lambda c: said(lib, "predicate {}", c, then=c < 10), lambda c: said(lib, "iteration {}", c, then=c * 2), x
        ), X
    ),
    "fori_loop": lambda lib: (lambda x: lib.fori_loop(0, 3, lambda i, c: said(lib, "{} {}", i, c, then=c * 2), x), X),
    "grad of fori_loop": lambda lib: (
        lib.grad(lambda x: lib.fori_loop(0, 3, lambda i, c: said(lib, "{} {}", i, c, then=c * c), x)), X
    ),
    "fori_loop to a traced end": lambda lib: (
        lambda n, x: lib.fori_loop(0, n, lambda i, c: said(lib, "{} {}", i, c, then=c * 2), x), np.int64(3), X
    ),
    "map": lambda lib: (lambda x: lib.map(square(lib), x), XS),
    "loops in loops": lambda lib: (
        lambda x: lib.fori_loop(
            0, 3, lambda i, c: said(lib, "{} {}", i, c, then=lib.scan(step(lib), c, XS)[0]), doubled_until(lib, 10)(x)
        ), X
    ),
    "cond in scan": lambda lib: (lambda x: lib.scan(lambda c, y: (chosen(lib)(c) + y, chosen(lib)(y)), x, XS), X),
    "grad of cond in scan": lambda lib: (
        lib.grad(lambda x: lib.scan(lambda c, y: (chosen(lib)(c) + y, c), x, XS)[0]), X
    ),
    # Compilation and rematerialization
    "jit called twice": lambda lib: (lambda x: lib.jit(square(lib))(x) + lib.jit(square(lib))(x + 1), X),
    "result of jit not used": lambda lib: (lambda x: (lib.jit(square(lib))(x), x)[1], X),
    "checkpoint": lambda lib: (checkpointed(lib, square(lib)), X),
    "grad of checkpoint": lambda lib: (
        lib.grad(lambda x: lib.np.sin(checkpointed(lib, lambda x: square(lib)(lib.np.sin(x)))(x))), X
    ),
    **{
        f"grad of checkpoint, {policy}": lambda lib, policy=policy: (
            lib.grad(lambda x: lib.np.sin(
                checkpointed(lib, lambda x: square(lib)(lib.np.sin(x)), policy=getattr(lib.policies, policy))(x)
            )), X
        )
        for policy in POLICIES
    },
    "grad of checkpoint in scan": lambda lib: (
        lib.grad(
            lambda x: lib.scan(lib.checkpoint(lambda c, y: said(lib, "{} {}", c, y, then=(c * c + y, c))), x, XS)[0]
        ), X
    ),
    "vmap of grad of checkpoint": lambda lib: (
        lib.vmap(lib.grad(lib.checkpoint(lambda x: square(lib)(lib.np.sin(x))))), XS
    ),
}  # fmt: skip


def run(function, *args):
    jax.block_until_ready(function(*args))
    jax.effects_barrier()


@pytest.fixture
def lines_of(capsys):
    """Returns the lines that a function prints."""

    def lines_of(function, *args):
        capsys.readouterr()
        run(function, *args)
        return capsys.readouterr().out.splitlines()

    return lines_of


def ordered(lib):
    return SimpleNamespace(**{**vars(lib), "print": lib.print(ordered=True)})


#: Programs whose prints JAX cannot order, or orders differently when compiled.
_NOT_ORDERED = ("checkpoint", "jvp of custom_jvp", "jvp of a rule that prints tangents")


@pytest.mark.parametrize("name", PROGRAMS)
def test_debug_print_program_prints_what_it_prints_in_jax(name, lines_of) -> None:
    in_order = not any(part in name for part in _NOT_ORDERED)
    function, *args = PROGRAMS[name](OURS)
    theirs, *_ = PROGRAMS[name](ordered(THEIRS) if in_order else THEIRS)
    expected = lines_of(jax.jit(theirs), *args)
    lines = lines_of(function, *args)
    assert lines == expected if in_order else Counter(lines) == Counter(expected)
    for backend in ("numpy", "xla"):
        compiled = staging.jit(function, backend=backend)
        assert lines_of(compiled, *args) == lines
        assert lines_of(compiled, *args) == lines  # at each call
    ours, *_ = PROGRAMS[name](ordered(OURS))
    assert lines_of(staging.jit(ours), *args) == lines


@pytest.mark.parametrize("name", ["call", "grad of scan", "vmap of cond of what is shared", "grad of checkpoint"])
def test_debug_print_evaluated_by_both(name, lines_of) -> None:
    function, *args = PROGRAMS[name](OURS)
    expected, *_ = PROGRAMS[name](THEIRS)
    assert Counter(lines_of(function, *args)) == Counter(lines_of(expected, *args))


@pytest.mark.parametrize("lib", [OURS, THEIRS], ids=["lawful", "jax"])
def test_debug_print_what_computes_nothing_prints_nothing(lib, capsys) -> None:
    lib.eval_shape(square(lib), X)
    lib.make_jaxpr(lib.grad(square(lib)))(X)
    lib.jit(square(lib)).lower(X)
    assert capsys.readouterr().out == ""


# Programs for which lawful obeys the law of the transformation, and JAX does not


BY_EACH_ELEMENT = {
    "cond": (chosen, XS, ["false 0.0", "false 1.0", "true 2.0"]),
    "switch": (
        lambda lib: lambda x: lib.switch(x.astype("int64"), branches(lib), x), XS,
        ["branch 0 0.0", "branch 1 1.0", "branch 2 2.0"],
    ),
    "while_loop": (
        lambda lib: doubled_until(lib, 10), XS + 2,
        [f"iteration {x}" for x in (2.0, 4.0, 8.0, 3.0, 6.0, 4.0, 8.0)],
    ),
    "the predicate of while_loop": (
        lambda lib: lambda x: lib.while_loop(lambda c: said(lib, "p {}", c, then=c < 3), lambda c: c + 1, x), XS + 1,
        ["p 1.0", "p 2.0", "p 3.0", "p 2.0", "p 3.0", "p 3.0"],
    ),
    "cond in scan": (
        lambda lib: lambda x: lib.scan(lambda c, y: (chosen(lib)(c), None), x, XS[:2])[0], XS[1:],
        ["false 1.0", "true 2.0", "true 2.0", "true 4.0"],
    ),
    "grad of cond": (lambda lib: lib.grad(chosen(lib)), XS, ["false 0.0", "false 1.0", "true 2.0"]),
}  # fmt: skip


@pytest.mark.parametrize("transform", ["vmap", "jit of vmap", "vmap of jit", "numpy"])
@pytest.mark.parametrize("name", BY_EACH_ELEMENT)
def test_vmap_debug_print_of_each_element_as_alone(name, transform, lines_of) -> None:
    """In jax both branches print for all elements, and a loop prints for those that have stopped."""
    make, xs, expected = BY_EACH_ELEMENT[name]
    mapped = {
        "vmap": lambda f: batching.vmap(f),
        "jit of vmap": lambda f: staging.jit(batching.vmap(f)),
        "vmap of jit": lambda f: batching.vmap(staging.jit(f)),
        "numpy": lambda f: staging.jit(batching.vmap(f), backend="numpy"),
    }[transform]
    lines = lines_of(mapped(make(OURS)), xs)
    assert Counter(lines) == Counter(expected)
    if name != "cond in scan":  # whose iterations come first
        assert lines == expected
    np.testing.assert_array_equal(mapped(make(OURS))(xs), [make(OURS)(x) for x in xs])


@pytest.mark.parametrize("compiled", [lambda f: f, staging.jit, partial(staging.jit, backend="numpy")])
def test_debug_print_scan_grad_prints_invariant_each_iteration(compiled, lines_of) -> None:
    """In jax it is moved out of the loop, and printed once."""

    def f(x):
        return OURS.scan(lambda c, y: said(OURS, "{}", x, then=(c * x, c)), x, XS)[0]

    assert lines_of(compiled(OURS.grad(f)), X) == ["2.0"] * 3


@pytest.mark.parametrize("compiled", [lambda f: f, staging.jit, partial(staging.jit, backend="numpy")])
def test_debug_print_outer_batch_comes_first(compiled, lines_of) -> None:
    """In jax it comes last where it is evaluated, and first where it is compiled."""

    def pair(x, y):
        return said(OURS, "{} {}", x, y, then=x)

    f = batching.vmap(batching.vmap(pair, in_axes=(0, None)), in_axes=(None, 0))
    assert lines_of(compiled(f), XS, YS) == [f"{x} {y}" for y in YS for x in XS]


def test_while_grad_debug_print_once_for_each_iteration(lines_of) -> None:
    """There is no reverse mode of `while_loop` in jax; here iterations are run again, and do not print again."""

    def f(x):
        return OURS.while_loop(lambda c: c < 10, lambda c: said(OURS, "iteration {}", c, then=c * x), x)

    expected = ["iteration 2.0", "iteration 4.0", "iteration 8.0"]
    assert lines_of(OURS.grad(f), X) == lines_of(staging.jit(OURS.grad(f)), X) == expected


@pytest.mark.parametrize("compiled", [lambda f: f, staging.jit])
def test_debug_print_taylor_series_prints_the_value_once(compiled, lines_of) -> None:
    def f(x):
        return jet(square(OURS), (x,), ((1.0, 0.0, 0.0),))

    assert lines_of(compiled(f), X) == ["x=2.0"]
