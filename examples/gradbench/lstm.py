"""A long short-term memory that predicts the next character of a text, bit by bit. Gradient.

ADBench's network has no matrices: each of the b bits of a character has its own weights. A layer with the state
(hidden h, cell c) and the input x computes, with weights w and biases v of its four gates,

    forget = σ(x w₁ + v₁), ingate = σ(h w₂ + v₂), outgate = σ(x w₃ + v₃), change = tanh(h w₄ + v₄),
    c' = c forget + ingate change,   h' = outgate tanh c'.

The last h', scaled and shifted, is the prediction y of the next character z; the loss is the mean over bits and
characters of -z (y - log (2 + Σ exp y)), with the 2 as ADBench has it.

Source: ADBench; GradBench, which keeps that quirk.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

import lawful.numpy as np
from lawful.autodiff import grad
from lawful.control_flow import scan
from lawful.special import expit

from .objective import Objective

# ADBench's text has a curly apostrophe, character 8217.
BITS = 14
SIZES = {
    "tiny": {"layers": 2, "characters": 8},
    "small": {"layers": 2, "characters": 1024},
    "medium": {"layers": 4, "characters": 1024},
    "large": {"layers": 4, "characters": 4096},
}


class Text(NamedTuple):
    """The state (2 · layers, b) before a text, and the text (characters, b)."""

    state: Any
    bits: Any


def generate(layers: int, characters: int, seed: int) -> tuple[Any, Any]:
    """Returns ``(main, extra)`` of shapes (2 · layers, 4 b) and (3, b), and a random text of ASCII characters."""
    rng = numpy.random.default_rng(seed)
    state, main, extra = rng.random((2 * layers, BITS)), rng.random((2 * layers, 4 * BITS)), rng.random((3, BITS))
    return (main, extra), Text(state, bits_of("".join(map(chr, rng.integers(32, 127, size=characters)))))


def bits_of(text: str) -> Any:
    """Returns the bits of the characters, the highest first, as an array of numbers of shape (characters, b)."""
    codes = numpy.array([ord(character) for character in text])
    return (codes[:, None] >> numpy.arange(BITS)[::-1] & 1).astype(float)


def layer(weight: Any, bias: Any, hidden: Any, cell: Any, x: Any) -> tuple[Any, Any]:
    """Returns the state of a layer, ``(hidden, cell)``, after the input ``x``."""
    forget, ingate, outgate, change = np.split(np.concatenate([x, hidden, x, hidden]) * weight + bias, 4)
    cell = cell * expit(forget) + expit(ingate) * np.tanh(change)
    return expit(outgate) * np.tanh(cell), cell


def predict(main: Any, extra: Any, state: Any, x: Any) -> tuple[Any, Any]:
    """Returns the prediction of the character after ``x``, and the state of all layers."""
    after: list[Any] = []
    x = x * extra[0]
    for i in range(0, len(state), 2):
        after += layer(main[i], main[i + 1], state[i], state[i + 1], x)
        x = after[i]
    return x * extra[1] + extra[2], np.stack(after)


def loss(parameters: Any, text: Text) -> Any:
    """Returns the mean loss."""
    main, extra = parameters

    def step(before: Any, following: Any) -> tuple[Any, Any]:
        state, x = before
        y, state = predict(main, extra, state, x)
        return (state, following), -np.mean(following * (y - np.log(2.0 + np.sum(np.exp(y)))))

    _, losses = scan(step, (text.state, text.bits[0]), text.bits[1:])
    return np.mean(losses)


lstm = Objective(name="lstm", sizes=SIZES, generate=generate, value=loss, derivative=grad(loss))
