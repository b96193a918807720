"""What of NumPy is not staged, and why: one table, for messages and for `docs/arrays.md`."""

from rosejit.frontend.numpy.polynomials import FAMILIES

REASONS: dict[str, tuple[str, ...]] = {
    "how many elements come out only running tells": (
        "np.unique", "np.unique_all", "np.unique_counts", "np.unique_inverse", "np.unique_values", "np.union1d",
        "np.intersect1d", "np.setdiff1d", "np.setxor1d", "np.nonzero", "np.flatnonzero", "np.argwhere",
        "np.trim_zeros", "np.polydiv", "np.polynomial.polynomial.polydiv", "np.polynomial.polyutils.trimcoef",
    ),
    "whether its roots are complex only running tells, and `np.roots` gives complex ones": (
        *(f"np.polynomial.{module}.{prefix}roots" for module, (prefix, _) in FAMILIES.items()),
    ),
    "it is about memory, which staged arrays do not show": (
        "np.lib.stride_tricks.as_strided", "np.may_share_memory", "np.shares_memory", "np.isfortran", "np.require",
        "np.ndarray", "np.nested_iters", "np.min_scalar_type", "np.common_type", "np.mintypecode",
    ),
    "it makes objects that are no arrays of numbers": (
        "np.poly1d", "np.matrix", "np.asmatrix", "np.bmat", "np.rec", "np.recarray", "np.char", "np.ma",
        "np.datetime64", "np.array2string", "np.array_repr", "np.array_str",
    ),
    "it is about the bits of numbers": (
        "np.nextafter", "np.spacing", "np.frexp", "np.bitwise_count", "np.packbits", "np.unpackbits",
    ),
    "its argument is a length, which must be known while staging": (
        "np.bartlett", "np.blackman", "np.hamming", "np.hanning", "np.tril_indices", "np.triu_indices",
    ),
    "its Bessel function is not staged": ("np.i0", "np.kaiser"),
}  # fmt: skip
"""The functions, by reason."""
_USUAL = "write it as a loop over `rose.range`, or call it through a function of your own with `rose.opaque`"


def reason_of(title: str) -> str:
    """What to say of a function that is not staged, and what to do."""
    found = next((reason for reason, names in REASONS.items() if title in names), "")
    return f"{found}; {_USUAL}" if found else _USUAL
