"""Print debugging inside compiled code: listing 5 of the Rose paper.

`show` is opaque: the compiler cannot look inside. Its derivative says that it prints again and is the identity.
"""

import rosejit as rose

printed: list[float] = []


@rose.opaque
def show(x: float) -> float:
    print("x =", x)
    printed.append(x)
    return x


@show.jvp
def _(x: rose.Dual) -> rose.Dual:
    show(x.re)
    return x


@rose.jit
def square(x: float) -> float:
    return show(x) * x


if __name__ == "__main__":
    assert square(3.0) == 9.0
    assert printed == [3.0]  # once in the value

    assert rose.grad(square)(3.0) == 6.0
    assert printed == [3.0, 3.0]  # and once in the gradient

    assert rose.grad(rose.grad(square))(3.0) == 2.0
    print("value, gradient and second derivative of square at 3: 9, 6, 2")
