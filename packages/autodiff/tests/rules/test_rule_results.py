"""A rule of a primitive that gives no pair raises an error that names the primitive, the rule and what it gave."""

from __future__ import annotations

import numpy as np
import pytest

from lawful.autodiff import grad, jvp, linearize
from lawful.batching import vmap
from lawful.core import ArgumentTypeError, Primitive
from lawful.staging import jit

WRONG = {
    "none": lambda xs, ts: None,
    "first alone": lambda xs, ts: xs[0],
    "triple": lambda xs, ts: (xs[0], ts[0], ts[0]),
    "one in a list": lambda xs, ts: [xs[0]],
}
WRONG_LISTS = {
    **WRONG,
    "values for lists": lambda xs, ts: (xs[0], ts[0]),
    "lists of two lengths": lambda xs, ts: ([xs[0], xs[0]], [ts[0]]),
}
APPLIED = {
    "jvp": lambda f: jvp(f, (1.0,), (1.0,)),
    "linearize": lambda f: linearize(f, 1.0),
    "grad": lambda f: grad(f)(1.0),
    "jit of grad": lambda f: jit(grad(f), backend="numpy")(1.0),
    "grad of jit": lambda f: grad(jit(f, backend="numpy"))(1.0),
}
MAPPED = {
    "vmap": lambda f: vmap(f)(np.ones(2)),
    "jit of vmap": lambda f: jit(vmap(f), backend="numpy")(np.ones(2)),
}


def own(rule, *, pure, several=False):
    primitive = Primitive("own", multiple_results=several, pure_rules=pure)
    primitive.def_impl(lambda x: [x] if several else x)
    primitive.def_abstract_eval(lambda x: [x] if several else x)
    primitive.def_jvp(rule)
    primitive.def_batch(rule)
    return (lambda x: primitive.bind(x)[0]) if several else primitive.bind


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("slot", ["jvp", "batch"])
@pytest.mark.parametrize("rule", WRONG.values(), ids=WRONG)
def test_rule_that_gives_no_pair(rule, slot, pure):
    function = own(rule, pure=pure)
    for apply in (APPLIED if slot == "jvp" else MAPPED).values():
        with pytest.raises(ArgumentTypeError, match=rf"{slot} rule of 'own': expected a pair .out, .*return"):
            apply(function)


@pytest.mark.parametrize("slot", ["jvp", "batch"])
@pytest.mark.parametrize("rule", WRONG_LISTS.values(), ids=WRONG_LISTS)
def test_rule_that_gives_no_lists(rule, slot):
    function = own(rule, pure=True, several=True)
    for apply in (APPLIED if slot == "jvp" else MAPPED).values():
        with pytest.raises(ArgumentTypeError, match=f"{slot} rule of 'own': expected a pair of lists of one length"):
            apply(function)
