"""Values of the host that processes exchange: what to wait for, gather, broadcast and compare.

>>> process_allgather(3.0)
array([3.])
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from lawful import tree
from lawful.core import ArgumentTypeError, to_numpy
from lawful.parallel._mesh.devices import xla
from lawful.parallel._processes import group as processes
from lawful.parallel._processes.errors import ProcessMismatchError
from lawful.staging import jit

Leaves = list[np.ndarray[Any, Any]]


def sync_global_devices(name: str) -> None:
    """Waits until all processes call this with the same name.

    Args:
      name: what the processes wait for.

    Raises:
      ProcessEndedError: another process has ended.
      ProcessTimeoutError: one does not come within ``collective_timeout_seconds`` of `initialize`.
      ProcessMismatchError: all wait, for different things.

    >>> sync_global_devices("start")

    Source: ``jax.experimental.multihost_utils.sync_global_devices``.
    """
    _meet(f"sync_global_devices({name!r})")


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """Returns the values of all processes, in each of them.

    Args:
      in_tree: a pytree of arrays, of the same shapes and dtypes in all processes. An Array of which other processes
        have parts stands for itself: the whole of it is returned.
      tiled: whether to concatenate the arrays along their first dimension, rather than stack them along a new one.

    Returns:
      The pytree with NumPy arrays.

    Raises:
      ProcessMismatchError: structures, shapes or dtypes differ.
      ProcessEndedError, ProcessTimeoutError: as `sync_global_devices`.

    >>> process_allgather({"a": np.arange(2), "b": 1.5})
    {'a': array([[0, 1]]), 'b': array([1.5])}

    Source: ``jax.experimental.multihost_utils.process_allgather``.
    """
    leaves, structure = tree.flatten(in_tree)
    shared = [_is_shared(leaf) for leaf in leaves]
    mine = [_on_host(leaf) for leaf, is_shared in zip(leaves, shared, strict=True) if not is_shared]
    everyone = _exchanged("process_allgather", mine, structure)
    join = np.concatenate if tiled else np.stack
    joined = iter([join([np.atleast_1d(x) if tiled else x for x in values]) for values in zip(*everyone, strict=True)])
    return tree.unflatten(
        structure, [_whole(leaf) if is_shared else next(joined) for leaf, is_shared in zip(leaves, shared, strict=True)]
    )


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """Returns the values of one process, in each of them.

    Args:
      in_tree: a pytree of arrays, of the same shapes and dtypes in all processes.
      is_source: whether this process has the values; by default process 0.

    Returns:
      The pytree with NumPy arrays.

    Raises:
      ProcessMismatchError: structures, shapes or dtypes differ, or not exactly one process is the source.
      ProcessEndedError, ProcessTimeoutError: as `sync_global_devices`.

    >>> broadcast_one_to_all([1, 2])
    [array(1), array(2)]

    Source: ``jax.experimental.multihost_utils.broadcast_one_to_all``.
    """
    name = "broadcast_one_to_all"
    leaves, structure = tree.flatten(in_tree)
    mine = [*map(_on_host, leaves)]
    group = processes.group()
    if is_source is None:
        is_source = group is None or group.member.index == 0
    everyone = _exchanged(name, mine, structure, gives_values=is_source)
    sources = [values for values in everyone if values is not None]
    if len(sources) != 1:
        raise ProcessMismatchError(
            f"{name}: expected one process to be the source, got {len(sources)}; let is_source be true in one of them"
        )
    return tree.unflatten(structure, sources[0])


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Raises an error in all processes unless they have equal values.

    Args:
      in_tree: a pytree of arrays.
      fail_message: what the error says besides.

    Raises:
      ProcessMismatchError: the values are not equal, bit for bit; it names the leaf and the processes.
      ProcessEndedError, ProcessTimeoutError: as `sync_global_devices`.

    >>> assert_equal({"step": 3})

    Source: ``jax.experimental.multihost_utils.assert_equal``.
    """
    leaves, structure = tree.flatten(in_tree)
    everyone = _exchanged("assert_equal", [*map(_on_host, leaves)], structure)
    for position, values in enumerate(zip(*everyone, strict=True)):
        for index, value in enumerate(values):
            if value.tobytes() != values[0].tobytes():
                path = tree.keystr(tree.leaves_with_path(in_tree)[position][0])
                raise ProcessMismatchError(
                    f"assert_equal: expected in_tree{path} to be equal in all processes, got {values[0]} in process 0 "
                    f"and {value} in process {index}; {fail_message or 'compute it in the same way in all'}"
                )


def _meet(what: str, payload: bytes = b"") -> list[bytes]:
    """Returns what all processes give; what this one gives, where it is alone."""
    group = processes.group()
    return [payload] if group is None else group.member.meet(what, payload, timeout=group.timeout)


def _exchanged(name: str, mine: Leaves, structure: Any, *, gives_values: bool = True) -> list[Any]:
    """Returns for each process its arrays, or None where it gave none.

    Raises:
      ProcessMismatchError: the types are not the same in all processes.
    """
    types = [f"{value.dtype.name}{list(value.shape)}" for value in mine]
    head = json.dumps([gives_values, types, str(structure)]).encode()
    body = b"".join([value.tobytes() for value in mine]) if gives_values else b""
    found: list[Any] = []
    for index, payload in enumerate(_meet(name, len(head).to_bytes(8) + head + body)):
        size = int.from_bytes(payload[:8])
        has_values, theirs, their_structure = json.loads(payload[8 : 8 + size])
        if theirs != types or their_structure != str(structure):
            raise ProcessMismatchError(
                f"{name}: expected the same structure and types in all processes, got {structure} of {types} in this "
                f"one and {their_structure} of {theirs} in process {index}; give equal ones"
            )
        found.append(_arrays(payload[8 + size :], mine) if has_values else None)
    return found


def _arrays(data: bytes, like: Sequence[np.ndarray[Any, Any]]) -> Leaves:
    found: Leaves = []
    start = 0
    for value in like:
        found.append(np.frombuffer(data[start : start + value.nbytes], value.dtype).reshape(value.shape).copy())
        start += value.nbytes
    return found


def _is_shared(leaf: Any) -> bool:
    """Whether other processes have parts of a value."""
    backend = xla()
    return backend is not None and type(leaf) is backend.Array and not leaf.is_fully_addressable


def _on_host(leaf: Any) -> np.ndarray[Any, Any]:
    value = np.asarray(to_numpy(leaf))
    if value.dtype.hasobject:
        raise ArgumentTypeError(f"processes: expected arrays of numbers, got {value.dtype}; convert it")
    return value


def _whole(x: Any) -> np.ndarray[Any, Any]:
    """Returns all elements of an Array of which other processes have parts."""
    replicated = x.sharding.with_dimension_axes(((),) * x.ndim)
    return np.array(jit(lambda x: x, out_shardings=replicated)(x))
