"""Donated arguments are counted after the constants, which a call inside another program takes first."""

import numpy as np

from lawful.ops import add
from lawful.staging import jit, make_jaxpr


def test_constants_come_before_donated_arguments():
    constant = np.arange(3.0)
    function = jit(lambda x, y: add(add(x, y), constant), donate_argnums=1, backend="numpy")
    (eqn,) = make_jaxpr(function)(np.ones(3), np.ones(3)).eqns
    assert len(eqn.invars) == 3
    assert eqn.params["donated"] == (2,)
