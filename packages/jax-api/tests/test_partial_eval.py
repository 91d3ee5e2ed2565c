"""Names that flax's `nn.scan` uses: tracing to jaxprs, dead-code elimination, and types made with a sharding."""

from typing import Any

import numpy as np
import pytest

import lawful.jax as jax
import lawful.jax.numpy as jnp
from lawful.jax._src import core, dtypes, traceback_util
from lawful.jax.core import ShapedArray
from lawful.jax.experimental.layout import Format
from lawful.jax.extend import source_info_util
from lawful.jax.extend.linear_util import wrap_init
from lawful.jax.interpreters import partial_eval as pe

AVALS = [ShapedArray((2,), np.float64), ShapedArray((), np.float32)]


def traced(function: Any) -> tuple[Any, list[Any], list[Any]]:
    return pe.trace_to_jaxpr_dynamic(wrap_init(function), AVALS)


def test_trace_to_jaxpr_dynamic_gives_types_and_constants() -> None:
    row = np.array([1.0, 2.0])
    jaxpr, out_avals, consts = traced(lambda x, y: [x * row, y])
    assert out_avals == AVALS
    assert [const.tolist() for const in consts] == [[1.0, 2.0]]
    found = jax.core.eval_jaxpr(jaxpr, consts, np.ones(2), np.float32(3.0))
    assert [np.asarray(x).tolist() for x in found] == [[1.0, 2.0], 3.0]


@pytest.mark.parametrize("used", [[True, False], [False, True], [False, False], True])
def test_dce_jaxpr_keeps_constants_and_used_inputs(used: Any) -> None:
    row = np.array([1.0, 2.0])
    jaxpr, _, consts = traced(lambda x, y: [x * row, jnp.sin(y)])
    small, has = pe.dce_jaxpr(jaxpr, used)
    wanted = [True, True] if used is True else used
    assert has == wanted
    args = [x for x, is_used in zip((np.ones(2), np.float32(0.0)), has, strict=True) if is_used]
    found = [np.asarray(x).tolist() for x in jax.core.eval_jaxpr(small, consts, *args)]
    assert found == [x for x, is_used in zip(([1.0, 2.0], 0.0), wanted, strict=True) if is_used]


def test_dce_jaxpr_instantiates_inputs() -> None:
    jaxpr, _, _ = traced(lambda x, y: [x, y])
    small, has = pe.dce_jaxpr(jaxpr, [True, False], instantiate=True)
    assert has == [True, True]
    assert len(small.invars) == 2
    assert pe.dce_jaxpr(jaxpr, [True, False], [False, False])[1] == [True, False]


def test_convert_constvars_jaxpr_makes_inputs() -> None:
    jaxpr, _, consts = traced(lambda x, y: [x * np.array([1.0, 2.0])])
    closed = pe.close_jaxpr(pe.convert_constvars_jaxpr(jaxpr))
    found = jax.extend.core.jaxpr_as_fun(closed)(*consts, np.ones(2), np.float32(0.0))
    assert np.asarray(found[0]).tolist() == [1.0, 2.0]


def test_type_takes_the_sharding_of_a_value() -> None:
    x = jnp.ones((3, 2), jnp.float32)
    sharding = x.aval.sharding
    assert sharding.spec[0] is None
    row = sharding.update(spec=jax.sharding.PartitionSpec(*sharding.spec[1:]))
    assert ShapedArray(shape=(2,), dtype=x.dtype, sharding=row) is ShapedArray((2,), np.float32)


def test_format_is_a_sharding_without_a_layout() -> None:
    sharding = jnp.ones(2).sharding
    assert Format(None, sharding).sharding is sharding
    with pytest.raises(ValueError, match="expected no layout"):
        Format("row-major", sharding)  # type: ignore[arg-type]


def test_private_names_that_flax_imports() -> None:
    assert core.ShapedArray is ShapedArray
    assert traceback_util.api_boundary(len) is len
    assert source_info_util.register_exclusion is traceback_util.register_exclusion
    assert issubclass(type("own", (dtypes.ExtendedDType,), {}), dtypes.ExtendedDType)
    assert dtypes.DType is np.dtype
    assert jax.version.__version_info__ == jax.__version_info__
