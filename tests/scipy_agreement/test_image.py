"""`lawful.image`: JAX's values; compiled, batched and differentiated."""

import itertools
from typing import Any

import jax.image
import numpy as np
import pytest

import lawful.jax
from lawful import laws
from lawful.core import ArgumentValueError, as_dtype
from lawful.image import ResizeMethod, resize, scale_and_translate
from lawful.ops import AxisError

from ._held import agree, compiled, held

RANDOM = np.random.default_rng(0)
NAMES = "nearest", "linear", "cubic", "cubic-pytorch", "lanczos3", "lanczos5", "area"
SHAPES = [((5,), (3,)), ((5,), (8,)), ((1,), (4,)), ((4, 6, 3), (7, 3, 3)), ((7,), (1,)), ((3,), (0,)), ((12,), (5,))]
MOVES = [
    (2.0, 0.5),
    (0.5, -1.0),
    (1.0, 3.0),
    (1.0, 10.0),
    (0.3, 0.2),
    (1.7, -2.0),
    (-1.0, 4.0),
    (-0.5, 3.0),
    (0.0, 1.0),
]


def to_jax(method: str) -> jax.image.ResizeMethod:
    return jax.image.ResizeMethod[ResizeMethod.from_string(method).name]


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize("antialias", [True, False])
def test_resize_is_that_of_jax(method: str, antialias: bool) -> None:
    images = [RANDOM.normal(size=old) for old, _ in SHAPES]

    def by_jax(images: Any) -> Any:
        return [jax.image.resize(x, new, to_jax(method), antialias) for x, (_, new) in zip(images, SHAPES, strict=True)]

    with jax.enable_x64(True):
        wanted = jax.jit(by_jax)(images)  # one program: to compile op by op takes longer
        for image, (_, new), expected in zip(images, SHAPES, wanted, strict=True):
            # JAX's sinc is 1 up to a distance of 1e-3.
            agree(resize(image, new, method, antialias), np.asarray(expected), 3e-6 if "lanczos" in method else None)


@pytest.mark.parametrize("method", NAMES[1:])
@pytest.mark.parametrize("antialias", [True, False])
def test_scale_and_translate_is_that_of_jax(method: str, antialias: bool) -> None:
    moves = [move for move in MOVES if method != "area" or move[0] >= 0]  # where it is negative JAX has zeros
    cases = [
        (RANDOM.normal(size=(size, 2)), np.array([scale]), np.array([shift]))
        for (scale, shift), size in itertools.product(moves, (5, 1))
    ]

    def by_jax(cases: Any) -> Any:
        of_jax = jax.image.scale_and_translate
        return [of_jax(x, (6, 2), (0,), scale, shift, to_jax(method), antialias) for x, scale, shift in cases]

    with jax.enable_x64(True):
        wanted = jax.jit(by_jax)(cases)  # one program: to compile op by op takes longer
        for (image, scale, shift), expected in zip(cases, wanted, strict=True):
            found = scale_and_translate(image, (6, 2), (0,), scale, shift, method, antialias)
            agree(found, np.asarray(expected), 3e-6 if "lanczos" in method else 1e-10)


def test_scale_and_translate_mirrors_areas() -> None:
    image = RANDOM.normal(size=6)
    mirrored = scale_and_translate(image, (3,), (0,), np.array([-0.5]), np.array([3.0]), "area")
    np.testing.assert_allclose(mirrored, resize(image, (3,), "area")[::-1])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "bfloat16", "float32", "complex64"])
def test_resize_of_dtypes(dtype: str) -> None:
    image = (3 * RANDOM.normal(size=(4, 5))).astype(as_dtype(dtype))
    assert resize(image, (2, 7), "nearest").dtype == image.dtype
    wide = image.astype(complex if dtype == "complex64" else float)
    for method in ("linear", "lanczos3"):
        expected = resize(wide, (2, 7), method)
        agree(resize(image, (2, 7), method), expected.astype(float if image.dtype.kind in "biu" else image.dtype))


@pytest.mark.parametrize("method", NAMES[1:])
def test_image_derivatives_batches_and_programs(method: str) -> None:
    image, scale, shift = RANDOM.normal(size=(4, 5)), np.array([0.7, 1.3]), np.array([0.23, -0.41])

    def function(image: Any, scale: Any, shift: Any) -> Any:
        return scale_and_translate(image, (5, 4), (0, -1), scale, shift, method, antialias=False)

    held(function, (image, scale, shift), rtol=1e-4)
    compiled(lambda image: resize(image, (3, 7), method), (image,), ("numpy",))
    laws.check_grads(
        lambda *args: scale_and_translate(args[0], (5, 4), (0, 1), *args[1:], method), (image, scale, shift), 1
    )


def test_resize_methods_have_the_names_of_jax() -> None:
    assert [method.name for method in ResizeMethod] == [method.name for method in jax.image.ResizeMethod]
    for name in (*NAMES, "bilinear", "trilinear", "triangle", "bicubic", "tricubic", "bicubic-pytorch"):
        assert ResizeMethod.from_string(name).name == jax.image.ResizeMethod.from_string(name).name
    ours = lawful.jax.image.resize(np.arange(3.0), (6,), method=lawful.jax.image.ResizeMethod.LINEAR)
    assert isinstance(ours, lawful.jax.Array)


def test_image_functions_refuse_wrong_arguments() -> None:
    image, one = np.ones((3, 4)), np.ones(1)
    for call in (
        lambda: resize(image, (3,), "linear"),
        lambda: resize(image, (3, -1), "linear"),
        lambda: resize(image, (3, 4), "box"),
        lambda: scale_and_translate(image, (5, 4), (0,), one, one, "nearest"),
        lambda: scale_and_translate(image, (5, 5), (0,), one, one, "linear"),
        lambda: scale_and_translate(image, (5, 4), (0,), np.ones(2), one, "linear"),
    ):
        with pytest.raises(ArgumentValueError, match="expected"):
            call()
    with pytest.raises(AxisError):
        scale_and_translate(image, (5, 4), (2,), one, one, "linear")
