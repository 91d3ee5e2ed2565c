"""Gather and scatter: windows of an array at dynamic positions, read and written."""
