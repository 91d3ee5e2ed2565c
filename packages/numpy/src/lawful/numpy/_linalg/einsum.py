"""`einsum`: sums of products of many arrays, evaluated two at a time in the order that opt_einsum finds."""

from __future__ import annotations

import inspect
import string
from collections.abc import Sequence
from typing import Any

import numpy
from lawful import ops
from lawful.core import ArgumentTypeError, ArgumentValueError, as_dtype, avals_of, cached_function, get_aval, is_array
from lawful.numpy._eager import ARRAY_TYPES, direct, is_plain
from lawful.ops import composite

__all__ = ["einsum", "einsum_path"]

Path = tuple[tuple[int, ...], ...]

_CHARACTERS = frozenset(f"{string.ascii_letters},.-> ")


#: Fewer products than this are summed in less time than it takes to find out how.
_FEW_PRODUCTS = 10_000


def _is_small(arrays: Sequence[Any]) -> bool:
    """Whether NumPy sums the products of one or two arrays without searching an order."""
    if len(arrays) == 2:
        return numpy.size(arrays[0]) * numpy.size(arrays[1]) <= _FEW_PRODUCTS
    return len(arrays) == 1


_sum_of_few = inspect.unwrap(numpy.einsum)  # without NumPy's dispatch


def _numpy_einsum(text: Any, *arrays: Any) -> Any:
    # What "..." and a missing "->" stand for is left to the parser.
    if type(text) is not str or "->" not in text or "." in text:
        raise TypeError(text)
    if len(arrays) == 1 or (len(arrays) == 2 and arrays[0].size * arrays[1].size <= _FEW_PRODUCTS):
        return _sum_of_few(text, *arrays)
    raise TypeError(arrays)


@direct(_numpy_einsum, arrays=None, types=ARRAY_TYPES | {str})
def einsum(
    *operands: Any, out: Any = None, optimize: Any = True, dtype: Any = None, order: str = "K", casting: str = "safe"
) -> Any:
    """Returns the sum of products that a text of letters says.

    Args:
      operands: the text and the arrays, ``einsum("ij,jk->ik", a, b)``; or the arrays, each with the list of its
        dimensions' numbers, ``einsum(a, [0, 1], b, [1, 2], [0, 2])``. Dimensions of one letter go together, those of a
        letter that the result has not are summed over, ``...`` stands for any others, which are broadcast. Without
        ``->`` the result has the letters that occur once, in alphabetical order.
      out: None only.
      optimize: in which order the arrays are multiplied: True or a name that opt_einsum knows to search for a good one,
        ``(name, most_elements)``, a path that `einsum_path` gives; False for from left to right.
      dtype: the dtype to compute in.
      order: accepted, without effect.
      casting: which conversions to ``dtype`` are allowed, as in ``numpy.can_cast``.

    Raises:
      ArgumentValueError: the text does not fit the arrays, or lengths differ.
      ArgumentTypeError: ``dtype`` needs another conversion, or an operand is no array.

    Law: linear in each array.

    >>> einsum("ij,jk->ik", numpy.array([[1, 2]]), numpy.array([[3], [4]]))
    array([[11]])

    Source: ``numpy.einsum``, ``jax.numpy.einsum``.
    """
    if out is not None:
        raise ArgumentTypeError("einsum: expected no out=, got one: arrays are not overwritten; use the result")
    text, arrays = _parse(operands)
    if is_plain(*arrays) and dtype is None:
        try:
            return numpy.einsum(text, *arrays, optimize=optimize if optimize is not True else not _is_small(arrays))
        except (TypeError, ValueError, KeyError, IndexError, RuntimeError):
            pass  # the code below raises the error
    return _sum_of_products(arrays, text, optimize, dtype, casting)


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> tuple[list[Any], str]:
    """Returns the order in which `einsum` would multiply arrays, and a text about it.

    >>> einsum_path("ij,jk,kl", numpy.ones((2, 2)), numpy.ones((2, 5)), numpy.ones((5, 2)))[0]
    ['einsum_path', (1, 2), (0, 1)]

    Source: ``numpy.einsum_path``.
    """
    text, arrays = _parse(operands)
    stand_ins = [numpy.broadcast_to(numpy.zeros((), numpy.int8), get_aval(x).shape) for x in arrays]
    path, explanation = numpy.einsum_path(text, *stand_ins, optimize=optimize)
    return list(path), explanation


# Subscripts


def _parse(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """Returns the explicit subscripts, such as ``"ab,bc->ac"``, and the arrays."""
    if not operands:
        raise ArgumentValueError("einsum: expected a text and arrays, got nothing; give einsum('ij->ji', x)")
    subscripts = operands[0] if isinstance(operands[0], str) else None
    if subscripts is None and len(operands) == 1:
        raise ArgumentTypeError(
            "einsum: expected a text before the arrays, or a list of dimensions after each, got one operand; give "
            "einsum('ij->ji', x)"
        )
    arrays = list(operands[1:] if subscripts is not None else operands[: len(operands) // 2 * 2 : 2])
    for x in arrays:
        if not is_array(x):
            raise ArgumentTypeError(f"einsum: expected arrays, got {x!r:.60}; convert it with asarray")
    shapes = tuple([aval.shape for aval in avals_of(arrays)])
    if subscripts is not None:
        return _written_out(subscripts, shapes), arrays
    stand_ins: list[Any] = [*operands]
    stand_ins[: 2 * len(arrays) : 2] = map(_stand_in, shapes)
    return _read(stand_ins, shapes), arrays


@cached_function("einsum subscripts", 1024)
def _written_out(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> str:
    if set(subscripts) - _CHARACTERS:
        raise ArgumentValueError(
            f"einsum: expected subscripts of letters, commas, dots and an arrow, got {subscripts!r:.60}; correct them"
        )
    return _read([subscripts, *map(_stand_in, shapes)], shapes)


def _stand_in(shape: tuple[int, ...]) -> Any:
    """Returns an array of a shape that takes one byte."""
    return numpy.broadcast_to(numpy.zeros((), numpy.int8), shape)


def _read(stand_ins: list[Any], shapes: Sequence[tuple[int, ...]]) -> str:
    """Returns the explicit subscripts of arguments of `einsum`."""
    import opt_einsum  # a lazy import: it takes 7 ms

    try:
        inputs, output, _ = opt_einsum.parser.parse_einsum_input(stand_ins)
    except (TypeError, ValueError, KeyError, IndexError) as error:
        error_type = ArgumentTypeError if isinstance(error, TypeError) else ArgumentValueError
        lists = [x for i, x in enumerate(stand_ins) if i % 2 or i == 2 * len(shapes)]
        subscripts = stand_ins[0] if isinstance(stand_ins[0], str) else lists
        raise error_type(
            f"einsum: expected subscripts that fit the arrays, got {subscripts!r:.60} for the shapes "
            f"{', '.join(map(str, shapes)) or 'of no array'}; {error}"
        ) from error
    if len(set(output)) < len(output) or len(inputs.split(",")) != len(shapes):
        raise ArgumentValueError(
            f"einsum: expected a term for each of {len(shapes)} arrays and a result in which a letter occurs once, got "
            f"{inputs}->{output}; correct the subscripts"
        )
    return f"{inputs}->{output}"


def _converted(arrays: Sequence[Any], dtype: Any, casting: Any) -> list[Any]:
    avals = [get_aval(x) for x in arrays]
    common = ops.promote("einsum", None, [numpy.zeros((), aval.dtype) for aval in avals])
    wanted = get_aval(common[0]).dtype if dtype is None else as_dtype(dtype)
    for aval in avals:
        if dtype is not None and not numpy.can_cast(aval.dtype, wanted, casting):
            raise ArgumentTypeError(
                f"einsum: expected arrays that can be cast to {wanted} by the rule {casting!r}, got {aval}; convert "
                "them with astype"
            )
    return [ops.convert_element_type(x, wanted) for x in arrays]


def _labels(text: str, shapes: Sequence[tuple[int, ...]]) -> list[str]:
    """Returns the letters of each array's dimensions; raises if they do not fit the shapes."""
    terms = text.partition("->")[0].split(",")
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        if len(term) != len(shape):
            raise ArgumentValueError(
                f"einsum: expected as many letters as dimensions, got {term!r} for the shape {shape}; correct {text!r}"
            )
        for letter, size in zip(term, shape, strict=True):
            if term.count(letter) > 1 and {shape[i] for i, other in enumerate(term) if other == letter} != {size}:
                raise ArgumentValueError(
                    f"einsum: expected dimensions of one length for the letter {letter!r}, got the shape {shape} for "
                    f"{term!r}; slice it"
                )
            have = sizes.get(letter, 1)
            if 1 not in (have, size) and have != size:
                raise ArgumentValueError(
                    f"einsum: expected dimensions of one length for the letter {letter!r}, got {have} and {size} in "
                    f"the shapes {', '.join(map(str, shapes))} for {text!r}; slice or broadcast one"
                )
            sizes[letter] = size if have == 1 else have
    unknown = set(text.partition("->")[2]) - set(sizes)
    if unknown:
        raise ArgumentValueError(
            f"einsum: expected letters in the result that an array has, got {sorted(unknown)}; correct {text!r}"
        )
    return terms


def _path(avals: tuple[Any, ...], labels: tuple[str, ...], wanted: str, optimize: Any) -> Path:
    """Returns the positions of the arrays to multiply in each step; a product is appended to the list."""
    if optimize is False:
        return ((0,),) if len(labels) == 1 else ((0, 1), *[(0, len(labels) - 1 - i) for i in range(1, len(labels) - 1)])
    if isinstance(optimize, list | tuple) and optimize and optimize[0] == "einsum_path":
        return tuple([tuple(step) for step in optimize[1:]])
    memory = None
    if isinstance(optimize, tuple) and len(optimize) == 2 and isinstance(optimize[0], str):
        optimize, memory = optimize
    if isinstance(optimize, list):
        optimize = tuple(map(tuple, optimize))
    text = f"{','.join(labels)}->{wanted}"
    try:
        return _found_path(
            text, tuple([aval.shape for aval in avals]), "auto" if optimize is True else optimize, memory
        )
    except (TypeError, ValueError, KeyError, IndexError) as error:
        raise ArgumentTypeError(
            f"einsum: expected optimize to be True, False, a name or a path, got {optimize!r}; {error}"
        ) from error


@cached_function("einsum paths", 1024)
def _found_path(text: str, shapes: tuple[tuple[int, ...], ...], optimize: Any, memory: int | None) -> Path:
    import opt_einsum

    if isinstance(optimize, tuple):
        optimize = list(optimize)
    path, _ = opt_einsum.contract_path(text, *shapes, shapes=True, optimize=optimize, memory_limit=memory)
    return tuple([tuple(step) for step in path])


# Products


@composite(sequence=True)
def _sum_of_products(arrays: Sequence[Any], text: str, optimize: Any, dtype: Any, casting: str) -> Any:
    arrays = _converted(arrays, dtype, casting)
    labels = _labels(text, [get_aval(x).shape for x in arrays])
    wanted = text.partition("->")[2]
    return _contract(arrays, labels, wanted, _path(tuple(map(get_aval, arrays)), tuple(labels), wanted, optimize))


def _contract(arrays: Sequence[Any], labels: Sequence[str], wanted: str, path: Path) -> Any:
    sizes: dict[str, int] = {}
    for x, term in zip(arrays, labels, strict=True):
        for letter, size in zip(term, get_aval(x).shape, strict=True):
            sizes[letter] = size if sizes.get(letter, 1) == 1 else sizes[letter]
    left = [_without_ones(*_diagonal(x, term), sizes) for x, term in zip(arrays, labels, strict=True)]
    for step in path:
        chosen = [left[i] for i in step]
        left = [pair for i, pair in enumerate(left) if i not in step]
        while len(chosen) > 1:
            remaining = set(wanted).union(*[term for _, term in left], *[term for _, term in chosen[2:]])
            chosen = [_product(*_ordered(chosen[0], chosen[1], wanted), remaining), *chosen[2:]]
        left.append(chosen[0])
    while len(left) > 1:
        remaining = set(wanted).union(*[term for _, term in left[2:]])
        left = [*left[2:], _product(*_ordered(left[0], left[1], wanted), remaining)]
    ((x, term),) = left
    x, term = _summed(x, term, set(wanted))
    # A dimension of length 1 that is broadcast was dropped from the arrays that have it.
    return ops.transpose(x, tuple([term.index(letter) for letter in wanted]))


def _diagonal(x: Any, term: str) -> tuple[Any, str]:
    """Returns the diagonal over dimensions with the same letter, as the last dimension."""
    for letter in set(term):
        while term.count(letter) > 1:
            first, second = (i for i, other in enumerate(term) if other == letter and i in _two_places(term, letter))
            order = [i for i in range(len(term)) if i not in (first, second)]
            x = ops.transpose(x, (*order, first, second))
            *shape, size, _ = get_aval(x).shape
            flat = ops.reshape(x, (*shape, size * size))
            x = ops.slice_in_dim(flat, 0, size * size, size + 1, axis=-1)
            term = "".join([term[i] for i in order]) + letter
    return x, term


def _two_places(term: str, letter: str) -> tuple[int, int]:
    first = term.index(letter)
    return first, term.index(letter, first + 1)


def _without_ones(x: Any, term: str, sizes: dict[str, int]) -> tuple[Any, str]:
    """Drops dimensions of length 1 that are broadcast against longer ones."""
    ones = [i for i, (letter, size) in enumerate(zip(term, get_aval(x).shape, strict=True)) if size != sizes[letter]]
    return ops.squeeze(x, ones), "".join([letter for i, letter in enumerate(term) if i not in ones])


def _summed(x: Any, term: str, remaining: set[str]) -> tuple[Any, str]:
    axes = [i for i, letter in enumerate(term) if letter not in remaining]
    if not axes:
        return x, term
    add = ops.reduce_or if get_aval(x).dtype.kind == "b" else ops.reduce_sum
    return add(x, axes), "".join([letter for letter in term if letter in remaining])


def _ordered(one: tuple[Any, str], other: tuple[Any, str], wanted: str) -> tuple[tuple[Any, str], tuple[Any, str]]:
    """Returns two arrays in the order in which their product has the last dimension of the result last.

    A product has the dimensions of the second array last. To transpose the last dimension is a strided copy.
    """
    last = set(wanted[-1:])
    return (other, one) if last & set(one[1]) - set(other[1]) else (one, other)


def _product(one: tuple[Any, str], other: tuple[Any, str], remaining: set[str]) -> tuple[Any, str]:
    """Returns the product of two arrays, summed over all but the remaining letters."""
    (x, x_term), (y, y_term) = one, other
    x, x_term = _summed(x, x_term, remaining | set(y_term))
    y, y_term = _summed(y, y_term, remaining | set(x_term))
    both = [letter for letter in x_term if letter in y_term]
    batch, contracted = [a for a in both if a in remaining], [a for a in both if a not in remaining]

    def positions(letters: Sequence[str]) -> tuple[list[int], list[int]]:
        return [x_term.index(a) for a in letters], [y_term.index(a) for a in letters]

    out = ops.dot_general(x, y, (positions(contracted), positions(batch)))
    free = [[a for a in term if a not in both] for term in (x_term, y_term)]
    return out, "".join([*batch, *free[0], *free[1]])
