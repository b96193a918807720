"""Says what a call of a function that nobody rewrites does to the host: nothing, or a change of one argument.

The tables are a white list. What they do not name may do anything, and staged branches and loops refuse it. Names are
those under which a library documents itself: `json.dumps`, and `collections.deque` with the names of its methods. A
user adds to the list with `rose.pure`.
"""

# Values of users are of any type: what they are is asked while staging.

import functools
import sys
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    GenericAlias,
    MethodDescriptorType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple

from rosejit.frontend.syntax.user_code import is_users_class, is_users_code
from rosejit.frontend.values.pytree import is_record
from rosejit.frontend.values.rose_functions import is_declared_pure


class Effect(NamedTuple):
    """What a call does to the host."""

    changes: Any = None
    """The one object that it changes; None for no object."""
    is_fresh: bool = False
    """Whether its result is an object that nobody had before."""


_NONE, _FRESH = Effect(), Effect(is_fresh=True)

_PURE = {
    "builtins": """
        abs all any ascii bin bool bytes callable chr complex dict dir divmod enumerate filter float format frozenset
        getattr hasattr hash hex id int isinstance issubclass iter len list map max memoryview min object oct ord pow
        property range repr reversed round set slice sorted staticmethod classmethod str sum super tuple type vars zip
        bytearray
    """,
    "math": "*", "cmath": "*", "itertools": "*", "numbers": "*", "string": "*", "typing": "*", "unicodedata": "*",
    "colorsys": "*",
    "keyword": "*", "fractions": "*", "typing_extensions": "*", "types": "*", "abc": "*", "enum": "*",
    "operator": """
        abs add and_ attrgetter concat contains countOf eq floordiv ge getitem gt index indexOf inv invert is_ is_not
        itemgetter le length_hint lshift lt matmul methodcaller mod mul ne neg not_ or_ pos pow rshift sub truediv truth
        xor is_none is_not_none
    """,
    "functools": "partial reduce cmp_to_key wraps update_wrapper partialmethod total_ordering",
    "collections": "deque OrderedDict defaultdict Counter ChainMap namedtuple UserDict UserList UserString",
    "array": "array",
    "copy": "copy deepcopy replace",
    "dataclasses": "replace asdict astuple fields is_dataclass field",
    "datetime": "date datetime time timedelta timezone",
    "decimal": "Decimal",
    "calendar": "isleap leapdays monthrange weekday timegm",
    "zoneinfo": "ZoneInfo",
    "re": "compile escape findall finditer fullmatch match search split sub subn",
    "json": "dumps loads",
    "statistics": """
        correlation covariance fmean geometric_mean harmonic_mean linear_regression mean median median_grouped
        median_high median_low mode multimode pstdev pvariance quantiles stdev variance NormalDist
    """,
    "bisect": "bisect bisect_left bisect_right", "heapq": "nlargest nsmallest merge",
    "struct": "calcsize pack unpack unpack_from", "binascii": "crc32 hexlify unhexlify", "zlib": "adler32 crc32",
    "base64": "b64encode b64decode b32encode b32decode b16encode b16decode",
    "textwrap": "dedent fill indent shorten wrap", "pprint": "pformat", "html": "escape unescape",
    "shlex": "quote split",
    "difflib": "get_close_matches SequenceMatcher", "fnmatch": "fnmatch fnmatchcase translate",
    "urllib.parse": "parse_qs parse_qsl quote unquote urlencode urljoin urlparse urlsplit urlunparse",
    "inspect": "isclass isfunction ismethod isroutine getdoc signature cleandoc getmembers",
    "posixpath": "basename commonprefix dirname isabs join normpath relpath split splitext",
    "ntpath": "basename commonprefix dirname isabs join normpath relpath split splitext",
    "os": "getenv fspath", "os.path": "*", "uuid": "UUID uuid3 uuid5", "sys": "getsizeof getrefcount intern",
    "pathlib": "PurePath PurePosixPath PureWindowsPath Path PosixPath WindowsPath",
    "io": "StringIO BytesIO", "contextlib": "suppress nullcontext", "weakref": "ref", "queue": "Queue SimpleQueue",
    "numpy": """
        abs absolute acos acosh add all allclose amax amin angle any append arange arccos arccosh arcsin arcsinh arctan
        arctan2 arctanh argmax argmin argpartition argsort argwhere around array array2string array_equal array_equiv
        array_repr array_split array_str asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asin
        asinh astype atan atan2 atanh atleast_1d atleast_2d atleast_3d average bartlett base_repr binary_repr bincount
        bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
        bitwise_xor blackman block broadcast broadcast_arrays broadcast_shapes broadcast_to busday_count busday_offset
        can_cast cbrt ceil choose clip column_stack common_type compress concat concatenate conj conjugate convolve copy
        copysign corrcoef correlate cos cosh count_nonzero cov cross cumprod cumsum cumulative_prod cumulative_sum
        datetime64 datetime_as_string deg2rad degrees delete diag diag_indices diag_indices_from diagflat diagonal diff
        digitize divide divmod dot dsplit dstack dtype ediff1d einsum einsum_path empty empty_like equal errstate exp
        exp2 expand_dims expm1 extract eye fabs finfo flatnonzero flip fliplr flipud float_power floor floor_divide fmax
        fmin fmod format_float_positional format_float_scientific frexp frombuffer fromstring full full_like gcd
        geomspace gradient greater greater_equal hamming hanning heaviside histogram histogram2d histogram_bin_edges
        histogramdd hsplit hstack hypot i0 identity iinfo imag in1d indices inner insert interp intersect1d invert
        is_busday isclose iscomplex iscomplexobj isdtype isfinite isfortran isin isinf isnan isnat isneginf isposinf
        isreal isrealobj isscalar issubdtype iterable ix_ kaiser kron lcm ldexp left_shift less less_equal lexsort
        linspace log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace
        mask_indices matmul matrix_transpose matvec max maximum may_share_memory mean median meshgrid min
        min_scalar_type minimum mod modf moveaxis multiply nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax
        nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndenumerate ndim ndindex
        negative nextafter nonzero not_equal ones ones_like outer packbits pad partition percentile permute_dims
        piecewise poly poly1d polyadd polyder polydiv polyfit polyint polymul polysub polyval positive pow power prod
        promote_types ptp quantile rad2deg radians ravel ravel_multi_index real real_if_close reciprocal remainder
        repeat require reshape resize result_type right_shift rint roll rollaxis roots rot90 round row_stack
        searchsorted select setdiff1d setxor1d shape shares_memory sign signbit sin sinc sinh size sort sort_complex
        spacing split sqrt square squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile
        timedelta64 trace transpose trapezoid trapz tri tril tril_indices tril_indices_from trim_zeros triu triu_indices
        triu_indices_from true_divide trunc union1d unique unique_all unique_counts unique_inverse unique_values
        unpackbits unravel_index unstack unwrap vander var vdot vecdot vecmat vsplit vstack where zeros zeros_like
    """,
    "numpy.linalg": """
        cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_power
        matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot tensorinv
        tensorsolve trace vecdot vector_norm
    """,
    "numpy.fft": "*", "numpy.polynomial": "*", "scipy.special": "*", "scipy.constants": "*", "scipy.interpolate": "*",
    "scipy.linalg": "*", "scipy.fft": "*", "scipy.spatial.distance": "*",
}  # fmt: skip
"""By module the functions that have no effect, and the classes whose construction has none; `*` for all of a module."""

_CHANGING = {
    "heapq": "heapify heappop heappush heappushpop heapreplace heapify_max heappop_max heappush_max heappushpop_max",
    "bisect": "insort insort_left insort_right",
    "operator": """
        delitem iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor setitem
    """,
    "builtins": "delattr setattr next",
}
"""By module the functions that change their first argument, and nothing else."""

_METHODS = {
    "builtins.list": "copy count index | append clear extend insert pop remove reverse sort __init__",
    "builtins.dict": "copy fromkeys get items keys values | clear pop popitem setdefault update __init__",
    "builtins.set": """
        copy difference intersection isdisjoint issubset issuperset symmetric_difference union | add clear
        difference_update discard intersection_update pop remove symmetric_difference_update update __init__
    """,
    "builtins.bytearray": """
        capitalize center copy count decode endswith expandtabs find fromhex hex index isalnum isalpha isascii isdigit
        islower isspace istitle isupper join ljust lower lstrip maketrans partition removeprefix removesuffix replace
        rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title translate upper
        zfill | append clear extend insert pop remove resize reverse __init__
    """,
    "builtins.generator": "| __next__ close send throw",
    "builtins.object": "__init__",
    "builtins.memoryview": "cast hex tobytes tolist toreadonly",
    "builtins.type": "mro",
    "collections.deque": """
        copy count index | append appendleft clear extend extendleft insert pop popleft remove reverse rotate __init__
    """,
    "collections.OrderedDict": """
        copy fromkeys items keys values | clear move_to_end pop popitem setdefault update __init__
    """,
    "collections.defaultdict": "copy | __init__ __missing__",
    "collections.Counter": "copy elements most_common total __missing__ | subtract update __init__ __delitem__",
    "collections.ChainMap": "copy fromkeys get new_child __missing__ |",
    "collections.UserDict": "copy fromkeys get | __init__",
    "collections.UserList": "copy count index | append clear extend insert pop remove reverse sort __init__",
    "collections.abc.Mapping": "get items keys values",
    "collections.abc.MutableMapping": "| clear pop popitem setdefault update",
    "collections.abc.Sequence": "count index",
    "collections.abc.MutableSequence": "| append clear extend insert pop remove reverse",
    "array.array": """
        buffer_info count index tobytes tolist tounicode | append byteswap extend frombytes fromlist fromunicode insert
        pop remove reverse clear __init__
    """,
    "io.StringIO": """
        getvalue tell readable writable seekable | close read readline readlines seek truncate write writelines
    """,
    "io.BytesIO": """
        getbuffer getvalue tell readable writable seekable | close read read1 readinto readline readlines seek truncate
        write writelines
    """,
    "queue.Queue": "empty full qsize | get get_nowait put put_nowait task_done __init__",
    "queue.SimpleQueue": "empty qsize | get get_nowait put put_nowait __init__",
    "numpy.ndarray": """
        all any argmax argmin argsort astype clip conj conjugate copy cumprod cumsum diagonal dot flatten item max mean
        min nonzero prod ravel repeat reshape round searchsorted squeeze std sum swapaxes take tobytes tolist trace
        transpose var view |
    """,
    "pathlib.PurePath": """
        as_posix as_uri is_absolute is_relative_to is_reserved joinpath match relative_to with_name with_stem
        with_suffix with_segments full_match
    """,
    "types.SimpleNamespace": "__init__",
    "contextvars.ContextVar": "get",
    "collections.abc.KeysView": "isdisjoint",
    "collections.abc.ItemsView": "isdisjoint",
}
"""By class the methods without effect, and after a bar those that change the object, and nothing else."""

_OWNING = frozenset({
    "builtins.list", "builtins.dict", "builtins.set", "builtins.bytearray", "collections.deque", "queue.Queue",
    "collections.OrderedDict", "collections.defaultdict", "collections.Counter", "collections.UserDict",
    "collections.UserList", "array.array", "io.StringIO", "io.BytesIO", "queue.SimpleQueue", "types.SimpleNamespace",
    "builtins.generator", "builtins.BaseException",
})  # fmt: skip
"""Classes whose objects hold their content themselves: to change one that a block has made changes nothing outside."""

_VALUES = frozenset({
    "builtins.str", "builtins.int", "builtins.float", "builtins.bool", "builtins.complex", "builtins.bytes",
    "builtins.tuple", "builtins.range", "builtins.frozenset", "builtins.slice", "builtins.NoneType",
    "builtins.mappingproxy", "types.MappingProxyType", "builtins.dict_keys", "builtins.dict_values",
    "builtins.dict_items", "fractions.Fraction", "decimal.Decimal", "datetime.date", "datetime.datetime",
    "datetime.time", "datetime.timedelta", "datetime.tzinfo", "datetime.timezone", "zoneinfo.ZoneInfo", "re.Pattern",
    "re.Match", "uuid.UUID", "numpy.generic", "numpy.dtype", "numpy.finfo", "numpy.iinfo", "enum.Enum", "enum.Flag",
    "string.Template", "string.Formatter", "statistics.NormalDist", "collections.UserString", "inspect.Signature",
    "inspect.Parameter", "functools.partial", "operator.itemgetter", "operator.attrgetter", "builtins.code",
    "numpy.polynomial.polynomial.Polynomial", "numpy.polynomial._polybase.ABCPolyBase", "numpy.poly1d",
    "numpy.lib._polynomial_impl.poly1d", "weakref.ref", "weakref.ReferenceType", "builtins.property",
})  # fmt: skip
"""Classes whose objects nobody can change: all their methods are without effect, but for those of `_READING`."""

_READING = frozenset({"now", "utcnow", "today", "available_timezones", "reset_cache", "clear_cache"})
"""Methods of these classes that ask the clock or the system, which is not the run's."""

_DUNDERS = """
    eq ne lt le gt ge len contains getitem iter reversed hash repr str format bool add radd sub rsub mul rmul truediv
    rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul divmod rdivmod and rand or ror xor rxor lshift rlshift
    rshift rrshift neg pos abs invert int float complex index round trunc floor ceil getattribute sizeof dir reduce
    reduce_ex getnewargs getnewargs_ex class_getitem init_subclass subclasshook instancecheck subclasscheck copy
    deepcopy new length_hint getstate get fspath
"""
"""Methods of Python itself that have no effect in any class of the lists."""

_WRITING = """
    setitem delitem setattr delattr iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift
    set delete setstate next
"""
"""Methods of Python itself that change the object, in any class."""

_GIVING = {
    "builtins.list": "copy", "builtins.dict": "copy fromkeys",
    "builtins.set": "copy difference intersection symmetric_difference union",
    "builtins.str": "split rsplit splitlines",
    "builtins.bytes": "split rsplit splitlines",
    "builtins.bytearray": "copy", "collections.deque": "copy",
    "collections.OrderedDict": "copy fromkeys", "collections.defaultdict": "copy",
    "collections.Counter": "copy most_common", "collections.UserDict": "copy fromkeys", "collections.UserList": "copy",
    "array.array": "tolist", "builtins.memoryview": "tolist", "numpy.ndarray": "tolist",
}  # fmt: skip
"""By class the methods whose result is a container that nobody had before."""
_GIVING_FUNCTIONS = {
    "copy": "copy deepcopy replace", "dataclasses": "replace asdict", "re": "findall split", "json": "loads",
    "builtins": "dir sorted", "heapq": "nlargest nsmallest", "shlex": "split", "textwrap": "wrap",
}  # fmt: skip
"""By module the functions whose result is a container that nobody had before."""

_PLAIN_METACLASSES = frozenset({"builtins.type", "abc.ABCMeta", "enum.EnumType", "enum.EnumMeta", "numpy._DTypeMeta"})


def effect_of(function: Any, args: tuple[Any, ...]) -> Effect | None:
    """What `function(*args)` does to the host; None where nobody knows."""
    if is_declared_pure(function):
        return _NONE
    kind = type(function)
    if kind is FunctionType:
        return _of_python(function, args)
    if kind is BuiltinFunctionType:
        owner = function.__self__
        if owner is None or isinstance(owner, ModuleType):
            return _of_function(function.__module__ or getattr(owner, "__name__", ""), function.__name__, args)
        return _of_method(owner if isinstance(owner, type) else type(owner), function.__name__, owner)
    if kind is MethodWrapperType:
        return _of_method(type(function.__self__), function.__name__, function.__self__)
    if kind in (MethodDescriptorType, WrapperDescriptorType, ClassMethodDescriptorType):
        if not args:
            return _NONE  # which is an error of Python's
        asked = type(args[0]) if isinstance(args[0], function.__objclass__) else function.__objclass__
        return _of_method(asked, function.__name__, args[0])
    if isinstance(function, type):
        return _of_class(function)
    return _of_object(function, args)


def owns_content(cls: type) -> bool:
    """Whether the objects of a class hold their content themselves."""
    return all(
        is_users_class(each) or each is object or _title(each) in _OWNING or _is_abstract(each) for each in cls.__mro__
    )


def _is_abstract(cls: type) -> bool:
    return _module(cls.__module__) in ("collections.abc", "typing", "abc")


def name_of(function: Any) -> str:
    """What a message calls a function."""
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__qualname__", None) or f"an object of {type(function).__name__}"
    if owner is not None and not isinstance(owner, (ModuleType, type)):
        return f"{type(owner).__name__}.{name.rpartition('.')[2]}"
    module = _module(getattr(function, "__module__", None) or "")
    return (
        name
        if module in ("", "builtins", "__main__") or "." in name or is_users_class(type(function))
        else f"{module}.{name}"
    )


# --- by kind of callable


def _of_python(function: FunctionType, args: tuple[Any, ...]) -> Effect | None:
    """A function of a library in Python, or one that was made without text."""
    module, name = _module(function.__module__ or ""), function.__qualname__
    if module.partition(".")[0] == "rosejit":
        return _NONE
    if "." not in name:
        return _of_function(module, name, args)
    last = function.__name__
    if not args:
        return _NONE if module == "typing" else None
    cls = args[0] if isinstance(args[0], type) else type(args[0])
    holder = next((each for each in cls.__mro__ if _held(each, last) is function), None)
    if holder is None:
        return _NONE if _is_whole(module) else None
    if is_record(holder) and not is_users_code(function.__code__):  # what dataclasses and named tuples were given
        return Effect(args[0]) if last in ("__init__", "__setattr__", "__delattr__") else _NONE
    return _of_method(cls, last, args[0])


def _held(cls: type, name: str) -> Any:
    member = vars(cls).get(name)
    return getattr(member, "__func__", member)


def _of_function(module: str, name: str, args: tuple[Any, ...]) -> Effect | None:
    module = _module(module)
    if name in _names(_CHANGING, module):
        return Effect(args[0]) if args and _is_changeable(args[0]) else _NONE
    known = _names(_PURE, module)
    if name in known or "*" in known or _is_whole(module):
        return _FRESH if name in _names(_GIVING_FUNCTIONS, module) else _NONE
    return None


def _is_changeable(value: Any) -> bool:
    """Whether `operator.iadd` and the like change a value, and do not make another one."""
    return not _is_of_values(type(value))


def _is_of_values(cls: type) -> bool:
    return any(_title(each) in _VALUES for each in cls.__mro__)


def _is_whole(module: str) -> bool:
    """Whether all of a module, or of a package that it is in, is without effect."""
    parts = module.split(".")
    return any("*" in _names(_PURE, ".".join(parts[:k])) for k in range(1, len(parts) + 1))


def _of_method(cls: type, name: str, owner: Any) -> Effect | None:
    """The method that `cls` has under `name`, of a class that is not the user's."""
    if _is_among(name, _WRITING):
        return Effect(owner) if _is_changeable(owner) else _NONE
    if name in _OF_EXCEPTIONS and issubclass(cls, BaseException):
        return _NONE
    holder = next((each for each in cls.__mro__ if name in vars(each)), cls)
    for each in (holder, *cls.__mro__):  # a class may have what one above it says of itself
        title = _title(each)
        pure, changing = _methods(title)
        if name in changing:
            return Effect(owner)
        if name in pure:
            return _FRESH if name in _names(_GIVING, title) else _NONE
        if title in _VALUES or _is_whole(_module(each.__module__)):
            return None if name in _READING else _FRESH if name in _names(_GIVING, title) else _NONE
        if each is holder and not _is_among(name, _DUNDERS):
            break
    return _NONE if _is_among(name, _DUNDERS) and (name != "__new__" or _of_class(cls) is not None) else None


_OF_EXCEPTIONS = ("__init__", "add_note", "with_traceback")
"""What is done with an exception before it is raised."""


def _of_class(cls: Any) -> Effect | None:
    """Making an object: what the classes that make it and fill it are."""
    if _title(type(cls)) not in _PLAIN_METACLASSES and not _is_abstract(type(cls)):
        return None
    if issubclass(cls, BaseException) or is_record(cls):
        return _NONE
    for name in ("__new__", "__init__"):
        holder = next(each for each in cls.__mro__ if name in vars(each))
        made = vars(holder)[name]
        users = is_users_class(holder) or is_users_code(getattr(made, "__code__", _NO_CODE))
        if holder is not object and not users and not _makes(holder) and not _is_abstract(holder):
            return None
    return _NONE


_NO_CODE = effect_of.__code__


def _makes(cls: type) -> bool:
    title, module = _title(cls), _module(cls.__module__)
    known = _names(_PURE, module)
    return cls.__name__ in known or "*" in known or _is_whole(module) or _is_of_values(cls) or title in _METHODS


def _of_object(function: Any, args: tuple[Any, ...]) -> Effect | None:
    cls: Any = type(function)
    title = _title(cls)
    if title in _CALLING or isinstance(function, GenericAlias) or _module(cls.__module__) == "typing":
        return _NONE
    if title in ("numpy._ArrayFunctionDispatcher", "numpy.ufunc"):
        return _of_ufunc(function, args)
    return _NONE if _is_whole(_module(cls.__module__)) or cls.__module__.startswith("rosejit.") else None


_CALLING = frozenset({
    "functools._lru_cache_wrapper", "operator.itemgetter", "operator.attrgetter", "functools.KeyWrapper",
    "weakref.ReferenceType", "weakref.ref", "re.Pattern", "numpy.poly1d", "numpy.lib._polynomial_impl.poly1d",
})  # fmt: skip
"""Classes of objects that are called, and have no effect. Whoever caches a function says that it has none."""


def _of_ufunc(function: Any, args: tuple[Any, ...]) -> Effect | None:
    """A function of NumPy's; ufuncs of others are known by where they are."""
    module, name = getattr(function, "__module__", None), function.__name__
    if module is not None and type(function).__name__ != "ufunc":
        return _of_function(module, name, args)
    homes = (("numpy", _names(_PURE, "numpy")), ("scipy.special", {name}))
    found = any(name in known and getattr(sys.modules.get(home), name, None) is function for home, known in homes)
    return _NONE if found else None


# --- names


@functools.lru_cache(maxsize=4096)
def _title(cls: type) -> str:
    module: Any = cls.__module__
    return f"{_module(module) if isinstance(module, str) else ''}.{cls.__qualname__}"


def _module(name: str) -> str:
    """A module as it is documented: `_heapq` is `heapq`, `json.encoder` is `json`."""
    return _DOCUMENTED.get(name, name.removeprefix("_") if "." not in name else name)


_DOCUMENTED = {
    "_collections_abc": "collections.abc", "json.encoder": "json", "json.decoder": "json", "_io": "io", "posix": "os",
    "nt": "os", "_pydecimal": "decimal", "_pydatetime": "datetime",
    "pathlib._local": "pathlib", "pathlib._abc": "pathlib",
    "re._compiler": "re", "_sitebuiltins": "builtins", "numpy.linalg._linalg": "numpy.linalg",
    "numpy.linalg.linalg": "numpy.linalg", "_queue": "queue", "zoneinfo._zoneinfo": "zoneinfo",
}  # fmt: skip


@functools.lru_cache(maxsize=512)
def _split(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _is_among(name: str, names: str) -> bool:
    """Whether a method of Python itself is in a list, which leaves out the underscores."""
    return name[:2] == "__" and name[2:-2] in _split(names)


def _names(table: dict[str, str], key: str) -> frozenset[str]:
    return _split(table.get(key, ""))


def _methods(title: str) -> tuple[frozenset[str], frozenset[str]]:
    """The methods of a class without effect, and those that change the object."""
    pure, _, changing = _METHODS.get(title, "").partition("|")
    return _split(pure), _split(changing)
