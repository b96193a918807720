"""Every kind of failure becomes the class a user catches, with the message and the line."""

import pytest

from rosejit import errors
from rosejit.ir.failure import KINDS, failure_error, index_failure, primitive_failure
from rosejit.ir.syntax import Failure
from rosejit.ops import PRIMITIVES
from rosejit.span import Span

SPAN = Span("demo.py", 3, 4, 3, 8, "f")


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind):
    error = failure_error(Failure(kind, "it happened", SPAN, help="do this"))
    assert type(error) is KINDS[kind]
    assert isinstance(error, errors.RoseError)
    assert (error.message, error.span, error.help) == ("it happened", SPAN, "do this")


def test_python_classes():
    assert isinstance(failure_error(index_failure(SPAN), (7, 3)), IndexError)
    assert isinstance(failure_error(Failure("assertion", "")), AssertionError)
    assert isinstance(failure_error(Failure("overflow", "")), OverflowError)
    assert isinstance(failure_error(Failure("zero division", "")), ZeroDivisionError)
    assert isinstance(failure_error(Failure("unbound", "")), UnboundLocalError)
    assert isinstance(failure_error(Failure("something else", "")), errors.WasmTrap)


def test_values_stand_in_the_message():
    assert str(failure_error(index_failure(), (7, 3))) == "index 7 is out of range for length 3"
    assert str(failure_error(Failure("assertion", "{1} {0} {1} {2}"), (1.5, True))) == "True 1.5 True {2}"
    assert str(failure_error(Failure("assertion", "{x} {0}"))) == "{x} {0}"


def test_primitives_name_themselves():
    failing = [op for op in PRIMITIVES.values() if op.failure]
    assert failing
    for op in failing:
        failure = primitive_failure(op, SPAN)
        assert failure.kind in KINDS
        assert op.word in failure.message
        assert failure.span is SPAN


def test_exceptions_of_users_come_fresh():
    made = ValueError("bad")
    first, second = (failure_error(Failure("raise", "", exception=made)) for _ in range(2))
    assert first is not second
    assert first is not made
    assert (type(first), first.args, first.__traceback__) == (ValueError, ("bad",), None)
    assert str(failure_error(Failure("raise", "", exception=lambda a, b: KeyError(a + b)), (1, 2))) == "3"
    assert isinstance(failure_error(Failure("raise", "", exception=StopIteration)), StopIteration)


def test_classes_of_users_get_the_message():
    error = failure_error(Failure("raise", "bad", exception=ValueError))
    assert (type(error), error.args) == (ValueError, ("bad",))
