"""docs/errors.md is what the programs in it say, and knows every class and every construct that is refused."""

import inspect
import sys

import pytest

import rosejit as rose
from rosejit import errors
from rosejit.frontend.syntax import fence
from tests.docs.test_generate_ops import ROOT, load

page = load(ROOT / "docs" / "generate_errors.py")


def test_errors_md_is_not_stale():
    written = page.TARGET.read_text(encoding="utf-8")
    assert page.comparable(written) == page.comparable(page.text()), "run python docs/generate_errors.py"


def test_every_public_class_has_an_entry():
    public = {name for name in rose.__all__ if inspect.isclass(getattr(rose, name))}
    classes = {name for name in public if issubclass(getattr(rose, name), rose.RoseError)}
    assert {case.name for case in page.CASES} == classes - {"RoseError"}
    private = {"VerifyError", "RoseError"}
    ours = {name for name, held in vars(errors).items() if inspect.isclass(held) and issubclass(held, Exception)}
    assert ours - private - classes == {"_RoseSyntaxError"}


@pytest.mark.parametrize("name", page.REFUSALS)
def test_every_refusal_says_where_and_what_to_do(name):
    error = page.refusal_of(page.REFUSALS[name])
    assert error.span is not None
    assert error.span.file == "fence.py"
    assert error.help


def test_every_rule_of_the_fence_has_a_refusal():
    """The rules are counted by the nodes that they are for; each of those is in one of the statements."""
    reached = set()
    rules = fence._RULES | fence._ALONE

    def noting(kind, rule):
        def note(node, around):
            faults = list(rule(node, around))
            reached.update([kind] * len(faults))
            yield from faults

        return note

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fence, "_RULES", {kind: noting(kind, rule) for kind, rule in fence._RULES.items()})
        patch.setattr(fence, "_ALONE", {kind: noting(kind, rule) for kind, rule in fence._ALONE.items()})
        for statement in page.REFUSALS.values():
            page.refusal_of(statement)
    missing = {kind.__name__ for kind in set(rules) - reached}
    assert missing == (set() if sys.version_info >= (3, 11) else {"TryStar"})
    assert {f"`{name}()`" for name in fence._FRAME_READERS} <= set(page.REFUSALS)
