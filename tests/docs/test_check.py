"""The checker of documents sees what it should, and every document is as it says."""

import textwrap

import pytest

from docs import check


def write(tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
    return path


def test_values_prints_and_errors_are_compared(tmp_path):
    shown = check.check(
        write(
            tmp_path,
            """
            Words.
            ```python
            x = 2
            x + 1  # -> 3
            print("a", "b")  # -> a b
            for i in range(2):
                print(i)
            # -> 0
            # -> 1
            1 / 0  # -> raises ZeroDivisionError: ...
            ```
            ```text
            x + 1  # -> 100
            ```
            """,
        )
    )
    assert [item.agrees for item in shown] == [True] * 4


def test_a_difference_is_found_at_its_line(tmp_path):
    (item,) = check.check(write(tmp_path, "```python\n\n6 * 7  # -> 41\n```\n"))
    assert not item.agrees
    assert (item.after, item.expected, item.found) == (3, "41", "42")


def test_an_error_nobody_announced_is_a_difference(tmp_path):
    (item,) = check.check(write(tmp_path, "```python\nmissing\n```\n"))
    assert not item.agrees
    assert item.found.startswith("raises NameError")


def test_blocks_are_one_program_under_the_documents_own_lines(tmp_path):
    page = """
        ```python
        def where():
            import sys
            return sys._getframe().f_lineno
        ```

        ```python
        where()  # -> 4
        where.__code__.co_filename.endswith("page.md")  # -> True
        ```
    """
    assert all(item.agrees for item in check.check(write(tmp_path, page)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("6 * 7  # -> 41", "6 * 7  # -> 42"),
        ("print('a\\nb')  # -> a", "print('a\\nb')\n# -> a\n# -> b"),
        ("print('a')\n# -> a\n# -> b", "print('a')\n# -> a"),
        ("object()  # -> <object ...>", "object()  # -> <object ...>"),
    ],
)
def test_rewrite_puts_what_was_found(tmp_path, before, after):
    path = write(tmp_path, f"```python\n{before}\n```\n")
    check.check(path, rewrite=True)
    assert path.read_text() == f"```python\n{after}\n```\n"
    assert all(item.agrees for item in check.check(path))


def test_programs_of_the_ir_verify_and_print_themselves(tmp_path):
    program = "def twice(x: Real): Real =\n  let y: Real = x + x in\n  y"
    exact, unlike = check.check(
        write(tmp_path, f"```rose\n{program}\n```\n\n```rose\n{program.replace(' + ', '+')}\n```\n")
    )
    assert exact.agrees
    assert not unlike.agrees
    assert unlike.found == program


def test_sugar_only_has_to_verify(tmp_path):
    (item,) = check.check(write(tmp_path, "```rose sugar\ndef f(x: Real): Real = x + x * x\n```\n"))
    assert item.agrees


@pytest.mark.parametrize("path", check.documents(), ids=lambda path: path.name)
def test_every_document_is_as_it_says(path):
    differ = [item for item in check.check(path) if not item.agrees]
    assert not differ
