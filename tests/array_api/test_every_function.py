"""Every function of the standard gives what the standard says, on NumPy's arrays, on the device's and compiled."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .specs import SPECS
from .specs.spec import check_eager, check_staged

every_function = pytest.mark.parametrize("name", SPECS)
# Compilation by XLA takes as long as fifty by NumPy; several calls in one program hardly add time.
COMPILED = max(2, settings.default.max_examples // 12)  # type: ignore[attr-defined]  # there is a default


@every_function
def test_array_api_eagerly_and_staged(name: str) -> None:
    spec = SPECS[name]

    @given(spec.calls)
    def check(call) -> None:  # type: ignore[no-untyped-def]  # Hypothesis reads annotations
        check_eager(spec, call)
        if not spec.untraced:
            check_staged(spec, [call], "numpy")

    check()


@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if not spec.untraced])
def test_array_api_compiled(name: str) -> None:
    spec = SPECS[name]

    @settings(max_examples=COMPILED)
    @given(st.lists(spec.calls, min_size=4, max_size=4))
    def check(calls) -> None:  # type: ignore[no-untyped-def]  # Hypothesis reads annotations
        check_staged(spec, calls, "xla")

    check()
