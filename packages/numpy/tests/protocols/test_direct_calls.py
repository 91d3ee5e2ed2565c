"""Direct calls of NumPy give what the plain functions give: values, dtypes, types and errors."""

import pickle
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy
import pytest

import lawful.numpy as np
from lawful.autodiff import grad
from lawful.core import plain
from lawful.numpy import linalg
from lawful.numpy._eager import direct_hook
from lawful.staging import make_jaxpr

X = numpy.array([0.25, -1.5, 3.0, 0.0, 2.0, -0.5])
A = numpy.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.0, 0.75, 5.0]])
ARRAYS = {
    "float64": X,
    "float32": X.astype("float32"),
    "float16": X.astype("float16"),
    "bfloat16": X.astype(ml_dtypes.bfloat16),
    "big-endian": X.astype(">f8"),
    "int8": numpy.array([100, 27, -128, 3, 0, 1], "int8"),
    "uint8": numpy.array([255, 1, 0, 3, 2, 7], "uint8"),
    "int64": numpy.arange(6) - 2,
    "bool": X > 0,
    "complex128": X + 1j,
    "0-d": numpy.array(1.5),
    "empty": numpy.zeros(0),
    "matrix": A,
    "column": X[:, None],
    "Fortran": numpy.asfortranarray(A),
    "scalar": numpy.float64(2.5),
    "number": 2.5,
    "integer": 3,
}

UNARY = """
sum(x) sum(x,0) sum(x,axis=-1) sum(x,axis=0,keepdims=True) sum(x,None,float) sum(x,out=None) sum(x,out=X) sum(x,axis=7)
sum(x,initial=2.0) sum(x,where=x>0) sum(x,nothing=1) sum(a=x) sum() prod(x) max(x) min(x,axis=0) any(x) all(x,axis=0)
mean(x) mean(x,0) var(x) std(x,axis=0,ddof=1) argmax(x) argmin(x,axis=0) cumsum(x) cumprod(x,0) round(x,1) diff(x)
transpose(x) transpose(x,(0,)) squeeze(x) expand_dims(x,0) expand_dims(x,axis=(0,2)) flip(x) roll(x,2) roll(x,1,axis=0)
reshape(x,-1) reshape(x,(2,3)) reshape(x,(2,3),"F") reshape(x,(3,-1),order="A") reshape(x,2,3) reshape(x,(7,)) ravel(x)
reshape(x,-1,order="A") reshape(x,-1,"A") reshape(x,None) reshape(x,-1,order=None) ravel(x,"F") ravel(x,order="A")
swapaxes(x,0,-1) moveaxis(x,0,-1) moveaxis(x,0,5) tile(x,2) tile(x,(2,2)) tile(x,-1) repeat(x,2)
repeat(x,2,axis=0) repeat(x,2,0) repeat(x,-1) repeat(x,1.5) broadcast_to(x,(2,6)) broadcast_to(x,6) broadcast_to(x,(2,))
atleast_1d(x) atleast_2d(x) atleast_2d(x,x) atleast_3d(x) atleast_2d() split(x,2) split(x,3,axis=0) split(x,4)
split(x,0) split(x,-2) split(x,True) nonzero(x) flatnonzero(x) sort(x) sort(x,0) sort(x,axis=None) argsort(x)
array(x) array([x,x]) array((x,1)) array(x,copy=False) asarray(x) asarray(x,float) copy(x) zeros_like(x) ones_like(x)
zeros_like(x,int) full(3,x) full((2,),x) eye(x) eye(3,x) arange(x) linspace(x,2.0,3) linspace(0,x,4,False)
where(x>0,x,0) where(x,x,1.0) where(x,1,2) where(x,True,x) clip(x,-1.0,1.0) clip(x,1.0,-1.0) clip(x,0,1)
clip(x,0.0,numpy.inf) argsort(x,axis=0) concatenate([x,x]) concatenate((x,x),0) concatenate([x,X],axis=0)
concatenate([x,x],axis=None) concatenate([x,x],1) concatenate([]) stack([x,x]) stack([x,1.0],axis=0) vstack([x,x])
hstack((x,x)) hstack([x,x],axis=0) meshgrid(x,x) meshgrid(x,X,indexing="ij") meshgrid(x,sparse=True)
diag(x) trace(x) count_nonzero(x) median(x)
add(x,1) add(x,x) add(x,X) multiply(x,2.5) power(x,2) power(x,-1) power(2,x) power(x,x) maximum(x,0.5) sin(x) sqrt(x)
sqrt(x,out=x) sin(x,x) sin() exp(x,where=True) logaddexp(x,x) logaddexp(x,0.5) log1p(x) expm1(x) reciprocal(x) sign(x)
isnan(x) logical_and(x,x) negative(x) greater(x,0) bitwise_and(x,1) divmod(x,2) hypot(x,x) floor_divide(x,2)
dot(x,x) dot(x,2) dot(x,x,out=None) matmul(x,x) inner(x,x) outer(x,X) tensordot(x,x,1) vdot(x,x) isclose(x,x,1e-3)
allclose(x,x) allclose(x,X,rtol=1e-3) array_equal(x,x) take(x,numpy.array([0,-1])) take(x,numpy.array([0,9]))
take(x,numpy.array([True])) take(x,numpy.array(0)) take(x,numpy.array(0),0)
take(x,numpy.array([[0],[1]]),axis=0) take(x,numpy.array([0,9]),mode="clip") take(x,1)
take_along_axis(x,numpy.array([0,-1])) take_along_axis(x,numpy.array([9])) take_along_axis(x,numpy.array([1]),axis=None)
""".split()  # noqa: SIM905
OTHERS = """
array([1,2.5]) array([]) array([2**63]) array([2**70]) array([True,1]) array([None]) array(["a"]) array([[1],[2]])
arange(3) arange(3.0) arange(0,1,0.25) arange(1,2,0) arange(2**63,2**63+2) arange(2**70) arange(True) arange(5,0,-2)
full(2,2**70) full(2,2**63) full(2,(1,2)) full(-1,1.0) full(2,True) full((),1.5) zeros(2) ones((1,2)) eye(-1) eye(2,3,1)
eye(2,2,True) eye(2.0) eye(1,1,2.5)
linspace(0,1,-1) linspace(0,1,True) linspace(0,1,None) linspace(1+1j,2,3) linspace(0,1,num=3)
einsum("ij,jk->ik",A,A) einsum("ij->ji",A) einsum("ii->",A) einsum("ij,jk",A,A) einsum("...j,j->...",A,A[0])
einsum("ij,jk->ii",A,A) einsum("ij,ka->i",A,A) einsum("ij,j->i",A,X) einsum("ij,jk->ik",A) einsum("ij,jk->ik",A,A,A)
einsum("ij,jk->ik",A.astype("int8"),A>0) einsum("ij,jk->ik",A.astype("float16"),A) where(A>0,A,numpy.float32(1))
""".split()  # noqa: SIM905
MATRICES = [
    "inv(x)",
    "inv(x[0])",
    "inv(x*0)",
    "solve(x,x[0])",
    "solve(x,x)",
    "det(x)",
    "slogdet(x)",
    "norm(x)",
    "norm(x,1)",
    "norm(x,axis=0)",
    'norm(x,"nuc")',
    "cholesky(x)",
    "cholesky(x[:1])",
    "cholesky(x[:1]*numpy.nan)",
    "cholesky(-x)",
    "cholesky(x,upper=True)",
]


def outcome(text: str, namespace: Any, x: Any) -> Any:
    """Returns the result of a call, with its types, or its error."""
    try:
        result = eval(f"namespace.{text}", {"namespace": namespace, "x": x, "X": X, "A": A, "numpy": numpy})
    except Exception as error:
        return type(error), str(error).partition(": ")[2]
    return described(result)


def described(result: Any) -> Any:
    if isinstance(result, tuple | list):
        return type(result).__name__, [described(x) for x in result]
    flags = isinstance(result, numpy.ndarray) and result.flags.writeable
    return type(result), result.dtype, result.shape, flags, numpy.ascontiguousarray(result).tobytes()


def calls() -> Iterator[Any]:
    yield from (pytest.param(np, text, name, id=f"{text}-{name}") for text in UNARY for name in ARRAYS)
    yield from (pytest.param(np, text, "float64", id=text) for text in OTHERS)
    yield from (
        pytest.param(linalg, text, name, id=f"{text}-{name}") for text in MATRICES for name in ("matrix", "Fortran")
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("namespace", "text", "name"), [*calls()])
def test_direct_calls_agree_with_plain_ones(namespace: Any, text: str, name: str) -> None:
    with plain():
        expected = outcome(text, namespace, ARRAYS[name])
    assert outcome(text, namespace, ARRAYS[name]) == expected


@pytest.mark.parametrize("name", ["sin", "expm1", "log1p", "reciprocal"])
def test_ufunc_integer_beyond_64_bits_is_explained(name: str) -> None:
    for x in (2**70, -(2**70)):
        with pytest.raises(OverflowError, match=r"a value that fits int64, got -?1180591620717411303424; use a float"):
            getattr(np, name)(x)


@pytest.mark.fast
def test_direct_calls_are_made_for_plain_arrays_only(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    from lawful.numpy._eager import direct

    @direct(lambda x, *rest: called.append(rest), most=2)
    def function(*args: Any) -> str:
        return "plain"

    assert function(X) is None
    assert function(X, 1) is None
    assert called == [(), (1,)]
    for args in ((X.astype("float16"),), (2.5,), (X, X), (X, 1, 2), ([1.0],), (X.astype(">f8"),), ()):
        assert function(*args) == "plain"
    assert make_jaxpr(lambda y: function(X) and y)(1.0)
    assert len(called) == 2
    with plain():
        assert function(X) == "plain"


def test_functions_with_direct_calls_are_named() -> None:
    for name in ("sum", "take", "take_along_axis", "reshape", "array", "concatenate", "einsum", "where", "eye"):
        function = getattr(np, name)
        assert function.__name__ == name
        assert pickle.loads(pickle.dumps(function)) is function
        assert function.__doc__


def test_direct_calls_leave_tracers_to_ops() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.reshape(x, (2, 3)) @ np.ones((3, 1))) + np.sum(np.concatenate([x, X], axis=0))

    assert numpy.array_equal(grad(f)(X), numpy.full(6, 2.0))


def test_direct_hook_is_a_hook_of_functions() -> None:
    assert direct_hook.plain(sum, None) is sum
