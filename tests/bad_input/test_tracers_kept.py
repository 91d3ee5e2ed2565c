"""A tracer kept after its transformation: any use of it is an error that says where it was made."""

import numpy as np
import pytest

import lawful.numpy as jnp
from lawful import ops
from lawful.autodiff import grad, jvp, linearize, vjp
from lawful.batching import vmap
from lawful.control_flow import cond
from lawful.core import UnexpectedTracerError
from lawful.staging import jit, make_jaxpr

AT = 1.5
USES = {
    "operator": lambda kept: kept + 1.0,
    "reflected": lambda kept: np.float64(1.0) - kept,
    "op": lambda kept: ops.sin(kept),
    "numpy": lambda kept: jnp.sum(kept),
    "method": lambda kept: kept.sum(),
    "NumPy's ufunc": lambda kept: np.sin(kept),
    "jit's argument": lambda kept: jit(lambda x: x)(kept),
    "jit's argument on the NumPy backend": lambda kept: jit(lambda x: x, backend="numpy")(kept),
    "jit's result": lambda kept: jit(lambda: kept)(),
    "used in jit": lambda kept: jit(lambda x: x + kept)(AT),
    "make_jaxpr's result": lambda kept: make_jaxpr(lambda: kept)(),
    "used in make_jaxpr": lambda kept: make_jaxpr(lambda x: x * kept)(AT),
    "grad's argument": lambda kept: grad(lambda x: x * x)(kept),
    "grad's result": lambda kept: grad(lambda x: kept)(AT),
    "used in grad": lambda kept: grad(lambda x: x * kept)(AT),
    "jvp's argument": lambda kept: jvp(lambda x: x, (kept,), (1.0,)),
    "jvp's tangent": lambda kept: jvp(lambda x: x, (AT,), (kept,)),
    "jvp's result": lambda kept: jvp(lambda x: kept, (AT,), (1.0,)),
    "vjp's argument": lambda kept: vjp(lambda x: x, kept),
    "vjp's result": lambda kept: vjp(lambda x: kept, AT),
    "cotangent": lambda kept: vjp(lambda x: x * 2.0, AT)[1](kept),
    "linearize's argument": lambda kept: linearize(lambda x: x, kept),
    "linearize's result": lambda kept: linearize(lambda x: kept, AT),
    "tangent": lambda kept: linearize(lambda x: x * 2.0, AT)[1](kept),
    "vmap's unmapped argument": lambda kept: vmap(lambda x, y: x, in_axes=(0, None))(np.ones(3), kept),
    "vmap's result": lambda kept: vmap(lambda x: kept)(np.ones(3)),
    "used in vmap": lambda kept: vmap(lambda x: x * kept)(np.ones(3)),
    "cond's operand": lambda kept: cond(True, lambda x: x, lambda x: -x, kept),
    "cond's predicate": lambda kept: cond(kept, lambda: 1.0, lambda: 2.0),
    "used in a branch": lambda kept: cond(True, lambda: kept * 2.0, lambda: 2.0),
    "a branch's result": lambda kept: cond(True, lambda: kept, lambda: 2.0),
    "nested": lambda kept: jit(vmap(grad(lambda x: x * kept)))(np.ones(3)),
    "bool": lambda kept: bool(kept),
    "int": lambda kept: int(kept),
    "float": lambda kept: float(kept),
    "asarray": lambda kept: np.asarray(kept),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_kept_tracer_used_after_the_end(under, refused, use):
    kept = []

    def keep(x):
        kept.append(x * 2.0)
        return x * 3.0

    under(keep)
    error = refused(
        UnexpectedTracerError, "return the value from the traced function instead of", lambda: use(kept[0]), at=use
    )
    assert f"made at {__file__}:{keep.__code__.co_firstlineno + 1} (keep), which has ended" in str(error)


def test_kept_tracer_argument_itself(under, refused):
    kept = []
    under(lambda x: kept.append(x) or x)
    refused(UnexpectedTracerError, "which has ended; return the value", lambda: kept[0] + 1.0)


def test_kept_tracer_used_in_a_later_call_of_the_same_function(under, refused):
    kept = []

    def mistake(x):
        kept.append(x * 2.0)
        return x + kept[0]

    under(mistake)
    with pytest.raises(UnexpectedTracerError) as caught:
        under(lambda x: mistake(x))
    assert str(caught.value).startswith(f"{__file__}:{mistake.__code__.co_firstlineno + 2} (mistake): ")


def test_kept_tracer_tracer_of_a_function_that_failed(under, refused):
    kept = []

    def fail(x):
        kept.append(x * 2.0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        under(fail)
    refused(UnexpectedTracerError, "which has ended; return the value", lambda: kept[0] + 1.0)


def test_kept_tracer_generator_that_goes_on_after_the_end(under, refused):
    def steps(x):
        while True:
            yield x
            x = x * 2.0

    running = []
    under(lambda x: running.append(steps(x)) or next(running[-1]))
    refused(UnexpectedTracerError, "which has ended; return the value", lambda: next(running[0]), at=steps)


def test_printing_a_kept_tracer_is_no_mistake(under, usable):
    kept = []
    under(lambda x: kept.append(x * 2.0) or x)
    assert "f64[]" in repr(kept[0])
    assert kept[0].shape == ()
    assert f"{kept[0]}"
    usable()
