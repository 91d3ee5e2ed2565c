"""The class of arrays that are traced, for annotations and ``isinstance``."""

from lawful.core import Tracer as ArrayBox

__all__ = ["ArrayBox"]
