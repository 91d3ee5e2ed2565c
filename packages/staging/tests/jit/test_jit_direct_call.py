"""The direct path of `jit` is an accelerator: `plain` switches it off for every function, and back on."""

from typing import Any

import numpy as np
import pytest

from lawful.core import is_plain, plain
from lawful.staging import JitFunction, clear_caches, jit
from lawful.staging._fast import direct_call
from lawful.staging._fast.direct_call import recent_programs
from lawful.staging._jit.jit import call_hook

needs_fast = pytest.mark.skipif(is_plain(), reason="the plain layer has no direct path")
X = np.array([0.5, 2.0])


@needs_fast
def test_jit_call_is_plain_inside_plain_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the function was made before, in or after ``plain``."""
    looked_up: list[Any] = []
    flatten = JitFunction._flatten

    def counted(self: JitFunction, args: Any, kwargs: Any) -> Any:
        looked_up.append(args)
        return flatten(self, args, kwargs)

    monkeypatch.setattr(JitFunction, "_flatten", counted)

    def lookups(function: Any) -> int:
        looked_up.clear()
        np.testing.assert_array_equal(function(X), X + 1.0)
        return len(looked_up)

    before = jit(lambda x: x + 1.0, backend="numpy")
    assert [lookups(before), lookups(before)] == [1, 0]
    with plain():
        assert JitFunction.__call__ is call_hook.plain
        inside = jit(lambda x: x + 1.0, backend="numpy")
        assert [lookups(before), lookups(inside), lookups(inside)] == [1, 1, 1]
    assert JitFunction.__call__ is direct_call.call
    assert [lookups(before), lookups(inside), lookups(inside)] == [0, 1, 0]


@needs_fast
def test_jit_tries_a_bounded_number_of_programs() -> None:
    function = jit(lambda x: x + x, backend="numpy")
    for n in range(8):
        function(np.ones(n))
    assert len(recent_programs(function)) == direct_call._MOST_RECENT
    clear_caches()
    assert recent_programs(function) == ()


@needs_fast
def test_jit_of_static_arguments_has_no_direct_path() -> None:
    function = jit(lambda x, n: x * n, static_argnums=1, backend="numpy")
    assert [float(function(2.0, n)) for n in (3, 3, 4)] == [6.0, 6.0, 8.0]
    assert recent_programs(function) == ()
