"""Exchange of the outer and inner structure of a tree of trees."""

from __future__ import annotations

from typing import Any

from lawful.tree._flatten import flatten, refuse_non_treedef, structure
from lawful.tree._structure.difference import mismatch_error, open_tree, open_treedef
from lawful.tree._structure.treedef import PyTreeDef
from lawful.tree.base.errors import ArgumentValueError, TreeTransposeError


def transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any) -> Any:
    """Returns a tree of structure (inner, outer) with the leaves of one of structure (outer, inner).

    Args:
      outer_treedef: the outer structure of the tree given.
      inner_treedef: the structure that stands at each leaf of the outer one; None to take that of the first.
      pytree_to_transpose: the tree, whose structure is ``outer_treedef.compose(inner_treedef)``.

    Raises:
      TreeTransposeError: the tree has another structure.
      ArgumentValueError: the inner structure is None and the outer one has no leaves.

    Example:
      >>> from lawful import tree
      >>> tree.transpose(tree.structure([0, 0]), None, [("a", "b"), ("c", "d")])
      (['a', 'c'], ['b', 'd'])

    Source: ``jax.tree.transpose``, which lets a tree of another structure pass if it has as many leaves.
    """
    refuse_non_treedef("transpose", "outer_treedef", outer_treedef)
    leaves, treedef = flatten(pytree_to_transpose)
    if inner_treedef is None:
        if outer_treedef.num_leaves == 0:
            raise ArgumentValueError(
                f"transpose: expected an inner_treedef with the outer structure {outer_treedef}, which has no leaves "
                "to take it from, got None; give inner_treedef"
            )
        inner_treedef = structure(outer_treedef.flatten_up_to(pytree_to_transpose)[0])
    refuse_non_treedef("transpose", "inner_treedef", inner_treedef)
    expected = outer_treedef.compose(inner_treedef)
    if treedef != expected:
        error = mismatch_error(
            "transpose",
            expected=("outer.compose(inner)", expected, open_treedef),
            got=("pytree_to_transpose", pytree_to_transpose, open_tree),
            advice="give a tree of the outer structure with a tree of the inner structure at each leaf",
        )
        raise TreeTransposeError(error.message)
    step = inner_treedef.num_leaves
    return inner_treedef.unflatten([outer_treedef.unflatten(leaves[start::step]) for start in range(step)])
