"""The accelerator of batching: a trace with fewer Python calls."""

from lawful.batching._batch import batch_hook
from lawful.batching._fast.batch import FastBatchTrace

batch_hook.install(FastBatchTrace)

__all__ = ["FastBatchTrace"]
