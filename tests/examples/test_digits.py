"""The classifier of digits learns, on each backend, in a short form; its gradients are those of its examples."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from lawful.autodiff import grad
from lawful.batching import vmap

SCRIPT = Path(__file__).parents[2] / "examples" / "digits.py"


@pytest.fixture(scope="module")
def digits() -> ModuleType:
    spec = importlib.util.spec_from_file_location("digits", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["digits"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("backend", ["numpy", "xla"])
def test_digits_short_training_reaches_the_accuracy(digits: ModuleType, backend: str, tmp_path: Path) -> None:
    picture = tmp_path / "pictures" / "digits.png"
    assert digits.main(["--steps", "600", "--backend", backend, "--output", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000


def test_digits_too_short_a_training_is_reported(digits: ModuleType, tmp_path: Path) -> None:
    assert digits.main(["--steps", "3", "--backend", "numpy", "--output", str(tmp_path / "digits.png")]) == 1


def test_digits_norms_are_those_of_gradients_of_single_examples(digits: ModuleType) -> None:
    learn, _ = digits.load(0)
    parameters = digits.initial_parameters(0)
    images, labels = learn.images[:5], learn.labels[:5]
    norms = vmap(digits.gradient_norm, in_axes=(None, 0, 0))(parameters, images, labels)
    for norm, image, label in zip(norms, images, labels, strict=True):
        gradient = grad(digits.cross_entropy)(parameters, image, label)
        flat = np.concatenate([np.ravel(g) for layer in gradient.values() for g in layer.values()])
        np.testing.assert_allclose(norm, np.linalg.norm(flat), rtol=1e-12)
