"""``einsum`` is NumPy's: every syntax, drawn subscripts, dtypes, orders of multiplication, derivatives, errors."""

from typing import Any

import numpy
import pytest

import lawful.numpy as lnp
from lawful.autodiff import grad, jvp
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, ArgumentValueError, LawfulError
from lawful.staging import jit, make_jaxpr

generator = numpy.random.default_rng(0)
SIZES = dict(zip("abcdijkl", (2, 3, 2, 1, 3, 4, 2, 5), strict=True))


def arrays(text: str, dtype: Any = "float64", dots: tuple[int, ...] = (2, 3)) -> list[Any]:
    terms = text.partition("->")[0].replace(" ", "").split(",")
    shapes = []
    for term in terms:
        before, there, after = term.partition("...")
        shapes.append([SIZES[a] for a in before] + list(dots if there else ()) + [SIZES[a] for a in after])
    return [(10 * generator.normal(size=shape)).astype(dtype) for shape in shapes]


def check(text: str, operands: list[Any], **kwargs: Any) -> None:
    expected = numpy.einsum(text, *operands)
    for function in (
        lambda *xs: lnp.einsum(text, *xs, **kwargs),
        jit(lambda *xs: lnp.einsum(text, *xs, **kwargs)),
        jit(lambda *xs: numpy.einsum(text, *xs), backend="numpy"),
    ):
        got = function(*operands)
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        tolerance = {"f": 1e-10, "c": 1e-10}.get(expected.dtype.kind, 0) if expected.dtype.itemsize > 4 else 1e-3
        numpy.testing.assert_allclose(numpy.asarray(got), expected, rtol=tolerance, atol=tolerance)


TEXTS = (
    *(
        "ij,jk->ik",
        "ij,jk",
        "ij,jk->ki",
        "ij->ji",
        "ij->",
        "ij->j",
        "i,j->ij",
        "i,i->i",
        "i,i",
        "i,i->",
        ",->",
        "i,->i",
    ),
    *("ii->i", "ii->", "ii", "iij->ij", "iji->j", "iii->i", "iijj->ij", "ijij->ji", "ii,ij->j", "iij,jjk->ik"),
    *("ij,jk,kl->il", "ij,ij,ij->ij", "ab,bc,cd,da->", "ij,kl->ijkl", "ijk,kjl->il", "abc,abd->cd", "a,b,c,d->dcba"),
    *("...ij,...jk->...ik", "...i,...i", "i...->...i", "...->...", "i...j->j...", "...,...->...", "i...,...i"),
    *("ij, jk -> ik", "kl,ij->kj", "ba", "ji,jk"),
)


@pytest.mark.parametrize("text", TEXTS)
def test_einsum_every_syntax(text: str) -> None:
    check(text, arrays(text))


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int8", "int64", "uint8", "bool"])
@pytest.mark.parametrize("text", ["ij,jk->ik", "iij->j", "ij->", "i,i->i", "ij,jk,kl->il"])
def test_einsum_dtypes(text: str, dtype: str) -> None:
    check(text, arrays(text, dtype))


def test_einsum_mixed_dtypes_and_numbers() -> None:
    single = generator.normal(size=3).astype("float32")
    check("i,i", [single, numpy.arange(3)])
    check("i,i", [single, numpy.arange(3, dtype="int8")])
    check("i,->i", [single, 2.0])
    half = jit(lambda x: lnp.einsum("i,i", x, x))(numpy.ones(3, "float16"))
    assert half.dtype == "float16"
    assert half == 3


def test_einsum_drawn_subscripts() -> None:
    random = numpy.random.default_rng(1)
    for _ in range(40):
        letters = "abcij"
        count = random.integers(1, 5)
        terms = ["".join(random.choice(list(letters), random.integers(0, 4))) for _ in range(count)]
        seen = sorted(set("".join(terms)))
        out = "".join(random.permutation(seen)[: random.integers(0, len(seen) + 1)])
        text = f"{','.join(terms)}->{out}"
        operands = arrays(text)
        expected = numpy.einsum(text, *operands)
        got = jit(lambda *xs, text=text: lnp.einsum(text, *xs), backend="numpy")(*operands)
        numpy.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9, err_msg=text)


def test_einsum_lists_of_dimensions() -> None:
    x, y = generator.normal(size=(2, 3)), generator.normal(size=(3, 4))
    for args in (
        (x, [0, 1], y, [1, 2], [0, 2]),
        (x, [0, 1], y, [1, 2]),
        (x, [5, 3]),
        (x, [0, Ellipsis], [Ellipsis, 0]),
    ):
        expected = numpy.einsum(*args)
        numpy.testing.assert_allclose(lnp.einsum(*args), expected)
        rest = args[1:]
        numpy.testing.assert_allclose(numpy.asarray(jit(lambda x, rest=rest: lnp.einsum(x, *rest))(x)), expected)


def test_einsum_broadcasts_lengths_of_one() -> None:
    x, y = generator.normal(size=(1, 3)), generator.normal(size=(4, 3))
    for text in ("ij,ij->ij", "ij,ij->i", "ij,ij->", "ij,ij->j"):
        check(text, [x, y])
    check("...i,...i->...i", [generator.normal(size=(2, 1, 3)), generator.normal(size=(4, 3))])
    check("ij,ij->ij", [numpy.ones((0, 1)), numpy.ones((1, 3))])


@pytest.mark.parametrize(
    "optimize",
    [True, False, "greedy", "optimal", "auto", ("greedy", 100), ["einsum_path", (0, 2), (0, 1)], [(0, 1), (0, 1)]],
)
def test_einsum_optimize(optimize: Any) -> None:
    text = "ij,jk,kl->il"
    operands = arrays(text)
    got = jit(lambda *xs: lnp.einsum(text, *xs, optimize=optimize), backend="numpy")(*operands)
    numpy.testing.assert_allclose(got, numpy.einsum(text, *operands))
    if optimize is not False:
        assert lnp.einsum_path(text, *operands)[0] == numpy.einsum_path(text, *operands)[0]


def test_einsum_chain_has_optimal_cost() -> None:
    n = 200
    x, v = numpy.ones((n, n)), numpy.ones(n)
    compiled = jit(lambda x, v: lnp.einsum("ij,jk,k->i", x, x, v)).lower(x, v).as_text()
    assert f"tensor<{n}x{n}xf64>, tensor<{n}x{n}xf64>" not in compiled


def test_einsum_dtype_argument() -> None:
    x = generator.integers(0, 100, (3, 3)).astype("int8")
    for function in (
        lambda x: lnp.einsum("ij->", x, dtype="int32"),
        jit(lambda x: lnp.einsum("ij->", x, dtype="int32")),
    ):
        assert function(x) == numpy.einsum("ij->", x, dtype="int32")
        assert function(x).dtype == "int32"


@pytest.mark.parametrize("text", ["ij,jk,kl->il", "iij,jk->k", "...i,...i->...", "ij,ij->j"])
def test_einsum_derivatives(text: str) -> None:
    operands = arrays(text)
    directions = arrays(text)

    def loss(*xs: Any) -> Any:
        return lnp.sum(lnp.sin(lnp.einsum(text, *[x / 10 for x in xs])))

    step = 1e-5
    moved = [[x + sign * step * t for x, t in zip(operands, directions, strict=True)] for sign in (1, -1)]
    slope = (loss(*moved[0]) - loss(*moved[1])) / (2 * step)
    assert jvp(loss, tuple(operands), tuple(directions))[1] == pytest.approx(slope, rel=1e-5, abs=1e-6)
    gradient = grad(loss, tuple(range(len(operands))))(*operands)
    back = sum(numpy.sum(g * t) for g, t in zip(gradient, directions, strict=True))
    assert back == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_einsum_vmap() -> None:
    x, y = generator.normal(size=(5, 2, 3)), generator.normal(size=(3, 4, 5))
    got = vmap(lambda x, y: lnp.einsum("ij,jk->ki", x, y), (0, 2))(x, y)
    numpy.testing.assert_allclose(got, numpy.einsum("nij,jkn->nki", x, y))


X, Y = numpy.ones((2, 3)), numpy.ones((3, 4))
ERRORS: dict[str, Any] = {
    "lengths": lambda np, x: np.einsum("ij,ij", x, Y),
    "letters": lambda np, x: np.einsum("ijk", x),
    "fewer letters": lambda np, x: np.einsum("i", x),
    "arrays": lambda np, x: np.einsum("ij,jk", x),
    "terms": lambda np, x: np.einsum("ij", x, Y),
    "result": lambda np, x: np.einsum("ij->k", x),
    "twice in the result": lambda np, x: np.einsum("ij->ii", x),
    "characters": lambda np, x: np.einsum("i$", x),
    "arrow": lambda np, x: np.einsum("ij>ji", x),
    "dots": lambda np, x: np.einsum("i..j", x),
    "lengths of a diagonal": lambda np, x: np.einsum("ii", x),
    "nothing": lambda np, x: np.einsum(),
    "casting": lambda np, x: np.einsum("ij->", x, dtype="int32"),
}


@pytest.mark.parametrize("call", ERRORS.values(), ids=list(ERRORS))
def test_einsum_errors_are_of_numpy_s_class(call: Any) -> None:
    with pytest.raises((TypeError, ValueError)) as theirs:
        call(numpy, X)
    for run in (call, lambda np, x: jit(lambda x: call(np, x))(x)):
        with pytest.raises(LawfulError) as ours:
            run(lnp, X)
        assert isinstance(ours.value, theirs.type.__mro__[-3])


@pytest.mark.parametrize(
    "text", ["kij,lkj->lki", "lkj,kij->lki", "ij,jk->ki", "jk,ij->ki", "ij,jk->ik", "bij,bjk->bki"]
)
def test_einsum_never_transposes_the_last_dimension(text: str) -> None:
    operands = arrays(text)
    check(text, operands)
    for eqn in make_jaxpr(lambda *xs: lnp.einsum(text, *xs))(*operands).jaxpr.eqns:
        if eqn.primitive.name == "transpose":
            assert eqn.params["permutation"][-1] == len(eqn.params["permutation"]) - 1


@pytest.mark.parametrize("optimize", ["auto", "dp", "greedy", ["einsum_path"], ["einsum_path", (0, 2), (0, 1)]])
def test_einsum_optimize_strategies_eager_and_traced(optimize: Any) -> None:
    x = numpy.arange(4.0).reshape(2, 2)

    def product(x: Any) -> Any:
        return lnp.einsum("ij,jk,kl", x, x, x, optimize=optimize)

    numpy.testing.assert_allclose(product(x), x @ x @ x)
    numpy.testing.assert_allclose(jit(product, backend="numpy")(x), x @ x @ x)


@pytest.mark.parametrize("optimize", ["nope", [(0, 7)]])
def test_einsum_error_of_an_invalid_path(optimize: Any) -> None:
    x = numpy.ones((2, 2))
    with pytest.raises(ArgumentTypeError, match="expected optimize to be True, False, a name or a path"):
        lnp.einsum("ij,jk,kl", x, x, x, optimize=optimize)


def test_einsum_errors_of_lists_of_dimensions() -> None:
    x = numpy.ones((2, 2))
    with pytest.raises(ArgumentValueError, match=r"got \[\[0, 1\], \[2, 3\], \[0, 9\]\] for the shapes"):
        lnp.einsum(x, [0, 1], x, [2, 3], [0, 9])
    with pytest.raises(ArgumentTypeError, match="a list of dimensions after each"):
        lnp.einsum(x)
