"""Primitives of users: functions that are not traced, with the derivatives that their authors give them."""
