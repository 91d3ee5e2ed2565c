"""Convolutions agree with jax.lax's: layouts, padding, dilation, groups, dtypes, derivatives, maps, errors."""

import itertools

import jax
import ml_dtypes
import numpy as np
import pytest

from lawful import ops
from lawful.autodiff import jvp, vjp
from lawful.batching import vmap
from lawful.core import LawfulError
from lawful.laws import RandomChoose, wide_dtypes
from lawful.ops import conv_general_dilated_p
from lawful.staging import jit


def numbers(specs):
    return jax.lax.ConvDimensionNumbers(*specs)


def theirs_of(params):
    return lambda x, y: jax.lax.conv_general_dilated(
        x, y, **{**params, "dimension_numbers": numbers(params["dimension_numbers"])}
    )


def close(got, expected):
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    if got.dtype.kind in "biu":
        assert np.array_equal(got, expected)
        return
    tolerance = 1e-12 if got.dtype in (np.float64, np.complex128) else 1e-4 if got.dtype.itemsize > 2 else 5e-2
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(got.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance)


def draw(seed):
    """Draws a call, and arrays for it, of which none has a length of zero: jax then divides by it here and there."""
    for attempt in itertools.count():
        choose = RandomChoose(1000 * seed + attempt, wide_dtypes)
        avals, params = conv_general_dilated_p.declaration.sample(choose)
        preferred = params["preferred_element_type"]
        if all(aval.size for aval in avals) and (preferred is None or preferred.kind == avals[0].dtype.kind):
            random = np.random.default_rng(seed)
            return [values(random, aval.shape, aval.dtype) for aval in avals], params


def values(random, shape, dtype):
    if dtype.kind in "biu":
        return random.integers(0, 2 if dtype.kind == "b" else 10, shape).astype(dtype)
    x = random.normal(size=shape)
    return (x + 1j * random.normal(size=shape) if dtype.kind == "c" else x).astype(dtype)


@pytest.mark.parametrize("seed", range(24))
def test_conv_drawn_calls_and_derivatives(seed):
    (x, y), params = draw(seed)

    def ours(x, y):
        return ops.conv_general_dilated(x, y, **params)

    theirs = theirs_of(params)
    expected = theirs(x, y)
    close(ours(x, y), expected)
    close(jit(ours)(x, y), expected)
    if x.dtype.kind not in "fc":
        return
    random = np.random.default_rng(seed)
    tangents = tuple([values(random, z.shape, z.dtype) for z in (x, y)])
    ct = values(random, expected.shape, np.dtype(expected.dtype))

    # Compiled as a whole: op by op jax takes longer.
    def derivatives(x, y, tangents, ct):
        tangent = jax.jvp(theirs, (x, y), tangents)[1]
        return tangent, jax.vjp(theirs, x, y)[1](ct) if ct.size else ()

    tangent, want = jax.jit(derivatives)(x, y, tangents, ct)
    close(jvp(ours, (x, y), tangents)[1], tangent)
    if not expected.size:
        return
    for function in (ours, jit(ours)):
        for got, other in zip(vjp(function, x, y)[1](ct), want, strict=True):
            close(got, other)


@pytest.mark.parametrize("seed", range(8))
def test_conv_mapped(seed):
    (x, y), params = draw(seed)
    random = np.random.default_rng(seed)
    batches = {
        in_axes: [
            z if axis is None else np.moveaxis(values(random, (3, *z.shape), z.dtype), 0, axis)
            for z, axis in zip((x, y), in_axes, strict=True)
        ]
        for in_axes in ((0, 1), (2, 2), (1, None), (None, 0))
    }
    theirs = theirs_of(params)
    # In one program: each of its own takes jax longer.
    mapped = jax.jit(lambda stacks: [jax.vmap(theirs, a)(*s) for a, s in zip(batches, stacks, strict=True)])
    for (in_axes, stacked), expected in zip(batches.items(), mapped([*batches.values()]), strict=True):
        close(vmap(lambda x, y: ops.conv_general_dilated(x, y, **params), in_axes)(*stacked), expected)


LAYOUTS = (None, ("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NHWC"), ("HNWC", "IHWO", "CWHN"), ("NWHC", "HWIO", "NCHW"))


def operands(specs):
    sizes = ({"N": 2, "C": 3, "H": 5, "W": 4}, {"O": 4, "I": 3, "H": 3, "W": 2})
    specs = specs or ("NCHW", "OIHW", "NCHW")
    random = np.random.default_rng(0)
    return [random.normal(size=[named[letter] for letter in spec]) for named, spec in zip(sizes, specs, strict=False)]


@pytest.mark.parametrize("specs", LAYOUTS)
@pytest.mark.parametrize("padding", ["SAME", "SAME_LOWER", "VALID", "same", [(1, 2), (0, 1)], [(-1, 2), (1, -2)]])
@pytest.mark.parametrize("strides", [(1, 1), (2, 3)])
def test_conv_layouts_and_padding(specs, padding, strides):
    x, y = operands(specs)
    expected = jax.lax.conv_general_dilated(x, y, strides, padding, dimension_numbers=specs)
    close(ops.conv_general_dilated(x, y, strides, padding, dimension_numbers=specs), expected)
    assert ops.conv_dimension_numbers(x.shape, y.shape, specs) == jax.lax.conv_dimension_numbers(
        x.shape, y.shape, specs
    )


@pytest.mark.parametrize(
    "dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.int8, np.uint8, np.int32, np.complex64]
)
@pytest.mark.parametrize("preferred", [None, "float32", "int32"])
def test_conv_dtypes(dtype, preferred):
    if preferred is not None and np.dtype(dtype).kind != np.dtype(preferred).kind:
        return
    x, y = (np.abs(z * 3).astype(dtype) for z in operands(None))
    expected = jax.lax.conv_general_dilated(x, y, (1, 1), "SAME", preferred_element_type=preferred)

    def ours(x, y):
        return ops.conv_general_dilated(x, y, (1, 1), "SAME", preferred_element_type=preferred)

    close(ours(x, y), expected)
    close(jit(ours)(x, y), expected)


@pytest.mark.parametrize("padding", ["SAME", "VALID", [(1, 1), (0, 2)]])
@pytest.mark.parametrize("strides", [(1, 1), (2, 3), (4, 2)])
@pytest.mark.parametrize("dilation", [None, (2, 1)])
@pytest.mark.parametrize("transpose_kernel", [False, True])
@pytest.mark.parametrize("consistent", [False, True])
def test_conv_transposed(padding, strides, dilation, transpose_kernel, consistent):
    random = np.random.default_rng(0)
    x = random.normal(size=(2, 4, 3, 3))
    y = random.normal(size=(3, 2, 2, 3) if transpose_kernel else (3, 2, 3, 2))
    padding = padding if isinstance(padding, str) else tuple(padding)
    kwargs = {"rhs_dilation": dilation, "transpose_kernel": transpose_kernel, "use_consistent_padding": consistent}
    close(
        ops.conv_transpose(x, y, strides, padding, **kwargs), jax.lax.conv_transpose(x, y, strides, padding, **kwargs)
    )


@pytest.mark.parametrize("ndim", [2, 3, 5])
def test_conv_transposed_by_default_layouts(ndim):
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, *(3,) * (ndim - 2), 3)), random.normal(size=(*(2,) * (ndim - 2), 3, 4))
    strides = (2,) * (ndim - 2)
    close(ops.conv_transpose(x, y, strides, "SAME"), jax.lax.conv_transpose(x, y, strides, "SAME"))


def test_conv_with_fewer_arguments():
    x, y = operands(None)
    close(ops.conv(x, y, (2, 1), "SAME"), jax.lax.conv(x, y, (2, 1), "SAME"))
    args = (x, y, (1, 2), [(1, 0), (2, 2)], (2, 1), (1, 2))
    close(ops.conv_with_general_padding(*args), jax.lax.conv_with_general_padding(*args))


BAD = {
    "dimensions": lambda lax, x, y: lax.conv_general_dilated(x, y[0], (1, 1), "SAME"),
    "input features": lambda lax, x, y: lax.conv_general_dilated(x, y[:, :2], (1, 1), "SAME"),
    "strides": lambda lax, x, y: lax.conv_general_dilated(x, y, (1,), [(0, 0), (0, 0)]),
    "feature groups": lambda lax, x, y: lax.conv_general_dilated(x, y, (1, 1), "SAME", feature_group_count=2),
    "no feature groups": lambda lax, x, y: lax.conv_general_dilated(x, y, (1, 1), "SAME", feature_group_count=0),
    "batch groups": lambda lax, x, y: lax.conv_general_dilated(x, y, (1, 1), "SAME", batch_group_count=3),
    "two groups": lambda lax, x, y: lax.conv_general_dilated(
        x, y[:, :1], (1, 1), "SAME", feature_group_count=3, batch_group_count=2
    ),
    "pairs": lambda lax, x, y: lax.conv_general_dilated(x, y, (1, 1), 3),
    "negative padding": lambda lax, x, y: lax.conv_general_dilated(x, y, (1, 1), [(-4, -2), (0, 0)]),
    "dilated with a name": lambda lax, x, y: lax.conv_general_dilated(x, y, (1, 1), "SAME", (2, 1)),
    "two strings": lambda lax, x, y: lax.conv_general_dilated(x, y, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW")),
    "letters": lambda lax, x, y: lax.conv_general_dilated(
        x, y, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHX", "NCHW")
    ),
    "repeated letters": lambda lax, x, y: lax.conv_general_dilated(
        x, y, (1, 1), "SAME", dimension_numbers=("NCHH", "OIHH", "NCHH")
    ),
    "length of strings": lambda lax, x, y: lax.conv_general_dilated(
        x, y, (1, 1), "SAME", dimension_numbers=("NCH", "OIH", "NCH")
    ),
    "precision": lambda lax, x, y: lax.conv_general_dilated(x, y, (1, 1), "SAME", precision="exact"),
    "preferred dtype": lambda lax, x, y: lax.conv_general_dilated(x, y, (1, 1), "SAME", preferred_element_type="int32"),
    "default layout": lambda lax, x, y: lax.conv_transpose(
        np.zeros((1,) * 6), np.zeros((1,) * 6), (1, 1, 1, 1), "SAME"
    ),
}


@pytest.mark.parametrize("call", BAD.values(), ids=list(BAD))
def test_conv_errors_are_of_jax_s_class(call):
    x, y = operands(None)
    with pytest.raises((TypeError, ValueError)) as theirs:
        call(jax.lax, x, y)
    for function in (call, lambda lax, x, y: jit(lambda x, y: call(lax, x, y))(x, y)):
        with pytest.raises(LawfulError) as ours:
            function(ops, x, y)
        assert isinstance(ours.value, theirs.type)
