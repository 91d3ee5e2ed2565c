"""``jax.api_util``: functions of flat arguments, for libraries that trace functions of trees themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lawful import tree
from lawful.jax.extend.linear_util import transformation_with_aux2


def debug_info(traced_for: str, fun: Callable[..., Any], args: Any, kwargs: Any, **_: Any) -> Any:
    """Returns None: jaxprs take the names of functions and arguments from the functions.

    >>> debug_info("jit", abs, (1.0,), {})
    """
    return None


@transformation_with_aux2
def flatten_fun(f: Callable[..., Any], store: Any, in_tree: Any, *leaves: Any) -> list[Any]:
    """Returns a function of the leaves of ``(args, kwargs)`` that returns leaves, and one that returns their tree.

    >>> from lawful.jax.extend.linear_util import wrap_init
    >>> leaves, in_tree = tree.flatten(((1.0,), {"y": 2.0}))
    >>> flat, out_tree = flatten_fun(wrap_init(lambda x, y: {"sum": x + y}), in_tree)
    >>> results = flat.call_wrapped(*leaves)
    >>> tree.unflatten(out_tree(), results)
    {'sum': 3.0}
    """
    args, kwargs = tree.unflatten(in_tree, leaves)
    results, out_tree = tree.flatten(f(*args, **kwargs))
    store.store(out_tree)
    return list(results)


@transformation_with_aux2
def flatten_fun_nokwargs(f: Callable[..., Any], store: Any, in_tree: Any, *leaves: Any) -> list[Any]:
    """Returns a function of the leaves of ``args`` that returns leaves, and one that returns their tree.

    >>> from lawful.jax.extend.linear_util import wrap_init
    >>> flat, out_tree = flatten_fun_nokwargs(wrap_init(lambda x: [x, x]), tree.structure((1.0,)))
    >>> flat.call_wrapped(3.0)
    [3.0, 3.0]
    """
    results, out_tree = tree.flatten(f(*tree.unflatten(in_tree, leaves)))
    store.store(out_tree)
    return list(results)
