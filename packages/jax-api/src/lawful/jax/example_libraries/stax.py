"""``jax.example_libraries.stax``: layers as pairs of functions.

A layer is ``(init, apply)``: ``init(key, input_shape)`` gives ``(output_shape, params)``, and
``apply(params, inputs, rng=key)`` the outputs.

>>> from lawful.jax import random
>>> from lawful.jax.example_libraries import stax
>>> init, apply = stax.serial(stax.Dense(3), stax.Relu, stax.Dense(1))
>>> shape, params = init(random.key(0), (-1, 2))
>>> shape
(-1, 1)
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import lawful.jax.numpy as np
from lawful.jax import lax, nn, random
from lawful.jax.nn.initializers import glorot_normal, normal, ones, zeros

# The older names of these initializers.
glorot, randn, logsoftmax = glorot_normal, normal, nn.log_softmax

Layer = tuple[Callable[..., Any], Callable[..., Any]]


def Dense(out_dim: int, W_init: Any = None, b_init: Any = None) -> Layer:
    """Returns the layer ``inputs @ W + b``.

    >>> init, apply = Dense(3)
    >>> shape, (W, b) = init(random.key(0), (-1, 2))
    >>> shape, W.shape, b.shape
    ((-1, 3), (2, 3), (3,))
    """
    W_init, b_init = W_init or glorot_normal(), b_init or normal()

    def init(rng: Any, input_shape: Any) -> Any:
        of_w, of_b = random.split(rng)
        return (*input_shape[:-1], out_dim), (W_init(of_w, (input_shape[-1], out_dim)), b_init(of_b, (out_dim,)))

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        W, b = params
        return np.dot(inputs, W) + b

    return init, apply


def GeneralConv(
    dimension_numbers: Any, out_chan: int, filter_shape: Any, strides: Any = None, padding: Any = "VALID",
    W_init: Any = None, b_init: Any = None,
) -> Layer:  # fmt: skip
    """Returns a convolution with a bias.

    >>> init, apply = GeneralConv(("NHWC", "HWIO", "NHWC"), 4, (3, 3))
    >>> init(random.key(0), (-1, 8, 8, 1))[0]
    (-1, 6, 6, 4)
    """
    return _convolution(
        lax.conv_general_dilated, lax.conv_general_shape_tuple,
        dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init,
    )  # fmt: skip


def GeneralConvTranspose(
    dimension_numbers: Any, out_chan: int, filter_shape: Any, strides: Any = None, padding: Any = "VALID",
    W_init: Any = None, b_init: Any = None,
) -> Layer:  # fmt: skip
    """Returns a transposed convolution with a bias.

    >>> init, apply = GeneralConvTranspose(("NHWC", "HWIO", "NHWC"), 4, (3, 3))
    >>> init(random.key(0), (-1, 8, 8, 1))[0]
    (-1, 10, 10, 4)
    """
    return _convolution(
        lax.conv_transpose, lax.conv_transpose_shape_tuple,
        dimension_numbers, out_chan, filter_shape, strides, padding, W_init, b_init,
    )  # fmt: skip


def _convolution(
    convolve: Callable[..., Any], shape_of: Callable[..., Any], dimension_numbers: Any, out_chan: int,
    filter_shape: Any, strides: Any, padding: Any, W_init: Any, b_init: Any,
) -> Layer:  # fmt: skip
    _, rhs_spec, out_spec = dimension_numbers
    strides = strides or (1,) * len(filter_shape)
    W_init = W_init or glorot_normal(rhs_spec.index("I"), rhs_spec.index("O"))
    b_init = b_init or normal(1e-6)

    def init(rng: Any, input_shape: Any) -> Any:
        sizes = iter(filter_shape)
        channels = {"O": out_chan, "I": input_shape[dimension_numbers[0].index("C")]}
        kernel = [channels[letter] if letter in channels else next(sizes) for letter in rhs_spec]
        known = [1 if size < 0 else size for size in input_shape]
        shape = list(shape_of(known, kernel, strides, padding, dimension_numbers))
        for letter, size in zip(dimension_numbers[0], input_shape, strict=True):
            if size < 0:
                shape[out_spec.index(letter)] = size
        of_w, of_b = random.split(rng)
        bias = [out_chan if letter == "C" else 1 for letter in out_spec]
        return tuple(shape), (W_init(of_w, kernel), b_init(of_b, bias))

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        W, b = params
        return convolve(inputs, W, strides, padding, dimension_numbers=dimension_numbers) + b

    return init, apply


Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(
    axis: Any = (0, 1, 2), epsilon: Any = 1e-5, center: bool = True, scale: bool = True, beta_init: Any = zeros,
    gamma_init: Any = ones,
) -> Layer:  # fmt: skip
    """Returns the normalization over dimensions, with a learned scale and center.

    >>> init, apply = BatchNorm()
    >>> init(random.key(0), (-1, 8, 8, 3))[0]
    (-1, 8, 8, 3)
    """
    axis = (axis,) if isinstance(axis, int) else tuple(axis)

    def init(rng: Any, input_shape: Any) -> Any:
        shape = tuple(size for i, size in enumerate(input_shape) if i not in axis)
        of_beta, of_gamma = random.split(rng)
        beta = beta_init(of_beta, shape) if center else ()
        return input_shape, (beta, gamma_init(of_gamma, shape) if scale else ())

    def apply(params: Any, x: Any, **kwargs: Any) -> Any:
        beta, gamma = params
        kept = tuple(None if i in axis else slice(None) for i in range(np.ndim(x)))
        z = nn.standardize(x, axis, epsilon=epsilon)
        z = gamma[kept] * z if scale else z
        return z + beta[kept] if center else z

    return init, apply


def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> Layer:
    """Returns the layer of an elementwise function.

    >>> init, apply = elementwise(np.square)
    >>> apply((), np.arange(3.0))
    Array([0., 1., 4.], dtype=float64)
    """
    return (lambda rng, shape: (shape, ())), (lambda params, inputs, **kwargs: fun(inputs, **fun_kwargs))


Tanh, Relu, Exp = elementwise(np.tanh), elementwise(nn.relu), elementwise(np.exp)
LogSoftmax, Softmax = elementwise(nn.log_softmax, axis=-1), elementwise(nn.softmax, axis=-1)
Softplus, Sigmoid, Elu = elementwise(nn.softplus), elementwise(nn.sigmoid), elementwise(nn.elu)
LeakyRelu, Selu, Gelu = elementwise(nn.leaky_relu), elementwise(nn.selu), elementwise(nn.gelu)
Identity = elementwise(nn.identity)


def _pooling(name: str, what: str, reducer: Any, start: Any, rescale: Any = None) -> Callable[..., Layer]:
    def layer(window_shape: Any, strides: Any = None, padding: str = "VALID", spec: str = "NHWC") -> Layer:
        axes = [i for i, letter in enumerate(spec) if letter not in "NC"]
        window, steps = [1] * len(spec), [1] * len(spec)
        for axis, size, step in zip(axes, window_shape, strides or (1,) * len(window_shape), strict=True):
            window[axis], steps[axis] = size, step

        def init(rng: Any, input_shape: Any) -> Any:
            known = [1 if size < 0 else size for size in input_shape]
            pads = lax.padtype_to_pads(known, window, steps, padding)
            shape = lax.reduce_window_shape_tuple(known, window, steps, pads)
            return tuple(old if old < 0 else new for old, new in zip(input_shape, shape, strict=True)), ()

        def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
            out = lax.reduce_window(inputs, np.asarray(start, inputs.dtype), reducer, window, steps, padding)
            if rescale is None:
                return out
            counts = lax.reduce_window(
                np.ones_like(inputs), np.asarray(0, inputs.dtype), lax.add, window, steps, padding
            )
            return out / counts

        return init, apply

    layer.__name__ = layer.__qualname__ = name
    layer.__doc__ = f"""Returns the layer that gives the {what} of each window.

    >>> from lawful.jax import random
    >>> from lawful.jax.example_libraries import stax
    >>> init, apply = stax.{name}((2, 2))
    >>> init(random.key(0), (-1, 8, 8, 3))
    ((-1, 7, 7, 3), ())
    """
    return layer


MaxPool = _pooling("MaxPool", "largest element", lax.max, -np.inf)
SumPool = _pooling("SumPool", "sum", lax.add, 0.0)
AvgPool = _pooling("AvgPool", "mean", lax.add, 0.0, rescale=True)


def _flatten_init(rng: Any, input_shape: Any) -> Any:
    return (input_shape[0], functools.reduce(operator.mul, input_shape[1:], 1)), ()


Flatten = (
    _flatten_init,
    lambda params, inputs, **kwargs: np.reshape(inputs, (inputs.shape[0], math.prod(inputs.shape[1:]))),
)


def FanOut(num: int) -> Layer:
    """Returns the layer that gives its inputs a number of times.

    >>> init, apply = FanOut(2)
    >>> apply((), 3.0)
    [3.0, 3.0]
    """
    return (lambda rng, shape: ([shape] * num, ())), (lambda params, inputs, **kwargs: [inputs] * num)


FanInSum = (
    lambda rng, shapes: (shapes[0], ()),
    lambda params, inputs, **kwargs: functools.reduce(operator.add, inputs),
)


def FanInConcat(axis: int = -1) -> Layer:
    """Returns the layer that joins its inputs.

    >>> init, apply = FanInConcat()
    >>> apply((), [np.arange(2), np.arange(2)])
    Array([0, 1, 0, 1], dtype=int64)
    """

    def init(rng: Any, shapes: Any) -> Any:
        at = axis % len(shapes[0])
        return (*shapes[0][:at], sum(shape[at] for shape in shapes), *shapes[0][at + 1 :]), ()

    return init, lambda params, inputs, **kwargs: np.concatenate(inputs, axis)


def Dropout(rate: Any, mode: str = "train") -> Layer:
    """Returns the layer that keeps elements with a probability, and scales them by its inverse.

    >>> init, apply = Dropout(0.5, mode="test")
    >>> apply((), np.arange(3.0), rng=random.key(0))
    Array([0., 1., 2.], dtype=float64)
    """

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        if kwargs.get("rng") is None:
            raise ValueError("Dropout: expected a key, got none; call apply(params, inputs, rng=key)")
        if mode != "train":
            return inputs
        kept = random.bernoulli(kwargs["rng"], rate, inputs.shape)
        return np.where(kept, inputs / rate, 0)

    return (lambda rng, shape: (shape, ())), apply


def serial(*layers: Layer) -> Layer:
    """Returns layers one after another.

    >>> init, apply = serial(elementwise(np.square), elementwise(np.negative))
    >>> apply([(), ()], np.arange(3.0))
    Array([-0., -1., -4.], dtype=float64)
    """

    def init(rng: Any, input_shape: Any) -> Any:
        params = []
        for layer_init, _ in layers:
            rng, own = random.split(rng)
            input_shape, param = layer_init(own, input_shape)
            params.append(param)
        return input_shape, params

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.pop("rng", None)
        keys = random.split(rng, len(layers)) if rng is not None else (None,) * len(layers)
        for (_, layer_apply), param, key in zip(layers, params, keys, strict=True):
            inputs = layer_apply(param, inputs, rng=key, **kwargs)
        return inputs

    return init, apply


def parallel(*layers: Layer) -> Layer:
    """Returns layers side by side, of a list of inputs each.

    >>> init, apply = parallel(elementwise(np.square), elementwise(np.negative))
    >>> apply([(), ()], [2.0, 3.0])
    [Array(4., dtype=float64, weak_type=True), Array(-3., dtype=float64, weak_type=True)]
    """

    def init(rng: Any, input_shape: Any) -> Any:
        keys = random.split(rng, len(layers))
        found = [layer[0](key, shape) for layer, key, shape in zip(layers, keys, input_shape, strict=True)]
        return tuple(shape for shape, _ in found), tuple(params for _, params in found)

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.pop("rng", None)
        keys = random.split(rng, len(layers)) if rng is not None else (None,) * len(layers)
        parts = zip(layers, params, inputs, keys, strict=True)
        return [layer[1](param, x, rng=key, **kwargs) for layer, param, x, key in parts]

    return init, apply


def shape_dependent(make_layer: Callable[[Any], Layer]) -> Layer:
    """Returns a layer that is made for the shape of its inputs.

    >>> init, apply = shape_dependent(lambda shape: elementwise(lambda x: x / shape[0]))
    >>> apply((), np.arange(4.0))
    Array([0.  , 0.25, 0.5 , 0.75], dtype=float64)
    """

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return (lambda rng, shape: make_layer(shape)[0](rng, shape)), apply
