"""Random well-typed programs of the IR, for laws that hold of all programs.

`random_function(rng, size)` gives a function that verifies, `random_arguments(rng, f)` values to run it on; both depend
on `rng` alone. `features` restricts the forms. Values are kept small: everything bound knows an upper limit of its
magnitude, and what would grow is squashed by x / sqrt(1 + x*x), so results are finite and smooth but for `if`, `max`
and the like. Loops make at most four iterations, recursion goes at most three deep; nothing fails.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

from rosejit.ir import syntax as ir
from rosejit.ir.builder import Builder
from rosejit.ir.types import BOOL, INT, REAL, Array, Ref, Scalar, Sum, Tuple, Type, fields_of, is_boxed
from rosejit.ir.verify import verify_program
from rosejit.ops import PRIMITIVES
from rosejit.transforms.passes.insert_copies import insert_copies

FEATURES = frozenset(
    {"if", "loop", "while", "case", "array", "nested", "tuple", "accum", "call", "recursion", "check", "select", "math"}
)

TURNS = 4
SMALL = 2.0
"""What parameters, carries and elements of arrays keep to."""
LARGE = 8.0
"""What a Real may reach before it is squashed."""


def random_function(
    rng: random.Random,
    size: int = 25,
    features: frozenset[str] = FEATURES,
    *,
    places: bool = False,
    copies: bool = True,
) -> ir.Function:
    """A function of about `size` steps, each of one or a few lets, with callees.

    `places`: it may take a `&T`. `copies`: without them it is as `own` gets it, and need not verify.
    """
    known: list[_Known] = []
    if "call" in features:
        for number in range(rng.randint(0, 2)):
            recursive = "recursion" in features and rng.random() < 0.4
            known.append(_callee(rng, f"g{number}", size // 2, features, tuple(known), recursive))
    shape = _signature(rng, features, "f", places)
    _define(rng, shape, size, features, tuple(known))
    if copies:
        verify_program(insert_copies(shape))
    return insert_copies(shape) if copies else shape


def random_arguments(rng: random.Random, f: ir.Function) -> list[Any]:
    """A value for every parameter, as `interp.run` and compiled functions take them."""
    return [random_value(rng, p.type) for p in f.params]


def random_value(rng: random.Random, t: Type) -> Any:
    """A value of `t`: nested lists for arrays, tuples for tuples, (side, value) for sums."""
    match t:
        case Scalar():
            choose: dict[Type, Callable[[], Any]] = {
                BOOL: lambda: rng.random() < 0.5,
                INT: lambda: rng.randint(0, 3),
                REAL: lambda: rng.uniform(-1.5, 1.5),
            }
            return choose[t]()
        case Array(length=length, element=element):
            return [random_value(rng, element) for _ in range(rng.randint(0, 4) if length is None else length)]
        case Sum(left=left, right=right):
            side = rng.randint(0, 1)
            return side, random_value(rng, right if side else left)
        case Ref(target=target):
            return random_value(rng, target)
        case _:
            return tuple(random_value(rng, field) for field in fields_of(t))


def usual(t: Type) -> float:
    """What values of `t` that come from elsewhere keep to."""
    while isinstance(t, Array):
        t = t.element
    return 3.0 if t is INT else SMALL


class _Known:
    """A function that can be called, and how large its real results get."""

    def __init__(self, function: ir.Function, limits: Sequence[float]) -> None:
        self.function = function
        self.limits = tuple(limits)


def _signature(rng: random.Random, features: frozenset[str], name: str, places: bool) -> ir.Function:
    types: list[Type] = [REAL] * rng.randint(1, 3)
    types += rng.sample([INT, BOOL], rng.randint(0, 2))
    heavy = _heavy_types(features)
    if heavy:
        types += rng.choices(heavy, k=rng.randint(0, 2))
    if places and "accum" in features:
        types.append(Ref(rng.choice([REAL, *heavy])))
    params = tuple([ir.Var(t, hint) for t, hint in zip(types, "xyzuvwpqrst", strict=False)])
    own_ = frozenset(p for p in params if is_boxed(p.type) and rng.random() < 0.4)
    results = (REAL, *rng.choices([REAL, INT, *heavy], k=rng.randint(0, 2)))
    return ir.Function(name, params, results, own=own_)


def _heavy_types(features: frozenset[str]) -> list[Type]:
    found: list[Type] = []
    if "array" in features:
        found += [Array(n, REAL) for n in (2, 3, 4)]
    if "nested" in features and "array" in features:
        found += [Array(2, Array(3, REAL)), Array(3, Array(2, REAL))]
    if "tuple" in features:
        found += [Tuple((REAL, Array(3, REAL) if "array" in features else REAL)), Tuple((INT, REAL, REAL))]
    return found


def _callee(
    rng: random.Random, name: str, size: int, features: frozenset[str], known: tuple[_Known, ...], recursive: bool
) -> _Known:
    shape = _signature(rng, features, name, places=True)
    if recursive:
        shape.params = (ir.Var(INT, "k"), *shape.params)
    return _define(rng, shape, size, features, known, recursive)


def _define(
    rng: random.Random,
    f: ir.Function,
    size: int,
    features: frozenset[str],
    known: tuple[_Known, ...],
    recursive: bool = False,
) -> _Known:
    """Give `f` a body and its copies."""
    body = _Body(rng, features, known, size)
    for p in f.params:
        body.bind(p, usual(p.type))
    if recursive:
        f.body = body.recursive(f)
        limits: Sequence[float] = [SMALL] * len(f.results)
    else:
        f.body = body.block(lambda: body.steps(size) or [body.value(t, LARGE) for t in f.results])
        limits = [body.limit(a) for a in f.body.results]
    return _Known(insert_copies(f), limits)


class _Body:
    """What is in scope while one function is made."""

    def __init__(self, rng: random.Random, features: frozenset[str], known: tuple[_Known, ...], size: int) -> None:
        self.rng = rng
        self.features = features
        self.known = known
        self.left = size
        self.depth = 0
        self.b = Builder()
        self.scope: list[ir.Var] = []
        self.limits: dict[ir.Var, float] = {}
        self.lengths: dict[ir.Var, ir.Atom] = {}  # of an array [*]T: the Int that is its length
        self.below: dict[ir.Var, ir.Atom] = {}  # of an index: the trip count of its loop
        self.twins: dict[ir.Var, ir.Var] = {}  # of a sum: another one with the same tag
        self.heavy = _heavy_types(features)

    # --- what is in scope

    def bind(self, v: ir.Var, limit: float) -> ir.Var:
        self.scope.append(v)
        self.limits[v] = limit
        return v

    def limit(self, a: ir.Atom) -> float:
        return self.limits[a] if isinstance(a, ir.Var) else abs(float(a.value or 0.0))

    def let(self, expr: ir.Expr, t: Type, limit: float, hint: str = "x") -> ir.Var:
        return self.bind(self.b.bind(expr, t, hint), limit)

    def apply(self, name: str, *args: ir.Atom, limit: float = LARGE) -> ir.Var:
        return self.bind(self.b.apply(PRIMITIVES[name], *args), limit)

    def all(self, wanted: Callable[[Type], bool]) -> list[ir.Var]:
        return [v for v in self.scope if wanted(v.type)]

    def some(self, wanted: Callable[[Type], bool]) -> ir.Var | None:
        found = self.all(wanted)
        return self.rng.choice(found) if found else None

    def block(self, results: Callable[[], Sequence[ir.Atom]], *bound: tuple[ir.Var, float]) -> ir.Block:
        """A block of what `results` emits and gives, with the variables `bound` in scope."""
        outer, mark = self.b, len(self.scope)
        self.b = Builder()
        for v, limit in bound:
            self.bind(v, limit)
        self.depth += 1
        block = self.b.block(*results())
        self.depth -= 1
        self.b = outer
        del self.scope[mark:]
        return block

    # --- values

    def value(self, t: Type, limit: float = SMALL) -> ir.Atom:
        """Something of type `t` that stays within `limit`."""
        fitting = [v for v in self.scope if v.type == t and self.limits[v] <= limit]
        if fitting and self.rng.random() < 0.85:
            return self.rng.choice(fitting)
        match t:
            case Scalar():
                return self.scalar(t, limit)
            case Array(length=int(length), element=element):
                if self.rng.random() < 0.3:
                    return self.let(ir.Zero(), t, 0.0, "o")
                items = [self.value(element, limit) for _ in range(length)]
                return self.let(ir.MakeArray(tuple(items)), t, max(map(self.limit, items)), "a")
            case Tuple(items=types):
                items = [self.value(item, limit) for item in types]
                return self.let(ir.MakeTuple(tuple(items)), t, max(map(self.limit, items)), "t")
            case _:
                raise AssertionError(t)

    def scalar(self, t: Type, limit: float) -> ir.Atom:
        if t is BOOL:
            return self.condition()
        if t is INT:
            return ir.integer(self.rng.randint(0, 3))
        large = self.some(lambda u: u is REAL)
        if large is not None and self.rng.random() < 0.7:
            return self.squash(large)
        return ir.real(round(self.rng.uniform(-1.5, 1.5), 2))

    def squash(self, x: ir.Atom) -> ir.Var:
        """x / sqrt(1 + x*x)."""
        square = self.b.apply(PRIMITIVES["mul"], x, x)
        root = self.b.apply(PRIMITIVES["sqrt"], self.b.apply(PRIMITIVES["add"], ir.real(1.0), square))
        return self.apply("div", x, root, limit=1.0)

    def condition(self) -> ir.Var:
        op = self.rng.choice(["lt", "le", "gt", "ge"])
        return self.apply(op, self.value(REAL, LARGE), self.value(REAL, LARGE))

    def turns(self) -> ir.Atom:
        """A trip count: known, or an Int of the program."""
        counts = [v for v in self.scope if v.type is INT and v not in self.below and self.limits[v] <= TURNS]
        if counts and self.rng.random() < 0.4:
            return self.rng.choice(counts)
        return ir.integer(self.rng.choice([0, 1, 2, 2, 3, 3, 4, 4]))

    # --- steps

    def steps(self, count: int) -> None:
        """Emit `count` steps."""
        for _ in range(count):
            if self.left <= 0:
                return
            self.left -= 1
            self.step()

    def step(self) -> None:
        choices: list[tuple[float, Callable[[], None]]] = [(5, self.arithmetic), (1, self.integers)]
        optional: dict[str, list[tuple[float, Callable[[], None]]]] = {
            "select": [(0.7, self.select)],
            "math": [(1, self.math)],
            "array": [(3, self.index), (2.5, self.update), (0.3, self.copy)],
            "tuple": [(1, self.tuples)],
            "accum": [(2.5, self.add)],
            "check": [(0.3, self.check)],
            "call": [(1.5, self.call)],
        }
        if self.depth < 4:
            optional["if"] = [(1, self.branch)]
            optional["loop"] = [(1.5, self.loop)]
            optional["while"] = [(0.6, self.while_)]
            optional["case"] = [(1, self.case)]
            optional["accum"].append((1, self.accumulate))
        for feature, offered in optional.items():
            if feature in self.features:
                choices += offered
        self.rng.choices([c for _, c in choices], [weight for weight, _ in choices])[0]()

    def part(self) -> int:
        """How many steps a nested block gets."""
        return self.rng.randint(0, 5)

    def arithmetic(self) -> None:
        x, y = self.value(REAL, LARGE), self.value(REAL, LARGE)
        a, b = self.limit(x), self.limit(y)
        made: list[Callable[[], ir.Var]] = [
            lambda: self.apply("add", x, y, limit=a + b),
            lambda: self.apply("sub", x, y, limit=a + b),
            lambda: self.apply("mul", x, y, limit=a * b),
            lambda: self.apply("neg", x, limit=a),
            lambda: self.apply(
                "sqrt", self.apply("add", ir.real(1.0), self.apply("mul", x, x, limit=a * a)), limit=a + 1
            ),
            lambda: self.apply("maximum", x, y, limit=max(a, b)),
        ]
        z = self.rng.choices(made, [3, 3, 6, 1, 1, 0.5])[0]()
        if self.limits[z] > LARGE:
            self.squash(z)
            self.scope.remove(z)

    def select(self) -> None:
        x, y = self.value(REAL), self.value(REAL)
        self.apply("select", self.value(BOOL), x, y, limit=SMALL)

    def math(self) -> None:
        name, limit = self.rng.choice([("sin", 1.0), ("cos", 1.0), ("tanh", 1.0), ("atan", 1.6), ("exp", 7.4)])
        self.apply(name, self.value(REAL), limit=limit)

    def integers(self) -> None:
        i, j = self.value(INT), self.value(INT)
        n = self.rng.randint(2, 4)
        total = self.apply("iadd", i, j, limit=self.limit(i) + self.limit(j))
        self.apply("imod", total, ir.integer(n), limit=n - 1)

    def path(self, t: Type, array: ir.Var | None = None) -> tuple[ir.Path, Type]:
        """A way into a `t`, whose indices are in range."""
        steps: list[ir.Atom | ir.Field] = []
        while not steps or (isinstance(t, Array | Tuple) and self.rng.random() < 0.6):
            if isinstance(t, Tuple):
                k = self.rng.randrange(len(t.items))
                steps.append(ir.Field(k))
                t = t.items[k]
            else:
                assert isinstance(t, Array)
                steps.append(self.position(t, array))
                t = t.element
        return tuple(steps), t

    def position(self, t: Array, array: ir.Var | None) -> ir.Atom:
        if t.length is None:
            assert array is not None
            return self.rng.choice(self.indices_into(array))
        allowed = [v for v in self.scope if v.type is INT and self.limits[v] < t.length]
        if allowed and self.rng.random() < 0.8:
            return self.rng.choice(allowed)
        return ir.integer(self.rng.randrange(t.length))

    def indices_into(self, array: ir.Var) -> list[ir.Var]:
        length = self.lengths.get(array)
        return [v for v in self.scope if length is not None and self.below.get(v) is length]

    def index(self) -> None:
        bases = [
            v
            for v in self.all(lambda t: isinstance(t, Array | Tuple))
            if not isinstance(v.type, Array) or v.type.length or self.indices_into(v)
        ]
        if bases:
            base = self.rng.choice(bases)
            path, t = self.path(base.type, base)
            x = self.let(ir.Index(base, path, checked=self.rng.random() < 0.5), t, self.limits[base], "e")
            if t is REAL and self.limits[x] > LARGE:
                self.squash(x)
                self.scope.remove(x)
            elif t is INT:
                self.limits[x] = max(self.limits[x], 10.0)

    def update(self) -> None:
        base = self.some(lambda t: isinstance(t, Array) and bool(t.length))
        if base is not None:
            path, t = self.path(base.type)
            value = self.value(t)
            self.let(ir.Update(base, path, value), base.type, max(self.limits[base], self.limit(value)), base.hint)

    def copy(self) -> None:
        base = self.some(is_boxed)
        if base is not None:
            expr = self.rng.choice([ir.Copy(base), ir.Zero(base)])
            new = self.let(expr, base.type, self.limits[base], base.hint)
            if base in self.lengths:
                self.lengths[new] = self.lengths[base]
            if base in self.twins:
                self.twins[new] = base

    def tuples(self) -> None:
        t = self.some(lambda t: isinstance(t, Tuple))
        if t is None or self.rng.random() < 0.3:
            self.value(self.rng.choice([u for u in self.heavy if isinstance(u, Tuple)]))
            return
        limit = self.limits[t]
        for v in self.b.bind_all(ir.Untuple(t), fields_of(t.type), "f"):
            self.bind(v, 10.0 if v.type is INT else limit)

    def check(self) -> None:
        x = self.value(REAL, LARGE)
        c = self.apply("lt", x, ir.real(self.limit(x) + 1.0))
        self.b.do(ir.Check(c, ir.Failure("assertion", "{0} is too large"), (x,)))

    # --- blocks

    def results(self, types: Sequence[Type], limit: float = SMALL) -> list[ir.Atom]:
        return [self.value(t, limit) for t in types]

    def types(self, count: int) -> list[Type]:
        return self.rng.choices([REAL, REAL, REAL, INT, BOOL, *self.heavy], k=count)

    def branch(self) -> None:
        types = self.types(self.rng.randint(0, 2))
        condition = self.value(BOOL)

        def side() -> ir.Block:
            return self.block(lambda: self.steps(self.part()) or self.results(types))

        for v in self.b.bind_all(ir.If(condition, side(), side()), tuple(types), "y"):
            self.bind(v, usual(v.type))

    def case(self) -> None:
        s = self.some(lambda t: isinstance(t, Sum))
        if s is None or self.rng.random() < 0.4:
            s = self.sum()
        assert isinstance(s.type, Sum)
        scrutinees = [s, self.twins[s]] if s in self.twins and self.rng.random() < 0.5 else [s]
        place = None
        if "accum" in self.features and self.rng.random() < 0.4:
            place = self.b.bind(ir.Accum(self.b.bind(ir.Copy(s), s.type, "s")), Ref(s.type), "acc")
        types = self.types(self.rng.randint(0, 2))
        sides = [self.side(s, scrutinees, place, number, types) for number in range(2)]
        everything = (*scrutinees, *([place] if place is not None else []))
        for v in self.b.bind_all(ir.Case(everything, *sides), tuple(types), "y"):
            self.bind(v, usual(v.type))
        if place is not None:
            self.twins[self.let(ir.Resolve(place), s.type, 50.0, "s")] = s

    def side(
        self, s: ir.Var, scrutinees: list[ir.Var], place: ir.Var | None, number: int, types: list[Type]
    ) -> ir.Branch:
        assert isinstance(s.type, Sum)
        payload = s.type.right if number else s.type.left
        params = [ir.Var(payload, "p") for _ in scrutinees]
        holds = [] if place is None else [ir.Var(Ref(payload), "q")]

        def body() -> list[ir.Atom]:
            if self.rng.random() < 0.2:
                self.let(ir.Extract(number, s), payload, self.limits[s], "o")
            self.steps(self.part())
            return self.results(types)

        bound = [(p, self.limits[q]) for p, q in zip(params, scrutinees, strict=True)] + [(q, 0.0) for q in holds]
        return ir.Branch((*params, *holds), self.block(body, *bound))

    def sum(self) -> ir.Var:
        """A new sum, or two with the same tag."""
        left, right = self.rng.choice([REAL, *self.heavy]), self.rng.choice([REAL, INT, *self.heavy])
        t = Sum(left, right)
        count = self.rng.randint(1, 2)

        def side(number: int, payload: Type) -> ir.Block:
            def inject() -> list[ir.Atom]:
                return [self.let(ir.Inject(number, self.value(payload)), t, SMALL, "s") for _ in range(count)]

            return self.block(inject)

        condition = self.value(BOOL)
        made = self.b.bind_all(ir.If(condition, side(0, left), side(1, right)), (t,) * count, "s")
        for v in made:
            self.bind(v, 3.0)
            self.twins[v] = made[0]
        return made[0]

    # --- loops

    def carried(self) -> tuple[list[ir.Var], list[ir.Atom], list[tuple[ir.Var, float]]]:
        types = self.types(self.rng.randint(0, 3))
        inits = self.results(types)
        carries = [ir.Var(t, "c") for t in types]
        return carries, inits, [(c, usual(c.type)) for c in carries]

    def loop(self) -> None:
        trips = self.turns()
        carries, inits, bound = self.carried()
        index = ir.Var(INT, "i")
        scans = self.scans(trips)
        self.below[index] = trips
        bound.append((index, self.limit(trips) - 1))
        bound += [(scan.param, self.limit(scan.array)) for scan in scans]
        stacked = self.rng.choices([REAL, INT, *self.heavy], k=self.rng.randint(0, 2))

        def turn() -> list[ir.Atom]:
            self.steps(self.part())
            return [*self.results([c.type for c in carries]), *self.results(stacked)]

        body = self.block(turn, *bound)
        down = self.rng.random() < 0.4
        loop = ir.Loop(trips, index, tuple(carries), tuple(inits), tuple(scans), body, down)
        length = trips.value if isinstance(trips, ir.Lit) else None
        stacks = [Array(length, t) for t in stacked]
        made = self.b.bind_all(loop, (*[c.type for c in carries], *stacks), "y")
        self.outcome(made, len(carries), trips)

    def outcome(self, made: Sequence[ir.Var], carried: int, length: ir.Atom) -> None:
        for number, v in enumerate(made):
            self.bind(v, usual(v.type))
            if number >= carried:
                self.lengths[v] = length

    def scans(self, trips: ir.Atom) -> list[ir.Scan]:
        if isinstance(trips, ir.Lit):
            fitting = self.all(lambda t: isinstance(t, Array) and t.length == trips.value)
        else:
            fitting = [v for v in self.scope if self.lengths.get(v) is trips and isinstance(v.type, Array)]
        found: list[ir.Scan] = []
        for v in self.rng.sample(fitting, min(len(fitting), self.rng.randint(0, 2))):
            assert isinstance(v.type, Array)
            found.append(ir.Scan(ir.Var(v.type.element, "e"), v, consumes=self.rng.random() < 0.4))
        return found

    def while_(self) -> None:
        carries, inits, bound = self.carried()
        turn_number = ir.Var(INT, "k")
        most = self.rng.randint(0, TURNS)
        stacked = self.rng.choices([REAL, *self.heavy], k=self.rng.randint(0, 2))

        def condition() -> list[ir.Atom]:
            below = self.apply("ilt", turn_number, ir.integer(most))
            return [self.apply("and", below, self.condition()) if self.rng.random() < 0.5 else below]

        def turn() -> list[ir.Atom]:
            self.steps(self.part())
            following = self.apply("iadd", turn_number, ir.integer(1))
            return [following, *self.results([c.type for c in carries]), *self.results(stacked)]

        both = [(turn_number, float(most)), *bound]
        test = self.block(condition, *both)
        body = self.block(turn, *both)
        stacks = [Array(None, t) for t in stacked]
        types = (INT, INT, *[c.type for c in carries], *stacks)
        expr = ir.While((turn_number, *carries), (ir.integer(0), *inits), test, body)
        count, *made = self.b.bind_all(expr, types, "y")
        self.bind(count, float(most))
        self.outcome(made, 1 + len(carries), count)
        self.limits[made[0]] = float(most)

    # --- places

    def accumulate(self) -> None:
        """Open a place, do something with it, and resolve it."""
        t = self.rng.choice([REAL, *self.heavy])
        mark = len(self.scope)
        place = self.bind(self.b.bind(ir.Accum(self.value(t)), Ref(t), "acc"), 0.0)
        for _ in range(self.rng.randint(1, 2)):
            self.add()
        self.steps(self.part())
        self.scope[mark:] = [v for v in self.scope[mark:] if not isinstance(v.type, Ref)]  # views of it, too
        held = self.let(ir.Resolve(place), t, 200.0, "r")
        if t is REAL:
            self.squash(held)
            self.scope.remove(held)

    def add(self) -> None:
        place = self.some(lambda t: isinstance(t, Ref))
        if place is None:
            return
        assert isinstance(place.type, Ref)
        t = place.type.target
        if isinstance(t, Array | Tuple) and self.rng.random() < 0.6:
            path, t = self.path(t)
            place = self.let(ir.View(place, path, checked=self.rng.random() < 0.5), Ref(t), 0.0, "at")
        if not isinstance(t, Sum):
            self.b.do(ir.Add(place, self.value(t)))

    # --- calls

    def call(self) -> None:
        if self.known:
            known = self.rng.choice(self.known)
            self.call_of(known.function, known.limits, {})

    def call_of(self, f: ir.Function, limits: Sequence[float], given: dict[ir.Var, ir.Atom]) -> None:
        """A call with arguments from the scope, but for the `given` ones; for `&T` an open place, or a new one."""
        args: list[ir.Atom] = []
        opened: list[ir.Var] = []
        for p in f.params:
            if p in given:
                args.append(given[p])
            elif isinstance(p.type, Ref):
                t = p.type
                place = self.some(lambda u, t=t: u == t)
                if place is None:
                    place = self.b.bind(ir.Accum(self.value(t.target)), t, "acc")
                    opened.append(place)
                args.append(place)
            else:
                args.append(self.value(p.type))
        made = self.b.bind_all(ir.Call(f, tuple(args)), f.results, "y")
        for v, limit in zip(made, limits, strict=True):
            self.bind(v, 10.0 if v.type is INT else limit)
        for place in opened:
            assert isinstance(place.type, Ref)
            held = self.let(ir.Resolve(place), place.type.target, 200.0, "r")
            if held.type is REAL:
                self.scope.remove(held)

    def recursive(self, f: ir.Function) -> ir.Block:
        """A body that calls `f` while its first parameter is positive."""
        k = f.params[0]

        def deeper() -> list[ir.Atom]:
            self.steps(self.part())
            less = self.b.apply(PRIMITIVES["isub"], k, ir.integer(1), hint="k")
            self.call_of(f, [SMALL] * len(f.results), {k: less})
            self.steps(self.part())
            return self.results(f.results)

        def whole() -> list[ir.Atom]:
            self.scope.remove(k)
            more = self.b.apply(PRIMITIVES["igt"], k, ir.integer(0))
            end = self.block(lambda: self.steps(self.part()) or self.results(f.results))
            expr = ir.If(more, self.block(deeper), end)
            return list(self.b.bind_all(expr, f.results, "y"))

        return self.block(whole)
