"""The types of functions with rules as type checkers see them: they are called as the function that they decorate.

The classes are in the modules beside this one; `tests/user_types` compares the parameters of both.
"""

from collections.abc import Callable, Sequence

from lawful.custom_rules import _custom_jvp, _custom_rule, _custom_vjp, _custom_vmap

class custom_rule[**P, R](_custom_rule.custom_rule):
    def __init__(
        self, fun: Callable[P, R], nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()
    ) -> None: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

class custom_jvp[**P, R](_custom_jvp.custom_jvp):
    def __init__(
        self, fun: Callable[P, R], nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()
    ) -> None: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

class custom_vjp[**P, R](_custom_vjp.custom_vjp):
    def __init__(
        self, fun: Callable[P, R], nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()
    ) -> None: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

class custom_vmap[**P, R](_custom_vmap.custom_vmap):
    def __init__(self, fun: Callable[P, R]) -> None: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
