"""Complex eigenvectors and singular vectors obey the laws in what does not depend on their phases; faults are found."""

import numpy as np
import pytest

from lawful import ops
from lawful.laws import check, check_primitive, quick

random = np.random.default_rng(0)
SQUARE = np.round(random.normal(size=(3, 3)) + 1j * random.normal(size=(3, 3)) + np.diag([0, 4, 9]), 2)
TALL = SQUARE[:, :2]


def projections(vectors):
    """Returns the products of each two elements of each vector, one conjugated."""
    return ops.expand_dims(vectors, (1,)) * ops.expand_dims(ops.conj(vectors), (0,))


def of_hermitian(x):
    v, w = ops.eigh(x)
    return projections(v), w


def of_singular_values(x):
    u, s, vh = ops.svd(x, full_matrices=False)
    return projections(ops.concatenate([u, ops.conj(ops.transpose(vh, (1, 0)))], 0)), s


def of_complement(x):
    u = ops.svd(x)[0]
    q = ops.qr(x)[0]
    rest = [y[:, 2:] for y in (u, q)]
    return [y @ ops.conj(ops.transpose(y, (1, 0))) for y in rest]


@pytest.mark.parametrize(
    ("function", "x"),
    [(of_hermitian, SQUARE), (of_singular_values, SQUARE), (of_singular_values, TALL), (of_complement, TALL)],
)
def test_decompositions_what_phases_do_not_change(function, x):
    laws = ["jit_is_eager", "jvp_finite_differences", "jvp_linear", "vjp_transpose", "linearize_is_jvp", "vmap_is_loop"]
    report = check(function, x, effort=quick, seeds=(0, 1), laws=laws)
    assert report.ok, report


FAULTS = {
    "cholesky": (ops.cholesky_p, lambda out, tangent: (out, tangent * 2.0)),
    "triangular_solve": (ops.triangular_solve_p, lambda out, tangent: (out, -tangent)),
    "solve": (ops.solve_p, lambda out, tangent: (out, -tangent)),
    "det": (ops.det_p, lambda out, tangent: (out, tangent * 0.5)),
    "slogdet": (ops.slogdet_p, lambda out, tangent: (out, [tangent[0], -tangent[1]])),
    "lu": (ops.lu_p, lambda out, tangent: (out, [tangent[0] * 0.5, *tangent[1:]])),
    "qr": (ops.qr_p, lambda out, tangent: (out, [-tangent[0], tangent[1]])),
    "eigh": (ops.eigh_p, lambda out, tangent: (out, [-tangent[0], tangent[1]])),
    "svd": (ops.svd_p, lambda out, tangent: (out, [tangent[0] * 2.0, *tangent[1:]])),
    "eig": (ops.eig_p, lambda out, tangent: (out, [tangent[0], *[-t for t in tangent[1:]]])),
}


@pytest.mark.parametrize("name", FAULTS)
def test_decompositions_wrong_derivative_is_found(name, monkeypatch):
    primitive, fault = FAULTS[name]
    right = primitive.rule("jvp")

    def wrong(primals, tangents, **params):
        out, tangent = right(primals, tangents, **params)
        every = tangent if isinstance(tangent, list) else [tangent]
        return (out, tangent) if type(every[0]).__name__ == "Zero" else fault(out, tangent)

    monkeypatch.setitem(primitive.rules, "jvp", wrong)
    report = check_primitive(primitive, effort=quick, laws=["jvp_finite_differences"], seeds=range(6))
    assert not report.ok
