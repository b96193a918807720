"""One of two values, by a flag: written, and staged, as a user's code is."""

# Values of users are of any type: what they are is asked while staging.
# pyright: basic


def if_there(flag, value):
    """The value, if the flag says so."""
    return value if flag else None


def either(flag, one, other):
    """The first, if the flag says so."""
    return one if flag else other
