"""The reference: a page for each public module, with every public name, from signatures and docstrings."""

from tools.site.reference.pages import write_reference

__all__ = ["write_reference"]
