"""The NumPy backend: jaxprs as Python functions over NumPy arrays."""
