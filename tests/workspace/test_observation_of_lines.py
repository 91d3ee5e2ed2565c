"""Tests in which a law must fail leave the interpreter as it was."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.scrutineer import MONITORING_TOOL_ID


@settings(database=None)  # a failure that is known is not explained
@given(st.integers())
def fails(number: int) -> None:
    assert number < 3


def test_failure_leaves_no_observation_of_lines() -> None:
    """Where lines are observed, each takes time that grows with its function; see ``_PHASES`` in conftest.py."""
    with pytest.raises(AssertionError):
        fails()
    assert sys.monitoring.get_tool(MONITORING_TOOL_ID) is None
    sys.monitoring.use_tool_id(MONITORING_TOOL_ID, "test")
    observed = sys.monitoring.get_events(MONITORING_TOOL_ID)
    sys.monitoring.free_tool_id(MONITORING_TOOL_ID)
    assert observed == 0
