"""Faults in copies of aliased arrays, and in state of threads."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lawful.autodiff import _linear_function
from lawful.core import current, eval_trace
from lawful.staging import _ownership
from lawful.staging._recorder import Recorder
from tests.faults._fault import Fault, function_fault, instead, method_fault, replace_everywhere


def _share_the_trace(patch: pytest.MonkeyPatch) -> None:
    replace_everywhere(patch, "current", current, SimpleNamespace(trace=eval_trace, context=None))


ownership_faults = (
    function_fault(
        "constants and residuals are not copied", "residual aliasing", _ownership, "read_only", instead(lambda x: x)
    ),
    method_fault(
        "constants of traces are not copied", "closure constant", Recorder, "snapshot", instead(lambda self, x: x)
    ),
    function_fault(
        "results share memory with arguments",
        "results alias arguments",
        _ownership,
        "copy_aliased",
        instead(lambda results, others: list(results)),
    ),
    function_fault(
        "results share memory with residuals",
        "residual aliasing",
        _linear_function,
        "copy_aliased_outputs",
        instead(lambda linearized, aux: aux),
        ("exp, smooth", "exp", "smooth"),
    ),
    Fault("threads share the current trace", "state shared between threads", "`current` of core", _share_the_trace),
)
