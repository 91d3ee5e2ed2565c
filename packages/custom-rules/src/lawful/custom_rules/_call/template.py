"""Pytrees with holes: the tracers of a value become operands of a call, the other leaves stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from lawful import tree
from lawful.core import Tracer, exact_key, record


def _is_tracer(x: Any) -> bool:
    return isinstance(x, Tracer)


@record
class Template:
    """A pytree whose tracers are taken out.

    Attributes:
      treedef: the structure of the tree.
      leaves: the leaves, of any type, with None at the holes.
      holes: the positions of the tracers among the leaves.
    """

    treedef: Any
    leaves: tuple[Any, ...]
    holes: tuple[int, ...]

    @staticmethod
    def of(value: Any, is_hole: Callable[[Any], bool] = _is_tracer) -> tuple[Template, list[Any]]:
        """Returns the template of a pytree, and the leaves at its holes.

        Args:
          value: the pytree.
          is_hole: whether a leaf is taken out.
        """
        leaves, treedef = tree.flatten(value)
        holes = tuple([i for i, x in enumerate(leaves) if is_hole(x)])
        others = tuple([None if i in holes else x for i, x in enumerate(leaves)])
        return Template(treedef, others, holes), [leaves[i] for i in holes]

    def fill(self, values: Sequence[Any]) -> Any:
        """Returns the tree with values at the holes."""
        return self._filled(self.leaves, values)

    def mark(self, marks: Sequence[bool]) -> Any:
        """Returns a tree of the same structure with marks at the holes, and False elsewhere."""
        return self._filled((False,) * len(self.leaves), marks)

    def _filled(self, leaves: Sequence[Any], values: Sequence[Any]) -> Any:
        filled = list(leaves)
        for hole, value in zip(self.holes, values, strict=True):
            filled[hole] = value
        return tree.unflatten(self.treedef, filled)

    @property
    def key(self) -> Hashable:
        """Equal for templates with the same structure, holes and leaves."""
        return self.treedef.exact_key, self.holes, exact_key(tuple(self.leaves))


EMPTY, _ = Template.of([])
