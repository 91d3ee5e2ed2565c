"""Random well-typed jaxprs, as data, over toy primitives: what the tests of this folder draw from.

Test files cannot import each other, so all of it is one fixture, ``toy``.
"""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from lawful.core import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Literal,
    Primitive,
    ShapedArray,
    Var,
    float0,
    supported_dtypes,
    user_source,
)

DTYPES = (*supported_dtypes, float0)
WEAK = {np.dtype(dtype) for dtype in (bool, int, float, complex)}

# Primitives. Their names begin with toy, because the parser looks names up in a table that all tests share.

negate_p = Primitive("toy_negate")
combine_p = Primitive("toy-combine")
convert_p = Primitive("toy_convert")
make_p = Primitive("toy_make")
settings_p = Primitive("toy settings")  # a name that has to be quoted
split_p = Primitive("toy_split", multiple_results=True)
mark_p = Primitive("toy_mark", multiple_results=True)
call_p = Primitive("toy_call", multiple_results=True)
branch_p = Primitive("toy_branch", multiple_results=True)


def require(condition: bool, message: str) -> None:
    if not condition:
        raise TypeError(message)


@negate_p.def_abstract_eval
def negate_type(x: ShapedArray) -> ShapedArray:
    return x.update(weak_type=False)


@combine_p.def_abstract_eval
def combine_type(x: ShapedArray, y: ShapedArray) -> ShapedArray:
    require(x == y, "operands of one type")
    return x


@convert_p.def_abstract_eval
def convert_type(x: ShapedArray, *, new_dtype: np.dtype[Any]) -> ShapedArray:
    return ShapedArray(x.shape, new_dtype)


@make_p.def_abstract_eval
def make_type(*, aval: ShapedArray) -> ShapedArray:
    return aval


@settings_p.def_abstract_eval
def settings_type(x: ShapedArray, **settings: Any) -> ShapedArray:
    return x


@split_p.def_abstract_eval
def split_type(x: ShapedArray, *, parts: int) -> list[ShapedArray]:
    return [x] * parts


@mark_p.def_abstract_eval
def mark_type(*xs: ShapedArray) -> list[ShapedArray]:
    return []


@call_p.def_abstract_eval
def call_type(*xs: ShapedArray, jaxpr: ClosedJaxpr, name: str) -> list[ShapedArray]:
    require(list(xs) == jaxpr.in_avals, "operands of the types of the inputs")
    return jaxpr.out_avals


@branch_p.def_abstract_eval
def branch_type(index: ShapedArray, *xs: ShapedArray, branches: tuple[ClosedJaxpr, ...]) -> list[ShapedArray]:
    for branch in branches:
        require(list(xs) == branch.in_avals, "operands of the types of the inputs")
        require(branch.out_avals == branches[0].out_avals, "branches of one type")
    return branches[0].out_avals


# Values


def scalar_of_bits(dtype: np.dtype[Any], bits: int) -> Any:
    """The NumPy scalar of a dtype with these bits, as many of them as it has."""
    if dtype == float0:
        return np.zeros((), float0)[()]
    if dtype == np.bool_:
        return np.bool_(bits % 2)
    data = (bits % 2 ** (8 * dtype.itemsize)).to_bytes(dtype.itemsize, "little")
    return np.frombuffer(data, dtype)[0]


def scalars(dtype: np.dtype[Any]) -> st.SearchStrategy[Any]:
    """NumPy scalars of all bits, the strange ones more often."""
    width = 8 * dtype.itemsize
    ones = 2**width - 1
    strange = {0, 1, ones, ones >> 1, 1 << max(width - 1, 0)}
    if dtype.kind not in "Vbiuc":
        with np.errstate(invalid="ignore", over="ignore"):
            strange |= {
                int(np.array(x, dtype).view(f"u{dtype.itemsize}"))
                for x in (1.0, -2.5, 0.1, np.inf, -np.inf, np.nan, 1e-7, 3e4)
            }
    return st.one_of(st.sampled_from(sorted(strange)), st.integers(0, ones)).map(
        lambda bits: scalar_of_bits(dtype, bits)
    )


shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)
avals = st.one_of(
    st.builds(ShapedArray, shapes, st.sampled_from(DTYPES)),
    st.builds(ShapedArray, st.just(()), st.sampled_from(DTYPES)),
    st.builds(ShapedArray, st.just(()), st.sampled_from(sorted(WEAK, key=str)), st.just(True)),
)


def literals(aval: ShapedArray) -> st.SearchStrategy[Literal]:
    values = scalars(aval.dtype)
    return (values.map(lambda x: x.item()) if aval.weak_type else values).map(Literal)


words = st.one_of(
    st.text(max_size=6),
    st.sampled_from(["f", "in", "let", "None", "True", "nan", "inf", "float64", "float0", "<lambda>", "a-b", "True-x"]),
    st.sampled_from(["it's", 'say "no"', "two\nlines", "\\", "@f", "1", "", "f64[3]", "_", "\x1e", "\u2028", "é"]),
)
python_numbers = st.one_of(
    st.booleans(),
    st.integers(),
    st.integers(-(10**40), 10**40),
    scalars(np.dtype(float)).map(float),
    scalars(np.dtype(complex)).map(complex),
)
settings_values = st.recursive(
    st.one_of(
        st.none(),
        python_numbers,
        words,
        st.sampled_from(DTYPES),
        avals,
        st.sampled_from(DTYPES).flatmap(scalars),
        st.builds(slice, python_numbers | st.none(), st.none(), st.integers() | st.none()),
    ),
    lambda values: st.lists(values, max_size=3) | st.lists(values, max_size=3).map(tuple),
    max_leaves=6,
)


# Programs


class Builder:
    """A jaxpr under construction."""

    def __init__(self, draw: Any, pool: list[ClosedJaxpr], depth: int) -> None:
        self.draw = draw
        self.pool = pool
        self.depth = depth
        self.env: list[Var] = []
        self.eqns: list[JaxprEqn] = []

    def bind(self, primitive: Primitive, invars: Sequence[Any], **params: Any) -> list[Var]:
        out = primitive.rule("abstract_eval")(*(atom.aval for atom in invars), **params)
        outvars = [Var(aval) for aval in (out if primitive.multiple_results else [out])]
        source = user_source() if self.draw(st.booleans()) else None
        self.eqns.append(JaxprEqn(primitive, tuple(invars), tuple(outvars), params, source))
        self.env += outvars
        return outvars

    def any_atom(self) -> Any:
        if self.env and self.draw(st.integers(0, 3)):
            return self.draw(st.sampled_from(self.env))
        aval = self.draw(avals)
        return self.draw(literals(aval)) if not aval.shape else self.atom_of(aval)

    def atom_of(self, aval: ShapedArray) -> Any:
        candidates = [var for var in self.env if var.aval == aval]
        if candidates and self.draw(st.integers(0, 3)):
            return self.draw(st.sampled_from(candidates))
        if not aval.shape and self.draw(st.booleans()):
            return self.draw(literals(aval))
        return self.bind(make_p, [], aval=aval)[0]

    def sub_jaxpr(self) -> ClosedJaxpr:
        if self.pool and self.draw(st.booleans()):
            return self.draw(st.sampled_from(self.pool))
        jaxpr = ClosedJaxpr(self.draw(jaxprs(self.pool, self.depth - 1)))
        self.pool.append(jaxpr)
        return jaxpr

    def equation(self) -> None:
        kinds = ["negate", "combine", "convert", "settings", "split", "mark", *["call", "branch"] * (self.depth > 0)]
        match self.draw(st.sampled_from(kinds)):
            case "negate":
                self.bind(negate_p, [self.any_atom()])
            case "combine":
                x = self.any_atom()
                self.bind(combine_p, [x, self.atom_of(x.aval)])
            case "convert":
                self.bind(convert_p, [self.any_atom()], new_dtype=self.draw(st.sampled_from(DTYPES)))
            case "settings":
                names = st.sampled_from(["axis", "name", "in", "nan", "b", "float64"])
                self.bind(
                    settings_p, [self.any_atom()], **self.draw(st.dictionaries(names, settings_values, max_size=3))
                )
            case "split":
                self.bind(split_p, [self.any_atom()], parts=self.draw(st.integers(0, 3)))
            case "mark":
                self.bind(mark_p, [self.any_atom() for _ in range(self.draw(st.integers(0, 2)))])
            case "call":
                jaxpr = self.sub_jaxpr()
                self.bind(call_p, list(map(self.atom_of, jaxpr.in_avals)), jaxpr=jaxpr, name=self.draw(words))
            case "branch":
                jaxpr = self.sub_jaxpr()
                same_type = jaxprs(self.pool, self.depth - 1, jaxpr.in_avals, jaxpr.out_avals)
                others = st.lists(st.just(jaxpr) | same_type.map(ClosedJaxpr), max_size=2)
                index = self.atom_of(ShapedArray((), "int32"))
                operands = list(map(self.atom_of, jaxpr.in_avals))
                self.bind(branch_p, [index, *operands], branches=(jaxpr, *self.draw(others)))


@st.composite
def jaxprs(
    draw: Any,
    pool: list[ClosedJaxpr] | None = None,
    depth: int = 2,
    in_avals: Sequence[ShapedArray] | None = None,
    out_avals: Sequence[ShapedArray] | None = None,
    max_consts: int = 0,
) -> Jaxpr:
    """Well-typed jaxprs: shared and nested ones, unused results, no inputs, no outputs, all dtypes."""
    builder = Builder(draw, [] if pool is None else pool, depth)
    consts = [Var(aval) for aval in draw(st.lists(avals, max_size=max_consts))]
    invars = [Var(aval) for aval in (draw(st.lists(avals, max_size=3)) if in_avals is None else in_avals)]
    builder.env += consts + invars
    for _ in range(draw(st.integers(0, 5))):
        builder.equation()
    if out_avals is None:
        outvars = [builder.any_atom() for _ in range(draw(st.integers(0, 3)))]
    else:
        outvars = [builder.atom_of(aval) for aval in out_avals]
    name = draw(st.sampled_from(["", "f", "f_1", "<lambda>", "g-2"]))
    return Jaxpr(tuple(consts), tuple(invars), tuple(builder.eqns), tuple(outvars), name=name)


def const_of(aval: ShapedArray) -> Any:
    """A constant of a type."""
    zero = np.zeros(aval.shape, aval.dtype)
    return zero.item() if aval.weak_type else zero


def closed(jaxpr: Jaxpr) -> ClosedJaxpr:
    return ClosedJaxpr(jaxpr, [const_of(var.aval) for var in jaxpr.constvars])


# Changes


def renamed(jaxpr: Jaxpr) -> Jaxpr:
    """A copy with variables, and jaxprs within, of its own."""
    new: dict[Var, Var] = {}

    def rename(atoms: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(new.setdefault(x, Var(x.aval)) if isinstance(x, Var) else x for x in atoms)

    def copy(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(copy, value))
        return ClosedJaxpr(renamed(value.jaxpr), value.consts) if isinstance(value, ClosedJaxpr) else value

    eqns = tuple(
        JaxprEqn(eqn.primitive, rename(eqn.invars), rename(eqn.outvars), {k: copy(v) for k, v in eqn.params.items()})
        for eqn in jaxpr.eqns
    )
    return Jaxpr(rename(jaxpr.constvars), rename(jaxpr.invars), eqns, rename(jaxpr.outvars))


def with_eqn(jaxpr: Jaxpr, index: int, *eqns: JaxprEqn) -> Jaxpr:
    """A copy with other equations in the place of one."""
    return jaxpr.replace(eqns=(*jaxpr.eqns[:index], *eqns, *jaxpr.eqns[index + 1 :]))


def nested_variants(jaxpr: Jaxpr, variants: Any) -> Iterator[tuple[str, Jaxpr]]:
    """Copies in which one jaxpr within is replaced by one of its variants."""
    for index, eqn in enumerate(jaxpr.eqns):
        for name, value in eqn.params.items():
            items = value if isinstance(value, tuple) else [value]
            for position, item in enumerate(items):
                if not isinstance(item, ClosedJaxpr):
                    continue
                for kind, variant in variants(item.jaxpr):
                    new: Any = closed(variant)
                    if isinstance(value, tuple):
                        new = (*value[:position], new, *value[position + 1 :])
                    yield f"{kind}, nested", with_eqn(jaxpr, index, eqn.replace(params={**eqn.params, name: new}))


class Toy(SimpleNamespace):
    def __repr__(self) -> str:
        return "toy"


@pytest.fixture(scope="session")
def toy() -> Toy:
    """Strategies, primitives and changes."""
    return Toy(**globals())
