"""The typing rules: whether the operands, binders and block results of one let agree."""

from typing import NoReturn

from rosejit.errors import VerifyError
from rosejit.ir.dump import type_text
from rosejit.ir.syntax import (
    Accum,
    Add,
    Apply,
    Atom,
    Block,
    Branch,
    Call,
    Case,
    Check,
    Copy,
    Extract,
    Field,
    Function,
    If,
    Index,
    Inject,
    Let,
    Lit,
    Loop,
    MakeArray,
    MakeTuple,
    Path,
    Resolve,
    Untuple,
    Update,
    View,
    While,
    WholeFloat,
    Zero,
    assert_never,
)
from rosejit.ir.types import (
    BOOL,
    INT,
    REAL,
    TAN,
    UNIT,
    Array,
    Nominal,
    Ref,
    Scalar,
    Sum,
    Tuple,
    Type,
    fields_of,
    has_dynamic_length,
    has_real,
    is_boxed,
    is_linear,
    tangent,
)

LITERALS: dict[Type, tuple[type, ...]] = {
    REAL: (float, WholeFloat), TAN: (float,), INT: (int,), BOOL: (bool,), UNIT: (type(None),),
}  # fmt: skip


def wrong(message: str) -> NoReturn:
    """An invariant does not hold; the verifier adds where."""
    raise VerifyError(message)


def path_type(t: Type, path: Path) -> Type:
    """The type of the part of a `t` that `path` leads to."""
    if not path:
        wrong("a path has no steps")
    for step in path:
        if isinstance(step, Field):
            fields = fields_of(t) if isinstance(t, Tuple | Nominal) else ()
            if not 0 <= step.number < len(fields):
                wrong(f"{type_text(t)} has no field .{step.number}")
            t = fields[step.number]
        elif isinstance(t, Array):
            if step.type is not INT:
                wrong(f"an index is an Int, not {type_text(step.type)}")
            t = t.element
        else:
            wrong(f"{type_text(t)} is indexed")
    return t


def check_let(let: Let) -> None:
    """Fail unless the types of `let` agree; nested blocks only by their results."""
    given = tuple([b.type for b in let.binders])
    expected = _results(let, given)
    if len(given) != len(expected):
        wrong(f"{len(expected)} results are bound to {len(given)} variables")
    for have, want in zip(given, expected, strict=True):
        _same(have, want, "a result")


def _results(let: Let, given: tuple[Type, ...]) -> tuple[Type, ...]:
    """The types of the binders, which are also `given` for the forms that take theirs from there."""
    match let.expr:
        case Apply(op=op, args=args):
            _all(args, op.params, f"an operand of `{op.name}`")
            return (op.result,)
        case Index(base=base, path=path):
            return (path_type(base.type, path),)
        case Call() as e:
            return _call(e)
        case MakeTuple(items=items):
            return _tuple(items, given)
        case Untuple(value=value):
            return fields_of(value.type) if isinstance(value.type, Tuple | Nominal) else wrong("`untuple` of no tuple")
        case MakeArray(items=items):
            return _array(items)
        case Inject(side=side, value=value):
            _same(value.type, _side(_one(given), side), "the value of a sum")
            return given
        case Extract(side=side, value=value):
            return (_side(value.type, side),)
        case Case() as e:
            return _case(e, given)
        case Update(base=base, path=path, value=value):
            _same(value.type, path_type(base.type, path), "the value of an `update`")
            return (base.type,)
        case Copy(value=value):
            return (value.type,) if is_boxed(value.type) else wrong("`copy` of a scalar value")
        case Zero(like=like):
            _zero(_one(given), like)
            return given
        case If(condition=condition, then=then, orelse=orelse):
            _same(condition.type, BOOL, "a condition")
            _all(then.results, given, "a result of the first block")
            _all(orelse.results, given, "a result of the second block")
            return given
        case Loop() as e:
            return _loop(e, given)
        case While() as e:
            return _while(e, given)
        case Accum(value=value):
            return (Ref(value.type),) if not isinstance(value.type, Ref) else wrong("`accum` of a place")
        case Add(place=place, value=value):
            _same(value.type, _target(place), "what is added")
            return ()
        case View(place=place, path=path):
            return (Ref(path_type(_target(place), path)),)
        case Resolve(place=place):
            return (_target(place),)
        case Check(condition=condition, values=values):
            _same(condition.type, BOOL, "a condition")
            if len(values) > 4 or not all(isinstance(v.type, Scalar) for v in values):
                wrong("a check has at most four values, all scalar")
            return ()
        case _:
            return assert_never(let.expr)


def _same(have: Type, want: Type, what: str) -> None:
    if have is not want and have != want:
        wrong(f"{what} is {type_text(have)}, where {type_text(want)} is needed")


def _all(atoms: tuple[Atom, ...], wanted: tuple[Type, ...], what: str) -> None:
    if len(atoms) != len(wanted):
        wrong(f"{what}: {len(wanted)} needed, {len(atoms)} given")
    for atom, want in zip(atoms, wanted, strict=True):
        if atom.type is not want:
            _same(atom.type, want, what)
        if type(atom) is Lit and type(atom.value) not in LITERALS[atom.type]:
            wrong(f"{atom.value!r} is no {type_text(atom.type)}")


def _one(given: tuple[Type, ...]) -> Type:
    return given[0] if len(given) == 1 else wrong(f"one result is bound to {len(given)} variables")


def _target(place: Atom) -> Type:
    return place.type.target if isinstance(place.type, Ref) else wrong(f"{type_text(place.type)} is no place")


def _side(t: Type, side: int) -> Type:
    if not isinstance(t, Sum):
        wrong(f"{type_text(t)} is no sum")
    return t.right if side else t.left


def _call(e: Call) -> tuple[Type, ...]:
    f = e.function
    _all(e.args, tuple([p.type for p in f.params]), f"an argument of `{f.name}`")
    return f.results


def _tuple(items: tuple[Atom, ...], given: tuple[Type, ...]) -> tuple[Type, ...]:
    if any(isinstance(a.type, Ref) for a in items):
        wrong("a place in a tuple")
    t = _one(given)
    if isinstance(t, Nominal):
        if t.defined:
            _all(items, t.fields, f"a field of {t!r}")
        return given
    return (Tuple(tuple([a.type for a in items])),)


def _array(items: tuple[Atom, ...]) -> tuple[Type, ...]:
    if not items:
        wrong("an array literal without items")
    element = items[0].type
    if isinstance(element, Ref):
        wrong("a place in an array")
    _all(items, (element,) * len(items), "an item")
    return (Array(len(items), element),)


def _case(e: Case, given: tuple[Type, ...]) -> tuple[Type, ...]:
    if not e.scrutinees:
        wrong("a `case` of nothing")
    if is_linear(e.scrutinees[0].type):
        wrong("a `case` that branches on a linear value")
    for side, branch in enumerate((e.left, e.right)):
        _payloads(e.scrutinees, side, branch)
        _all(branch.block.results, given, f"a result of side {side}")
    return given


def _payloads(scrutinees: tuple[Atom, ...], side: int, branch: Branch) -> None:
    if len(branch.params) != len(scrutinees):
        wrong(f"{len(scrutinees)} scrutinees, but {len(branch.params)} variables for them")
    for scrutinee, param in zip(scrutinees, branch.params, strict=True):
        t = scrutinee.type
        want = Ref(_side(t.target, side)) if isinstance(t, Ref) else _side(t, side)
        _same(param.type, want, "the variable of a payload")


def _stacks(block: Block, carried: int, length: int | None) -> tuple[Array, ...]:
    return tuple([Array(length, a.type) for a in block.results[carried:]])


def _carries(e: Loop | While) -> tuple[Type, ...]:
    carried = tuple([c.type for c in e.carries])
    _all(e.inits, carried, "the start of a carry")
    _all(e.body.results[: len(carried)], carried, "the next carry")
    return carried


def _loop(e: Loop, given: tuple[Type, ...]) -> tuple[Type, ...]:
    _same(e.trips.type, INT, "a trip count")
    _same(e.index.type, INT, "a loop index")
    length = e.constant_trips
    for scan in e.scans:
        t = scan.array.type
        if not isinstance(t, Array) or t.length not in (None, length):
            wrong(f"a loop scans {type_text(t)}")
        _same(scan.param.type, t.element, "the variable of a scan")
    carried = _carries(e)
    stacks = list(_stacks(e.body, len(carried), length))
    for number, have in enumerate(given[len(carried) :][: len(stacks)]):
        if isinstance(have, Array) and have.length is None:  # the count became known after the stack got its type
            stacks[number] = Array(None, stacks[number].element)
    return (*carried, *stacks)


def _while(e: While, given: tuple[Type, ...]) -> tuple[Type, ...]:
    _all(e.condition.results, (BOOL,), "a condition")
    return (INT, *_carries(e), *_stacks(e.body, len(e.carries), None))


def _zero(t: Type, like: Atom | None) -> None:
    if isinstance(t, Ref):
        wrong("`zero` of a place")
    if like is None:
        if has_dynamic_length(t):
            wrong(f"`zero` of {type_text(t)} needs a `like`")
    elif not _alike(t, like.type):
        wrong(f"{type_text(t)} cannot have the lengths and tags of {type_text(like.type)}")


def _alike(t: Type, like: Type) -> bool:
    """Whether every length and tag of `t` is found in `like`; where `t` has nothing, `like` may have anything."""
    if isinstance(t, Scalar):
        return t is UNIT or isinstance(like, Scalar)
    match t, like:
        case Array(), Array():
            return t.length == like.length and _alike(t.element, like.element)
        case Sum(), Sum():
            return _alike(t.left, like.left) and _alike(t.right, like.right)
        case Tuple(items=items), Tuple(items=others):
            return len(items) == len(others) and all(_alike(a, b) for a, b in zip(items, others, strict=True))
        case Nominal(), Nominal():
            return _origin(t) is _origin(like)
        case _:
            return False


def _origin(t: Nominal) -> Nominal:
    while t.of is not None:
        t = t.of
    return t


def check_signature(f: Function) -> None:
    """Fail unless the parameters, results and the custom derivative of `f` are of proper types."""
    for t in [p.type for p in f.params]:
        if _has_place(t.target if isinstance(t, Ref) else t):
            wrong(f"a place inside of {type_text(t)}")
    if any(_has_place(t) for t in f.results):
        wrong("a place as a result")
    if any(p not in f.params or not is_boxed(p.type) for p in f.own):
        wrong("`own` is for boxed parameters")
    if f.rule is not None:
        _check_rule(f, f.rule)


def _check_rule(f: Function, rule: Function) -> None:
    """A rule need not take the tangents of the last parameters, those of captured arrays: it is zero along them."""
    params, given = tuple([p.type for p in f.params]), tuple([p.type for p in rule.params])
    taken = len(given) - len(params)
    fits = taken >= 0 and given == params + _tangents(params)[:taken]
    if not fits or rule.results != f.results + _tangents(f.results):
        wrong(f"`{rule.name}` does not fit `{f.name}`, whose derivative it is")


def _tangents(types: tuple[Type, ...]) -> tuple[Type, ...]:
    return tuple([tangent(t) for t in types if has_real(t)])


def _has_place(t: Type) -> bool:
    match t:
        case Ref():
            return True
        case Array(element=element):
            return _has_place(element)
        case Sum(left=left, right=right):
            return _has_place(left) or _has_place(right)
        case Tuple(items=items):
            return any(_has_place(item) for item in items)
        case _:
            return False
