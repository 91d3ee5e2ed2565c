"""`jvp` along one array or number gives what the plain interpreters give."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lawful import ops, tree
from lawful.autodiff import grad, jvp
from lawful.core import LawfulError, get_aval, plain

VECTOR = np.array([0.5, -1.5, 2.0])
ALONG = np.array([1.0, 2.0, -3.0])
LOCKED = VECTOR.copy()
LOCKED.flags.writeable = False


ended: list[Any] = []
jvp(lambda x: ended.append(x) or x, (1.0,), (1.0,))


def nested(x: Any, v: Any) -> Any:
    return jvp(lambda y: ops.sin(y) * x, (x,), (v,))[1]


CASES: list[tuple[Callable[..., Any], Any, Any]] = [
    (lambda x: ops.sin(x) * x, (0.5,), (2.0,)),
    (lambda x: ops.sin(x) * x, [0.5], [2.0]),
    (lambda x: ops.sin(x) * x, (0.5,), (np.float64(2.0),)),
    (lambda x: ops.sin(x) * x, (np.float64(0.5),), (np.float64(2.0),)),
    (lambda x: ops.sin(x) * x, (np.float64(0.5),), (2.0,)),
    (lambda x: ops.sin(x) * x, (np.float32(0.5),), (np.float32(2.0),)),
    (lambda x: ops.sin(x) * x, (np.array(0.5),), (np.array(2.0),)),
    (lambda x: ops.sin(x) * x, (VECTOR,), (ALONG,)),
    (lambda x: ops.sin(x) * x, (VECTOR.astype(">f8"),), (ALONG.astype(">f8"),)),
    (lambda x: ops.sin(x) * x, (VECTOR * 1j,), (ALONG * 2j,)),
    (lambda x: ops.sin(x) * x, (VECTOR,), (ALONG[:2],)),
    (lambda x: ops.sin(x) * x, (VECTOR,), (ALONG.astype(np.float32),)),
    (lambda x: ops.sin(x) * x, (VECTOR,), ()),
    (lambda x: x * x, (3,), (2,)),
    (lambda x: x * 2.0, (0.5,), (2.0,)),
    (lambda x: x * VECTOR, (0.5,), (2.0,)),
    (lambda x: x * VECTOR, (VECTOR,), (ALONG,)),
    (lambda x: x, (0.5,), (2.0,)),
    (lambda x: x, (VECTOR,), (ALONG,)),
    (lambda x: x, (VECTOR,), (VECTOR,)),
    (lambda x: x + 0.0 * VECTOR, (VECTOR,), (VECTOR,)),
    (lambda x: (x, x), (VECTOR,), (VECTOR,)),
    (lambda x: {"a": x * 2.0, "b": 1.0}, (VECTOR,), (ALONG,)),
    (lambda x: x[1:], (VECTOR,), (ALONG,)),
    (lambda x: ops.reshape(x, (3, 1)), (VECTOR,), (ALONG,)),
    (lambda x: x * 1.0, (LOCKED,), (LOCKED,)),
    (lambda x: VECTOR, (VECTOR,), (ALONG,)),
    (lambda x: LOCKED, (VECTOR,), (ALONG,)),
    (lambda x: 2.0, (VECTOR,), (ALONG,)),
    (lambda x: x > 0.0, (VECTOR,), (ALONG,)),
    (lambda x: None, (VECTOR,), (ALONG,)),
    (lambda x: ended[0], (VECTOR,), (ALONG,)),
    (lambda x: "none", (VECTOR,), (ALONG,)),
    (lambda x: x[0] * x[1], ([0.5, 1.5],), ([1.0, 2.0],)),
    (lambda x, y: x * y, (VECTOR, 2.0), (ALONG, 3.0)),
    (lambda x: grad(lambda y: y * x * y)(x), (0.5,), (2.0,)),
    (lambda x: jvp(lambda y: x, (1.0,), (2.0,)), (0.5,), (2.0,)),
    (lambda x: nested(x, x), (0.5,), (2.0,)),
    (lambda x: nested(x, 3.0), (VECTOR[0],), (ALONG[0],)),
    (lambda x: nested(x, ALONG), (VECTOR,), (ALONG,)),
]


def found(function: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    try:
        value, tangent = jvp(function, primals, tangents)
    except LawfulError as error:
        return type(error), str(error)
    arrays = [x for x in [*tree.leaves(value), *tree.leaves(tangent)] if type(x) is np.ndarray]
    others = [*tree.leaves(primals), *tree.leaves(tangents), VECTOR, LOCKED]
    aliased = [any(np.shares_memory(x, y) for y in [*arrays[:i], *others]) for i, x in enumerate(arrays)]
    writeable = [x.flags.writeable for x in arrays]
    return repr(value), repr(tangent), tree.map(get_aval, (value, tangent)), aliased, writeable


@pytest.mark.parametrize("number", range(len(CASES)))
def test_jvp_of_one_argument_in_both_layers(number: int) -> None:
    with plain():
        expected = found(*CASES[number])
    for _ in range(3):
        assert found(*CASES[number]) == expected


def test_jvp_with_an_auxiliary_output_of_one_argument() -> None:
    value, tangent, aux = jvp(lambda x: (x * x, x), (3.0,), (1.0,), has_aux=True)
    assert (value, tangent, aux) == (9.0, 6.0, 3.0)
