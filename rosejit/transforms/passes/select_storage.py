"""Arrays of numbers that fit one of NumPy's smaller dtypes, stored in that dtype.

In the IR a number is a Real or an Int, of 64 bits, and what a dtype of fewer bits does to it is written out: sums of
uint8 are followed by `iand(x, 255)`, those of float32 by `single`. So what an array holds can be read off what is put
into it. Arrays that may share memory (names of one array, views, what loops carry, branches give and calls hand on) are
one class; a class of whose elements each is known to fit a dtype is stored in that, and nothing else changes: what is
read is widened, and what is written fits. It is the last pass, because what comes after it alone, code generation,
knows of storage.

What host functions, tuples, sums, residuals and accumulators hold stays in 64 bits, and so does every class with an
array that goes through one of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from struct import pack, unpack
from typing import Any

from rosejit.abi import SCALAR_BYTES, Border
from rosejit.ir import syntax as ir
from rosejit.ir.traversal import Renaming, lets, operands, reachable
from rosejit.ir.types import INT, REAL, STORED, UNIT, Array, Scalar, Stored, Type
from rosejit.lazy_dataclass import dataclass

Fits = int
"""A set of dtypes, as bits: those that a number is known to fit."""

_BITS: dict[str, Fits] = {name: 1 << k for k, name in enumerate(STORED)}
_RANGES = {
    f"{sign}int{bits}": range(0, 1 << bits) if sign else range(-(1 << bits - 1), 1 << bits - 1)
    for sign in ("", "u")
    for bits in (8, 16, 32)
}
_ALL: Fits = (1 << len(_BITS)) - 1

_CHOOSE = {"select", "iselect"}
"""Primitives that give one of their operands but for the first."""
_KEEP = _CHOOSE | {
    "neg", "abs", "copysign", "max", "min", "maximum", "minimum", "floor", "ceil", "trunc", "nearest", "imax", "imin",
}  # fmt: skip
"""Those of which the result fits what the operands fit: of Ints only what gives one of them."""


def _of_range(low: int, high: int) -> Fits:
    """What the Ints between two numbers fit."""
    return sum([_BITS[name] for name, held in _RANGES.items() if low in held and high in held])


def _of_dtype(name: str) -> Fits:
    """What the numbers of a dtype fit."""
    return _BITS[name] if name == "float32" else _of_range(_RANGES[name][0], _RANGES[name][-1])


def _of_literal(value: Any) -> Fits:
    if type(value) is int:
        return _of_range(value, value)
    if isinstance(value, float):
        try:
            return _BITS["float32"] * (pack("<d", unpack("<f", pack("<f", value))[0]) == pack("<d", value))
        except OverflowError:
            return 0
    return 0  # a length that stays open


Class = ir.Var | tuple[ir.Function, int]
"""A variable, or a result of a function."""


def select_storage(roots: Mapping[str, ir.Function], borders: Mapping[str, Border]) -> dict[str, ir.Function]:
    """The roots, of which those that a border is known for may take and give arrays of its dtypes."""
    if not any([any(border.params) or any(border.results) for border in borders.values()]):
        return {**roots}
    program = reachable(*roots.values())
    found = _Analysis()
    for name, f in roots.items():
        found.border(f, borders.get(name, Border()))
    for f in program:
        found.function(f)
    storage = found.storage()
    return _Stored(storage, program).functions(roots) if storage else {**roots}


def _number_in(t: Type) -> Scalar | None:
    """The type of the numbers in an array that holds nothing else; None of other values, truth values among them."""
    if not isinstance(t, Array):
        return None
    while isinstance(t, Array):
        t = t.element
    return t if isinstance(t, Scalar) and _is_number(t) else None


def _has_shape(t: Type) -> bool:
    """Whether it is an array of numbers of which all lengths are known."""
    while isinstance(t, Array) and t.length is not None:
        t = t.element
    return _is_number(t)


def _is_number(t: Type) -> bool:
    return t is REAL or t is INT


@dataclass(slots=True)
class _Analysis:
    """What is known of each number, and of those in each class of arrays: `limits` are the dtypes that it fits as far
    as it alone decides, and each key of `flows` gives what it is to others. `rounded` are numbers that were brought
    into a dtype, and the arrays from the border in one."""

    parents: dict[Class, Class] = field(default_factory=dict[Class, Class])
    limits: dict[Class, Fits] = field(default_factory=dict[Class, Fits])
    flows: dict[Class, list[Class]] = field(default_factory=dict[Class, list[Class]])
    rounded: set[Class] = field(default_factory=set[Class])
    borders: dict[Class, set[str]] = field(default_factory=dict[Class, set[str]])
    made: dict[ir.Var, ir.Apply] = field(default_factory=dict[ir.Var, ir.Apply])

    # --- classes

    def root(self, key: Class) -> Class:
        """What stands for the class of `key`."""
        path: list[Class] = []
        while (parent := self.parents.get(key, key)) is not key:
            path.append(key)
            key = parent
        for each in path:
            self.parents[each] = key
        return key

    def join(self, one: Class, other: Class) -> None:
        """Two arrays share memory."""
        one, other = self.root(one), self.root(other)
        if one is not other:
            self.parents[one] = other

    def limit(self, key: Class, fits: Fits) -> None:
        """A number, or what an array holds, fits no more than these."""
        self.limits[key] = self.limits.get(key, _ALL) & fits

    def keep_wide(self, atoms: Iterable[ir.Atom]) -> None:
        """Arrays, and numbers, of which nothing is known."""
        for a in atoms:
            if isinstance(a, ir.Var):
                self.limit(a, 0)

    def flow(self, source: ir.Atom | Class, target: Class) -> None:
        """A value becomes `target`, or an element of it: arrays share memory."""
        if isinstance(source, ir.Lit):
            if _is_number(source.type):
                self.limit(target, _of_literal(source.value))
        else:
            self.flows.setdefault(source, []).append(target)

    def hand(self, source: ir.Atom | Class, target: Class, t: Type) -> None:
        """A value goes on under another name."""
        if _number_in(t) is not None and not isinstance(source, ir.Lit):
            self.join(source, target)
        elif _is_number(t):
            self.flow(source, target)

    def put(self, value: ir.Atom, array: ir.Var) -> None:
        """A value becomes an element of an array, or a row that is copied there byte by byte."""
        if _number_in(array.type) is None:
            self.keep_wide((value,))
        elif _is_number(value.type):
            self.flow(value, array)
        elif isinstance(value, ir.Var):
            self.join(value, array)

    def take(self, array: ir.Atom, value: ir.Var) -> None:
        """An element of an array is read, or a row is seen."""
        if _number_in(array.type) is None or not isinstance(array, ir.Var):
            self.keep_wide((value,))
        elif _is_number(value.type):
            self.flow(array, value)
        else:
            self.join(array, value)

    # --- functions

    def border(self, f: ir.Function, border: Border) -> None:
        """What the host gives to a function, and takes from it."""
        params = [p for p in f.params if p.type is not UNIT]
        for k, p in enumerate(params):
            self._crosses(p, p.type, border.params[k] if k < len(border.params) else "")
        results = [k for k, t in enumerate(f.results) if t is not UNIT]
        for k, number in enumerate(results):
            key = (f, number)
            name = border.results[k] if k < len(border.results) else ""
            if _number_in(f.results[number]) is not None:
                self.borders.setdefault(key, set()).add(name)

    def _crosses(self, p: ir.Var, t: Type, name: str) -> None:
        if _number_in(t) is None or name not in STORED:
            self.limit(p, 0)
        else:
            self.limit(p, _of_dtype(name))
            self.rounded.add(p)
        if _number_in(t) is not None:
            self.borders.setdefault(p, set()).add(name)

    def function(self, f: ir.Function) -> None:
        """All that a function does."""
        if f.body is None:
            self.keep_wide(f.params)
            for k in range(len(f.results)):
                self.limit((f, k), 0)
            return
        for let in lets(f.body):
            self.let(let)
        for k, a in enumerate(f.body.results):
            self.hand(a, (f, k), a.type)

    def let(self, let: ir.Let) -> None:
        """What one form does; its blocks come by themselves."""
        e, binders = let.expr, let.binders
        match e:
            case ir.Apply():
                self.apply(binders[0], e)
            case ir.Call(function=f, args=args):
                for a, p in zip(args, f.params, strict=True):
                    self.hand(a, p, p.type)
                for k, b in enumerate(binders):
                    self.hand((f, k), b, b.type)
            case ir.Index(base=base, path=path):
                self.take(base if not _has_field(path) else ir.NOTHING, binders[0])
            case ir.Update(base=base, value=value, path=path):
                self.hand(base, binders[0], base.type)
                if _has_field(path):
                    self.keep_wide((base, value))
                elif isinstance(base, ir.Var):
                    self.put(value, base)
            case ir.MakeArray(items=items):
                for item in items:
                    self.put(item, binders[0])
            case ir.Copy(value=value) if _has_shape(value.type):
                self.flow(value, binders[0])
            case ir.Copy(value=value):
                self.hand(value, binders[0], value.type)
            case ir.Zero():
                if _is_number(binders[0].type):
                    self.limit(binders[0], _of_literal(0) | _BITS["float32"])
            case ir.If(then=then, orelse=orelse):
                self.branch(binders, (then, orelse))
            case ir.Case(left=left, right=right):
                self.keep_wide((*left.params, *right.params))
                self.branch(binders, (left.block, right.block))
            case ir.Loop(carries=carries, inits=inits, scans=scans, body=body, index=index):
                self.limit(index, 0)
                for scan in scans:
                    self.take(scan.array, scan.param)
                self.loop(binders, carries, inits, body)
            case ir.While(carries=carries, inits=inits, body=body):
                self.limit(binders[0], 0)
                self.loop(binders[1:], carries, inits, body)
            case ir.Check():
                pass
            case _:
                self.keep_wide((*operands(e), *binders))

    def branch(self, binders: tuple[ir.Var, ...], blocks: tuple[ir.Block, ...]) -> None:
        """One of two blocks gives the values of `binders`."""
        for block in blocks:
            for a, b in zip(block.results, binders, strict=True):
                self.hand(a, b, b.type)

    def loop(
        self, binders: tuple[ir.Var, ...], carries: tuple[ir.Var, ...], inits: tuple[ir.Atom, ...], body: ir.Block
    ) -> None:
        """What is carried, and what is stacked."""
        for k, c in enumerate(carries):
            self.hand(inits[k], c, c.type)
            self.hand(body.results[k], c, c.type)
            self.hand(c, binders[k], c.type)
        for row, stack in zip(body.results[len(carries) :], binders[len(carries) :], strict=True):
            self.put(row, stack)

    def apply(self, v: ir.Var, x: ir.Apply) -> None:
        """What is known of the result of a primitive."""
        self.made[v] = x
        name, args = x.op.name, x.args
        if name in _KEEP:
            for a in args[1 if name in _CHOOSE else 0 :]:
                self.flow(a, v)
            return
        fits = self._of_rounding(name, args)
        self.limit(v, fits)
        if fits:
            self.rounded.add(v)
        else:
            self.keep_wide([a for a in args if _number_in(a.type) is not None])

    def _of_rounding(self, name: str, args: tuple[ir.Atom, ...]) -> Fits:
        """What the result of a primitive fits that brings any number into a dtype; nothing for the others."""
        if name == "single":
            return _BITS["float32"]
        by = next((a.value for a in args[::-1] if isinstance(a, ir.Lit)), None)
        if name == "iand" and by is not None and by >= 0:
            return _of_range(0, by)
        up = self.made.get(args[0]) if name == "shr" and isinstance(args[0], ir.Var) else None
        if up is not None and up.op.name == "shl" and up.args[1] == args[1] and by is not None and 0 < by < 64:
            return _of_range(-(1 << 63 - by), (1 << 63 - by) - 1)
        return 0

    # --- what follows

    def storage(self) -> dict[Class, Stored]:
        """The dtype of each array that is stored in one."""
        fits: dict[Class, Fits] = {}
        flows: dict[Class, list[Class]] = {}
        for key, limit in self.limits.items():
            root = self.root(key)
            fits[root] = fits.get(root, _ALL) & limit
        for source, targets in self.flows.items():
            flows.setdefault(self.root(source), []).extend(map(self.root, targets))
        todo = [key for key, known in fits.items() if known != _ALL]
        while todo:
            key = todo.pop()
            for target in flows.get(key, ()):
                known = fits.get(target, _ALL)
                if known & fits[key] != known:
                    fits[target] = known & fits[key]
                    todo.append(target)
        borders: dict[Class, set[str]] = {}
        for key, names in self.borders.items():
            borders.setdefault(self.root(key), set()).update(names)
        chosen: dict[Class, Stored] = {}
        for root in self._reached(flows):
            number = _number_in(root.type if isinstance(root, ir.Var) else root[0].results[root[1]])
            if number is not None:
                some = _BITS["float32"] if number is REAL else _ALL - _BITS["float32"]
                name = _chosen(some & fits.get(root, _ALL), borders.get(root, set()))
                chosen |= {root: name} if name is not None else {}
        members = {*self.parents, *chosen}
        return {key: chosen[self.root(key)] for key in members if self.root(key) in chosen}

    def _reached(self, flows: dict[Class, list[Class]]) -> set[Class]:
        """The classes at the border, and those that rounded numbers get into: others stay as they are."""
        todo = [self.root(key) for key in (*self.rounded, *self.borders)]
        found = set(todo)
        while todo:
            new = [target for target in flows.get(todo.pop(), ()) if target not in found]
            found.update(new)
            todo += new
        return found


def _has_field(path: ir.Path) -> bool:
    return any([isinstance(step, ir.Field) for step in path])


def _chosen(fits: Fits, borders: set[str]) -> Stored | None:
    """The dtype for elements that fit these, of arrays that the host has in those; None for 64 bits."""
    possible: list[Stored] = [name for name in STORED if fits & _BITS[name]]
    if not borders:
        return min(possible, key=lambda name: SCALAR_BYTES[name], default=None)
    return next((name for name in possible if borders == {name}), None)


class _Stored:
    """Copies of the functions in which arrays have other types."""

    def __init__(self, storage: dict[Class, Stored], program: list[ir.Function]) -> None:
        self.storage = storage
        self.new: dict[ir.Function, ir.Function] = {f: self._signature(f) for f in program if f.body is not None}

    def functions(self, roots: Mapping[str, ir.Function]) -> dict[str, ir.Function]:
        """The roots."""
        for f, new in self.new.items():
            assert f.body is not None
            copy = _Copy(self, dict(zip(f.params, new.params, strict=True)))
            new.body = copy.block(f.body)
        return {name: self.new.get(f, f) for name, f in roots.items()}

    def type_of(self, key: Class, t: Type) -> Type:
        """The type that an array is stored as; that of other values as it is."""
        name = self.storage.get(key)
        return t if name is None or _number_in(t) is None else _of(t, STORED[name])

    def var(self, v: ir.Var) -> ir.Var:
        """A variable of that type."""
        return ir.Var(self.type_of(v, v.type), v.hint)

    def _signature(self, f: ir.Function) -> ir.Function:
        params = tuple([self.var(p) for p in f.params])
        own = frozenset([new for p, new in zip(f.params, params, strict=True) if p in f.own])
        results = tuple([self.type_of((f, k), t) for k, t in enumerate(f.results)])
        return ir.Function(f.name, params, results, None, own, f.host, None, f.checkpoint, f.span)


class _Copy(Renaming):
    __slots__ = ("of",)

    def __init__(self, of: _Stored, atoms: dict[ir.Var, ir.Var]) -> None:
        super().__init__(atoms)
        self.of = of

    def fresh(self, var: ir.Var) -> ir.Var:
        """A new binder of the type that it is stored as."""
        new = self.of.var(var)
        self.atoms[var] = new
        return new

    def let(self, let: ir.Let) -> ir.Let:
        """A copy of a let, which calls copies. What was copied into other storage is converted element by element."""
        made = super().let(let)
        if isinstance(made.expr, ir.Copy) and made.expr.value.type != made.binders[0].type:
            made.expr = _converted(made.expr.value, made.binders[0].type)
        if isinstance(made.expr, ir.Call):
            made.expr.function = self.of.new.get(made.expr.function, made.expr.function)
        return made


def _converted(value: ir.Atom, t: Type) -> ir.Expr:
    """The array `value` with its elements stored as those of `t`."""
    assert isinstance(t, Array)
    assert isinstance(value.type, Array)
    assert t.length is not None
    element = value.type.element
    row = ir.Var(element if isinstance(element, Array) else _READ[element], "row")
    inner = ir.Var(t.element, "row") if isinstance(t.element, Array) else row
    lets = [ir.Let((inner,), _converted(row, t.element))] if inner is not row else []
    scan = ir.Scan(row, value)
    return ir.Loop(ir.integer(t.length), ir.Var(INT, "i"), (), (), (scan,), ir.Block(lets, (inner,)))


_READ: dict[Type, Scalar] = {REAL: REAL, INT: INT, **dict.fromkeys(STORED.values(), INT), STORED["float32"]: REAL}
"""What elements are as values."""


def _of(t: Type, element: Scalar) -> Type:
    return Array(t.length, _of(t.element, element)) if isinstance(t, Array) else element
