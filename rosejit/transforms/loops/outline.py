"""Function outlining: runs of lets that stand in a block several times, with other operands, become calls.

Where a loop cannot be one loop, as one over things of several kinds, staging unrolls it, and what its iterations have
in common stands there as often as they run: the body of each helper, for each call. The lets of the block are a text
whose letters are their forms. Letters that always follow each other are one word, as are the commonest pairs of short
words (byte-pair encoding); a long word that stands there often becomes a function, whose parameters are what its places
do not have in common. Operations and their order stay, so the bits do; all behind staging is done once.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.traversal import consumed, scopes, views, within
from rosejit.ir.types import INT, Array, is_boxed
from rosejit.lazy_dataclass import dataclass
from rosejit.transforms.loops import let_rows
from rosejit.transforms.loops.let_rows import WITH_BLOCKS, Row, Rows, Slot, Template, literal_key, work_of

LEAST = 10_000
"""The work that calls must save the compiler, in primitives of straight-line code."""
FEWEST = 3
"""Places from which on a run of lets becomes a function."""
LONG = 24
"""Lets with loops or branches that are a long word: longer ones are made of it only where all its places agree."""
COPIED = 64
"""Elements of an array up to which a function may have a copy of its own, to write to."""
_LOOKS = 8, 100_000
"""So many letters may be gone through for words: so often the text, and so many more."""
_FRESH = ir.Zero | ir.MakeArray | ir.Copy
"""What makes arrays that nobody else has."""


def outline(body: ir.Block, name: str) -> ir.Block:
    """`body` with calls of functions for what stands in it often; the same object where that saves little. Code without
    loops and branches, which is compiled in another way, stays."""
    if all([let.expr.__class__ not in WITH_BLOCKS for let in body.lets]) or work_of(body.lets, let_rows.NESTED) < LEAST:
        return body
    return _Outlining(name).block(body)


class _Outlining:
    def __init__(self, name: str) -> None:
        self._name = name

    def block(self, block: ir.Block) -> ir.Block:
        """The block, and those in it, with calls."""
        table = Rows()
        rows = [table.row(let, let_rows.NESTED) for let in block.lets]
        fresh = {b: 0 for let in block.lets if isinstance(let.expr, _FRESH) for b in let.binders}
        cuts = {k for k, let in enumerate(block.lets) if _copies([let], fresh)}
        groups = [group for word in _words(rows, cuts) for group in _alike(block.lets, rows, word)]
        calls = _Calls(block, rows, self._name)
        saved = sum([calls.saved(group) for group in groups])
        if saved >= LEAST:
            for group in groups:
                calls.make(group)
        lets = calls.lets()
        for k, let in enumerate(lets):
            if let.expr.__class__ in WITH_BLOCKS and work_of([let], let_rows.NESTED) >= LEAST:
                lets[k] = within(let, self.block)
        return ir.Block(lets, block.results) if any(map(_is_other, lets, block.lets)) else block


def _is_other(a: ir.Let, b: ir.Let) -> bool:
    return a is not b


# --- words


@dataclass(slots=True, frozen=True)
class _Word:
    """A run of lets: how many they are, their work, and where it stands, one place behind the other."""

    length: int
    work: int
    places: tuple[int, ...]


def _words(rows: list[Row], cuts: set[int]) -> Iterator[_Word]:
    """The long words of the text that stand in it often, none of them across the lets at `cuts`."""
    text, starts, sizes = _joined([-k - 1 if k in cuts else row.letter for k, row in enumerate(rows)])
    ends = [*starts[1:], len(rows)]
    places: dict[int, list[int]] = {}
    for k, symbol in enumerate(text):
        places.setdefault(symbol, []).append(k)
    for symbol, found in places.items():
        start = starts[found[0]]
        work = sum([row.work for row in rows[start : ends[found[0]]]])
        if len(found) >= FEWEST and work >= LONG * let_rows.NESTED:
            yield _Word(sizes[symbol], work, tuple([starts[k] for k in found]))


def _joined(text: list[int]) -> tuple[list[int], list[int], dict[int, int]]:
    """The text as words, where they start, and how many letters each has."""
    starts, sizes, fresh = [*range(len(text))], dict.fromkeys(text, 1), max(text, default=0) + 1
    looks = _LOOKS[0] * len(text) + _LOOKS[1]
    while (looks := looks - len(text)) > 0:
        count = Counter(text)
        pairs = Counter(pairwise(text))
        often = [pair for pair, times in pairs.items() if times >= FEWEST]
        found = [(a, b) for a, b in often if count[a] == count[b] == pairs[a, b] and a != b]
        if not found:
            some = [pair for pair in often if _may_join(pair, pairs[pair], count, sizes)]
            if not some:
                break
            found = [max(some, key=lambda pair: pairs[pair])]
        words = {pair: fresh + k for k, pair in enumerate(found)}
        fresh += len(words)
        text, starts = _with_pairs(text, starts, words, sizes)
    return text, starts, sizes


def _may_join(pair: tuple[int, int], times: int, count: Counter[int], sizes: dict[int, int]) -> bool:
    """Whether a pair becomes a word: a long word stays one for all its places."""
    return all([sizes[symbol] < LONG or count[symbol] == times for symbol in pair])


def _with_pairs(
    text: list[int], starts: list[int], pairs: dict[tuple[int, int], int], sizes: dict[int, int]
) -> tuple[list[int], list[int]]:
    """The text with words in the place of pairs."""
    new: list[int] = []
    places: list[int] = []
    at, end = 0, len(text)
    while at < end:
        symbol, start = text[at], starts[at]
        at += 1
        if at < end and (word := pairs.get((symbol, text[at]))) is not None:
            sizes[word] = sizes[symbol] + sizes[text[at]]
            symbol = word
            at += 1
        new.append(symbol)
        places.append(start)
    return new, places


# --- places that are alike


@dataclass(slots=True, frozen=True)
class _Place:
    """A run of lets: what it reads, and what it binds, in order."""

    start: int
    atoms: list[ir.Atom]
    binders: list[ir.Var]


@dataclass(slots=True, frozen=True)
class _Group:
    """Places of a word that read in the same way what they bind themselves."""

    word: _Word
    places: list[_Place]


def _alike(lets: Sequence[ir.Let], rows: list[Row], word: _Word) -> Iterator[_Group]:
    """The places of a word, those together that one function can stand for."""
    groups: dict[Any, list[_Place]] = {}
    for start in word.places:
        inside = rows[start : start + word.length]
        place = _Place(start, [a for row in inside for a in row.atoms], [b for row in inside for b in row.binders])
        own = {b: number for number, b in enumerate(place.binders)}
        pinned = _pinned(lets[start : start + word.length])
        key = tuple([
            own[a] if a in own else (literal_key(a) if id(a) in pinned else None, a.type) for a in place.atoms
        ])  # fmt: skip
        if not _copies(lets[start : start + word.length], own):
            groups.setdefault(key, []).append(place)
    return (_Group(word, places) for places in groups.values() if len(places) >= FEWEST)


def _pinned(lets: Sequence[ir.Let]) -> set[int]:
    """The indices of small arrays, which become numbers if these are known."""
    found: set[int] = set()
    for e in [let.expr for let in lets if let.expr.__class__ is not ir.Apply]:
        if isinstance(e, ir.Index | ir.Update) and _is_small(e.base):
            found.update([id(step) for step in e.path if isinstance(step, ir.Lit)])
        for _, inner in scopes(e):
            found |= _pinned(inner.lets)
    return found


def _is_small(a: ir.Atom) -> bool:
    size, kind = 1, a.type
    while isinstance(kind, Array) and size:
        size, kind = size * (kind.length or COPIED + 1), kind.element
    return size <= COPIED


def _copies(lets: Sequence[ir.Let], own: Mapping[ir.Var, int]) -> bool:
    """Whether a large array that is none of its own is consumed, which a function would have to copy."""
    for e in [let.expr for let in lets if let.expr.__class__ is not ir.Apply]:
        inner = [block for _, block in scopes(e)]
        taken = [*consumed(e), *[a for block in inner for a in block.results]]
        if any([is_boxed(a.type) and a not in own and not _is_small(a) for a in taken]):
            return True
        if any([_copies(block.lets, own) for block in inner]):
            return True
    return False


# --- calls


class _Calls:
    """The lets of a block, places of groups replaced by calls."""

    def __init__(self, block: ir.Block, rows: list[Row], name: str) -> None:
        self._block = block
        self._name = name
        self._made: dict[int, tuple[int, ir.Let]] = {}
        self._last: dict[ir.Atom, int] = {}
        for k, row in enumerate(rows):
            self._last.update(dict.fromkeys(row.atoms, k))
        self._last.update(dict.fromkeys(block.results, len(rows)))

    def lets(self) -> list[ir.Let]:
        """The lets with the calls that were made."""
        made: list[ir.Let] = []
        at = 0
        for start, (length, call) in sorted(self._made.items(), key=lambda item: item[0]):
            made += [*self._block.lets[at:start], call]
            at = start + length
        return [*made, *self._block.lets[at:]]

    def saved(self, group: _Group) -> int:
        """The work that a function for a group saves."""
        return (len(group.places) - 1) * group.word.work

    def make(self, group: _Group) -> None:
        """Put calls of one function in the places of a group, if it takes and gives little for what it does."""
        slots, params, given = _parameters(group)
        first, start = group.places[0], group.places[0].start
        template = Template(slots, [ir.Var(b.type, b.hint) for b in first.binders])
        read = self._read_later(group)
        viewed = [v for let in self._block.lets[start : start + group.word.length] for v, _ in views(let)]
        if any([first.binders[number] in viewed and not _is_small(first.binders[number]) for number in read]):
            return  # what it looks into would be copied
        if not read or (len(params) + len(read)) * let_rows.NESTED > group.word.work:
            return
        lets = [template.let(let) for let in self._block.lets[start : start + group.word.length]]
        results = tuple([template.binders[number] for number in read])
        types = tuple([r.type for r in results])
        span = self._block.lets[start].span
        f = ir.Function(f"{self._name}_part", params, types, ir.Block(lets, results), span=span)
        for place, args in zip(group.places, given, strict=True):
            binders = tuple([place.binders[number] for number in read])
            call = ir.Let(binders, ir.Call(f, args), self._block.lets[place.start].span)
            self._made[place.start] = group.word.length, call

    def _read_later(self, group: _Group) -> list[int]:
        """The numbers of what is read behind any of the places."""
        found: set[int] = set()
        for place in group.places:
            end = place.start + group.word.length
            found.update([k for k, b in enumerate(place.binders) if self._last.get(b, -1) >= end])
        return sorted(found)


def _parameters(group: _Group) -> tuple[list[Slot], tuple[ir.Var, ...], list[tuple[ir.Atom, ...]]]:
    """What the operands are in the function, its parameters, and what each place gives for these."""
    own = {b: number for number, b in enumerate(group.places[0].binders)}
    slots: list[Slot] = []
    params: dict[Any, ir.Var] = {}
    columns: list[tuple[ir.Atom, ...]] = []
    for column in zip(*[place.atoms for place in group.places], strict=True):
        a = column[0]
        if a in own:
            slots.append(own[a])
            continue
        key = tuple([literal_key(each) or id(each) for each in column])
        if isinstance(a, ir.Lit) and key.count(key[0]) == len(key):
            slots.append(a)
            continue
        if key not in params:
            hint = a.hint if isinstance(a, ir.Var) else "k" if a.type is INT else "c"
            params[key] = ir.Var(a.type, hint)
            columns.append(column)
        slots.append(params[key])
    given = [tuple([column[k] for column in columns]) for k in range(len(group.places))]
    return slots, tuple(params.values()), given
