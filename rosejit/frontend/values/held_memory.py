"""What lists and objects hold, compared as CPython keeps it in memory: words beside those that were there before.

`gather` makes one `memoryview` of the words at many addresses (items behind pointers, PEP 3118's suboffsets), so that
all of them are compared in one call in C. A list is two words (how many elements, and where they are) and, if these
are as they were, the addresses of its elements; an object is its class, its dict, and the version of that, a number
that CPython up to 3.12 gives anew at each change of any dict. Addresses are compared with those of objects that are
kept alive, so that equal ones are the same objects.

What is read is alive: `Memory.is_same` is one call in C that makes no object that Python collects, so that no other
thread, finalizer or callback runs between the look at where the elements of a list are and the look at these. Where
Python is not laid out so, or has no lock (free-threaded builds, PyPy, Pyodide), nothing of this is done:
`sees_lists()` and `sees_dicts()` try it out once.
"""

# Values of users are of any type: what they are is asked while staging.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import gc
import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain, repeat
from operator import add, eq
from typing import Any

WORD = 8
FEW = 3
"""So many neighbouring words and fewer are compared one by one, more as bytes that are copied first."""
SHORT = 64
"""Lists of so many elements and fewer are read together with others of their length."""
PIECE = 1 << 15
"""So many bytes of a long list are compared at once: what stays in the processor's cache."""
_SIZE, _ITEMS, _VERSION = 2 * WORD, 3 * WORD, 3 * WORD
_MANAGED_DICT = 1 << 4
"""A flag of classes whose objects have their dict in front of them."""

View = Callable[[int, int, int], memoryview]


@cache
def _view() -> View:
    """Makes a view of so many bytes at an address, or of items of this width behind so many pointers there. Wide items
    take less time than rows of bytes: Python copies them in one loop. Words are numbers, which it compares in one."""
    import ctypes

    size, pointer = ctypes.c_ssize_t, ctypes.POINTER(ctypes.c_ssize_t)

    class Buffer(ctypes.Structure):
        """`Py_buffer`."""

        _fields_ = (
            ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", size), ("itemsize", size),
            ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", pointer),
            ("strides", pointer), ("suboffsets", pointer), ("internal", ctypes.c_void_p),
        )  # fmt: skip

    made = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(Buffer))(("PyMemoryView_FromBuffer", ctypes.pythonapi))

    def view(address: int, count: int, width: int) -> memoryview:
        words, item = size * 1, width or 1
        strides, behind = words(WORD if width else 1), words(0) if width else None
        form = b"Q" if width == WORD else b"B"
        return made(Buffer(address, None, count * item, item, 1, 1, form, words(count), strides, behind, None))

    return view


class Memory:
    """Words, and what they were."""

    __slots__ = ("_alive", "_bytes", "_bytes_then", "_words", "_words_then")

    def __init__(self) -> None:
        self._words: list[memoryview] = []
        self._words_then: list[memoryview] = []
        self._bytes: list[memoryview] = []
        self._bytes_then: list[bytes] = []
        self._alive: list[Any] = []

    def __bool__(self) -> bool:
        return bool(self._words or self._bytes)

    def is_same(self) -> bool:
        """Whether all words are what they were; those behind others are not looked at if these have changed."""
        wide = map(eq, map(memoryview.tobytes, self._bytes), self._bytes_then)
        return all(chain(map(eq, self._words, self._words_then), wide))

    def keep(self, alive: Any) -> None:
        """Objects whose addresses are among the words."""
        self._alive.append(alive)

    def gather(self, addresses: Iterable[int], width: int, then: bytes | None = None) -> bytes:
        """Look at `width` bytes at each of these addresses, which are `then`, or what is there now; gives these."""
        at = array("Q", addresses)
        if not at:
            return b""
        if width <= FEW * WORD:
            words = [map(add, at, repeat(k)) for k in range(0, width, WORD)]
            at, width = array("Q", chain.from_iterable(zip(*words, strict=True))), WORD
        self._alive.append(at)
        return self._look(_view()(at.buffer_info()[0], len(at), width), then)

    def _look(self, view: memoryview, then: bytes | None) -> bytes:
        found = view.tobytes() if then is None else then
        if view.format == "Q":
            self._words.append(view)
            self._words_then.append(memoryview(found).cast("Q"))
        else:
            self._bytes.append(view)
            self._bytes_then.append(found)
        return found

    def lists(self, lists: Sequence[list[Any]]) -> None:
        """Look at these lists, of that very type."""
        items = _words(_read(map(add, map(id, lists), repeat(_ITEMS)), WORD))
        copies = list(map(list.copy, lists))  # nobody else has these: they stay where they are
        self.keep((lists, copies))
        heads = chain.from_iterable(zip(map(len, copies), items, strict=True))
        self.gather(map(add, map(id, lists), repeat(_SIZE)), 2 * WORD, array("Q", heads).tobytes())
        kept = _words(_read(map(add, map(id, copies), repeat(_ITEMS)), WORD))
        alike: dict[int, list[int]] = {}
        for k, copy in enumerate(copies):
            alike.setdefault(len(copy), []).append(k)
        for length, places in alike.items():
            if 0 < length <= SHORT:
                then = _read([kept[k] for k in places], WORD * length)
                self.gather([items[k] for k in places], WORD * length, then)
            else:
                for k in places:
                    self._long(items[k], kept[k], WORD * length)

    def _long(self, items: int, kept: int, count: int) -> None:
        view = _view()
        for start in range(0, count, PIECE):
            length = min(PIECE, count - start)
            self._look(view(items + start, length, 0), view(kept + start, length, 0).tobytes())


def _read(addresses: Iterable[int], width: int) -> bytes:
    """The bytes at these addresses, one after the other."""
    return Memory().gather(addresses, width)


def _words(read: bytes) -> "array[int]":
    return array("Q", read)


@cache
def elements() -> Callable[[list[Any]], bytes]:
    """What gives the addresses of the elements of a list that nobody else has."""
    import ctypes

    word, string_at = ctypes.c_size_t.from_address, ctypes.string_at
    return lambda held: string_at(word(id(held) + _ITEMS).value, WORD * len(held)) if held else b""


# --- objects and dicts


def _dict_place(value: Any) -> int:
    """Where the address of the dict of an object is; 0 if that is not known."""
    cls = type(value)
    if cls.__dictoffset__ > 0:
        return id(value) + cls.__dictoffset__
    return id(value) - 3 * WORD if cls.__flags__ & _MANAGED_DICT and sys.version_info >= (3, 11) else 0


def of_dicts(memory: Memory, dicts: Sequence[dict[str, Any]]) -> None:
    """Look at these dicts, of that very type."""
    memory.keep(dicts)
    memory.gather(map(add, map(id, dicts), repeat(_VERSION)), WORD)


def of_objects(memory: Memory, objects: Sequence[Any], dicts: Sequence[dict[str, Any]]) -> bool:
    """Look at the classes of objects, and whether these are their dicts; False where that cannot be seen."""
    places = list(map(_dict_place, objects))
    if not all(places) or _read(places, WORD) != array("Q", map(id, dicts)).tobytes():
        return False
    classes = list(map(type, objects))
    memory.keep((objects, dicts, classes))
    memory.gather(map(add, map(id, objects), repeat(WORD)), WORD, array("Q", map(id, classes)).tobytes())
    memory.gather(places, WORD, array("Q", map(id, dicts)).tobytes())
    return True


def of_slotted(memory: Memory, objects: Sequence[Any]) -> None:
    """Look at the classes of objects without a dict, and at all that their slots hold."""
    memory.keep((objects, gc.get_referents(*objects)))
    alike: dict[int, list[int]] = {}
    for each in objects:
        alike.setdefault(type(each).__basicsize__, []).append(id(each) + WORD)
    for size, places in alike.items():
        memory.gather(places, size - WORD)


# --- whether it is so


@cache
def sees_lists() -> bool:
    """Whether lists, and objects with slots, can be looked at so."""
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    plain = (object.__basicsize__, list.__basicsize__, dict.__basicsize__) == (2 * WORD, 5 * WORD, 6 * WORD)
    if sys.implementation.name != "cpython" or sys.platform in ("emscripten", "wasi") or not (has_lock and plain):
        return False
    try:
        return _lists_are_seen()
    except Exception:  # no ctypes, or another one
        return False


@cache
def sees_dicts() -> bool:
    """Whether dicts, and objects with one, can be looked at so."""
    return sys.version_info < (3, 13) and sees_lists() and _dicts_are_seen()


def _lists_are_seen() -> bool:
    sample: list[Any] = [1, 1.0, True, "a", object()]
    head = _words(_read([id(sample) + WORD], 3 * WORD))
    if list(head[:2]) != [id(list), len(sample)]:
        return False
    if _read([head[2]], WORD * len(sample)) != array("Q", map(id, sample)).tobytes():
        return False
    return all([_is_seen([list(sample), [], [2], [*range(2 * SHORT)]], change) for change in _LIST_CHANGES])


def _is_seen(lists: list[list[Any]], change: Callable[[list[Any]], Any]) -> bool:
    memory = Memory()
    memory.lists(lists)
    before = memory.is_same()
    change(lists[0])
    between = memory.is_same()
    other = Memory()
    other.lists(lists)
    then = other.is_same()
    lists[3][-1] = None
    return before and not between and then and not other.is_same()


_LIST_CHANGES: tuple[Callable[[list[Any]], Any], ...] = (
    lambda held: held.__setitem__(0, True),
    lambda held: held.append(1),
    lambda held: held.pop(),
    lambda held: held.clear(),
    lambda held: held.extend(range(1000)),
    lambda held: held.reverse(),
)


class _Object:
    def __init__(self) -> None:
        self.x: Any = 1
        self.y: Any = 2.0


def _dicts_are_seen() -> bool:
    return all([_is_change_seen(change) for change in _DICT_CHANGES]) and _are_stores_seen()


def _is_change_seen(change: Callable[[Any], Any]) -> bool:
    value = _Object()
    held = vars(value)
    memory = Memory()
    of_dicts(memory, [held, {}])
    if not of_objects(memory, [value], [held]) or not memory.is_same():
        return False
    change(value)
    return not memory.is_same()


def _are_stores_seen() -> bool:
    """Whether assignments are seen that run often, for which Python has faster ways."""
    value = _Object()
    held = vars(value)
    version = [id(held) + _VERSION]
    seen = {_read(version, WORD)}
    for k in range(64):
        value.x = (k,)
        seen.add(_read(version, WORD))
        held["y"] = (k,)
        seen.add(_read(version, WORD))
    return len(seen) == 129


_DICT_CHANGES: tuple[Callable[[Any], Any], ...] = (
    lambda value: setattr(value, "x", 1.0),
    lambda value: setattr(value, "z", 1),
    lambda value: delattr(value, "y"),
    lambda value: object.__setattr__(value, "x", True),
    lambda value: vars(value).__setitem__("x", True),
    lambda value: vars(value).__delitem__("x"),
    lambda value: vars(value).update(x=True),
    lambda value: vars(value).__ior__({"y": 2}),
    lambda value: vars(value).pop("x"),
    lambda value: vars(value).popitem(),
    lambda value: vars(value).setdefault("w", 1),
    lambda value: vars(value).clear(),
    lambda value: setattr(value, "__dict__", {"x": 1, "y": 2.0}),
    lambda value: setattr(value, "__class__", type("_Other", (_Object,), {})),
)
