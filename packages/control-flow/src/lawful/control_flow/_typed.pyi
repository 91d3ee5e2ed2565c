"""The types of loops and branches as type checkers see them: a carry keeps its type, and a branch gives the result's.

The functions are in the modules beside this one; `tests/user_types` compares the parameters of both.
"""

from collections.abc import Callable, Sequence, Sized
from typing import Any, ClassVar, Protocol, overload

class DataClass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]

type Tree = Sized | DataClass

def cond[*Ts, R](pred: Any, true_fun: Callable[[*Ts], R], false_fun: Callable[[*Ts], R], *operands: *Ts) -> R: ...
def switch[*Ts, R](index: Any, branches: Sequence[Callable[[*Ts], R]], *operands: *Ts) -> R: ...
@overload
def scan[C, X, Y](
    f: Callable[[C, X], tuple[C, Y]],
    init: C,
    xs: X,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    checkpoints: int | None = None,
) -> tuple[C, Y]: ...
@overload
def scan[C](  # elements have another type than the arrays of them
    f: Callable[[C, Any], tuple[C, Any]],
    init: C,
    xs: Tree,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    checkpoints: int | None = None,
) -> tuple[C, Any]: ...
@overload
def scan[C, Y](  # a Python number takes the type of the carry
    f: Callable[[C, Any], tuple[C, Y]],
    init: complex,
    xs: Tree,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    checkpoints: int | None = None,
) -> tuple[C, Y]: ...
@overload
def scan[C, Y](
    f: Callable[[C, None], tuple[C, Y]],
    init: C,
    xs: None = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    checkpoints: int | None = None,
) -> tuple[C, Y]: ...
@overload
def scan[C, Y](
    f: Callable[[C, None], tuple[C, Y]],
    init: complex,
    xs: None = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    checkpoints: int | None = None,
) -> tuple[C, Y]: ...
@overload
def while_loop[C](
    cond_fun: Callable[[C], Any],
    body_fun: Callable[[C], C],
    init_val: C,
    *,
    max_iters: int | None = None,
    checkpoints: int | None = None,
) -> C: ...
@overload
def while_loop[C](
    cond_fun: Callable[[C], Any],
    body_fun: Callable[[C], C],
    init_val: complex,
    *,
    max_iters: int | None = None,
    checkpoints: int | None = None,
) -> C: ...
@overload
def fori_loop[C](
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, C], C],
    init_val: C,
    *,
    unroll: int | bool | None = None,
    max_iters: int | None = None,
    checkpoints: int | None = None,
) -> C: ...
@overload
def fori_loop[C](
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, C], C],
    init_val: complex,
    *,
    unroll: int | bool | None = None,
    max_iters: int | None = None,
    checkpoints: int | None = None,
) -> C: ...
@overload
def map[X, Y](f: Callable[[X], Y], xs: X, *, batch_size: int | None = None) -> Y: ...
@overload  # elements have another type than the arrays of them; a lambda over arrays of NumPy fits both
def map(f: Callable[[Any], Any], xs: Tree, *, batch_size: int | None = None) -> Any: ...
def associative_scan[T](fn: Callable[[T, T], T], elems: T, reverse: bool = False, axis: int = 0) -> T: ...
