"""Derivatives of complex functions and by integers are jax's: what is given, of which type, and what is refused."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

import lawful.numpy
from lawful import autodiff
from lawful.core import ArgumentTypeError, float0

OURS = SimpleNamespace(
    np=lawful.numpy, grad=autodiff.grad, jacfwd=autodiff.jacfwd,
    jacrev=autodiff.jacrev, hessian=autodiff.hessian, vjp=autodiff.vjp, jvp=autodiff.jvp, linearize=autodiff.linearize,
    checkpoint=autodiff.checkpoint, refusal=ArgumentTypeError,
)  # fmt: skip
THEIRS = SimpleNamespace(
    np=jax.numpy, grad=jax.grad, jacfwd=jax.jacfwd, jacrev=jax.jacrev,
    hessian=jax.hessian, vjp=jax.vjp, jvp=jax.jvp, linearize=jax.linearize, checkpoint=jax.checkpoint,
    refusal=TypeError,
)  # fmt: skip

# Functions of a library and a number or an array: holomorphic, from complex to real, from real to complex, and neither.
FUNCTIONS = {
    "square": lambda lib, z: z * z,
    "exp": lambda lib, z: lib.np.exp(z),
    "tanh": lambda lib, z: lib.np.tanh(z),
    "log": lambda lib, z: lib.np.log(z + 2.0),
    "power": lambda lib, z: (z + 2.0) ** 2.5,
    "reciprocal": lambda lib, z: 1.0 / (z + 2.0),
    "sum of squares": lambda lib, z: lib.np.sum(z * z),
    "product": lambda lib, z: lib.np.prod(z),
    "abs": lambda lib, z: lib.np.abs(z),
    "real": lambda lib, z: lib.np.real(z),
    "imag": lambda lib, z: lib.np.imag(z) * 2.0,
    "angle": lambda lib, z: lib.np.angle(z),
    "norm": lambda lib, z: lib.np.sum(lib.np.abs(z) ** 2),
    "sum of real parts": lambda lib, z: lib.np.sum(lib.np.real(z * z)),
    "conj": lambda lib, z: lib.np.conj(z),
    "own conjugate": lambda lib, z: lib.np.vdot(z, z),
    "by a complex number": lambda lib, z: z * (1.0 + 2.0j),
    "sum by a complex number": lambda lib, z: lib.np.sum(z * (1.0 + 2.0j)),
    "phase": lambda lib, z: lib.np.exp(1j * z),
    "real of a phase": lambda lib, z: lib.np.sum(lib.np.abs(lib.np.exp(1j * z) + z)),
    "choice": lambda lib, z: lib.np.where(lib.np.real(z) > 0.4, z * z, lib.np.conj(z)),
    "spectrum": lambda lib, z: lib.np.sum(lib.np.abs(lib.np.fft.fft(lib.np.reshape(z, (-1,)))) ** 2),
    "comparison": lambda lib, z: lib.np.sum(lib.np.real(z) > 0.0),
    "checkpointed": lambda lib, z: lib.np.sum(lib.checkpoint(lambda z: lib.np.sin(z) * lib.np.conj(z) * z)(z)),
    "checkpointed to real": lambda lib, z: lib.np.sum(lib.checkpoint(lambda z: lib.np.abs(lib.np.exp(z)))(z)),
}
ARGUMENTS = {
    "float": np.float32(0.7),
    "complexes": np.array([0.3 + 0.2j, 0.5 - 0.4j]),
    "complex64": np.array([0.3 + 0.2j], np.complex64),
    "int": 3,
    "ints": np.array([1, 2]),
}


def direction(x):
    shape, dtype = np.shape(x), x.dtype if hasattr(x, "dtype") else np.dtype(type(x))
    if dtype.kind not in "fc":
        return np.zeros(shape, float0)
    return np.full(shape, 0.3 - 0.7j if dtype.kind == "c" else 0.3, dtype)


def pulled(lib, f, x):
    out, pull = lib.vjp(f, x)
    return out, pull(direction(out))


TRANSFORMATIONS = {"vjp": pulled}
for holomorphic in (False, True):
    for allow_int in (False, True):
        for transformation in ("grad", "jacrev"):
            options = {"holomorphic": holomorphic, "allow_int": allow_int}
            TRANSFORMATIONS[f"{transformation} {holomorphic} {allow_int}"] = (
                lambda lib, f, x, name=transformation, options=options: getattr(lib, name)(f, **options)(x)
            )
    for transformation in ("jacfwd", "hessian"):
        TRANSFORMATIONS[f"{transformation} {holomorphic}"] = (
            lambda lib, f, x, name=transformation, holomorphic=holomorphic: getattr(lib, name)(
                f, holomorphic=holomorphic
            )(x)
        )
TRANSFORMATIONS["jvp"] = lambda lib, f, x: lib.jvp(f, (x,), (direction(x),))
TRANSFORMATIONS["linearize"] = lambda lib, f, x: lib.linearize(f, x)[1](direction(x))


def outcome(lib, function, transformation, x):
    """The leaves of the result, or None where it is refused."""
    try:
        return jax.tree.leaves(transformation(lib, lambda z: function(lib, z), x))
    except lib.refusal as error:
        if isinstance(error, jax.errors.JAXTypeError):  # of values that are not known while jax traces
            raise
        return None


def outcomes(lib, function):
    """Returns a function of the arguments that gives the outcomes of all transformations, by their names."""
    return lambda arguments: {
        (name, transformation): outcome(lib, function, TRANSFORMATIONS[transformation], x)
        for name, x in arguments.items()
        for transformation in TRANSFORMATIONS
    }


@pytest.mark.parametrize("function", FUNCTIONS)
def test_complex_derivatives_same_is_given_or_refused(function):
    """JAX compiles all transformations of a function in one program: op by op it takes much longer."""
    with np.errstate(all="ignore"):
        ours = outcomes(OURS, FUNCTIONS[function])(ARGUMENTS)
        theirs = jax.jit(outcomes(THEIRS, FUNCTIONS[function]))(ARGUMENTS)
    for name, transformation in ours:
        case = f"{transformation} of {name}"
        gots, expecteds = ours[name, transformation], theirs[name, transformation]
        assert (gots is None) == (expecteds is None), f"{case}: we give {gots}, jax gives {expecteds}"
        for got, expected in zip(map(np.asarray, gots or ()), map(np.asarray, expecteds or ()), strict=True):
            assert got.shape == expected.shape, case
            if got.dtype == float0:
                # jax makes numbers of the bits of Jacobians that have none.
                assert expected.dtype == float0 or transformation.startswith("jac"), case
                continue
            if function == "angle" and name == "float":
                assert got.dtype == np.float32, case  # jax gives float64 of float32; NumPy does not
            else:
                assert got.dtype == expected.dtype, case
            single = got.dtype in (np.float32, np.complex64)
            tolerances = (2e-5, 1e-5) if single else (1e-10, 1e-10)
            np.testing.assert_allclose(got, expected, *tolerances, err_msg=case)
