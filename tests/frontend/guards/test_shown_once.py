"""Texts that are shown while a function is staged are shown at that time alone: a warning says so, with the line."""

import logging
import sys
import warnings

import pytest

import rosejit as rose

LOGGER = logging.getLogger("rosejit.tests.shown")
LOGGER.setLevel(logging.INFO)
WAYS = {
    "stdout": lambda: sys.stdout.write("shown\n"),
    "stderr": lambda: sys.stderr.write("shown\n"),
    "lines": lambda: sys.stdout.writelines(["shown\n"]),
    "warn": lambda: warnings.warn("shown", stacklevel=1),
    "logging": lambda: logging.error("shown"),
    "logger": lambda: LOGGER.info("shown"),
    "critical": lambda: LOGGER.critical("shown"),
}
QUIET = {
    "too low a level": lambda: LOGGER.debug("shown"),
    "its name": lambda: LOGGER.name,
    "flush": lambda: sys.stdout.flush(),
}


def direct(show):
    def f(x):
        show()
        return 2.0 * x

    return rose.jit(f)


def nested(show):
    inner = direct(show)
    return rose.jit(lambda x: inner(x) + 1.0)


def gradient(show):
    return rose.grad(direct(show))


PLACES = {"direct": direct, "nested": nested, "gradient": gradient}


def warned(f, *args):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        f(*args)
    return [w for w in found if w.category is rose.StagingWarning and "is called once" in str(w.message)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("way", WAYS)
def test_a_warning_with_the_line(way, place):
    f = PLACES[place](WAYS[way])
    (one,) = warned(f, 1.0)
    assert one.filename == __file__
    assert "later calls show nothing" in str(one.message)
    warned(f, 1.0)  # a logger is changed by its first message, and so read again
    assert not warned(f, 2.0)


@pytest.mark.parametrize("way", QUIET)
def test_what_shows_nothing(way):
    assert not warned(direct(QUIET[way]), 1.0)
