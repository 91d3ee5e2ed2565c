"""The equation that makes a NaN or an infinity: ``blame_nan`` and ``debug_nans``."""
