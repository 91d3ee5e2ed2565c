"""Device arrays, their text, and their transfers between Python, devices and other libraries."""
