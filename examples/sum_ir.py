"""The IR as text: listing 7 of the Rose paper parsed, printed, run, and differentiated.

The listing is generic over the length and uses a scoped accumulator. It is made for a length when it is parsed, and
prints flat: `accum`, `+=` and `resolve` are ordinary lets.
"""

from rosejit import interp, text
from rosejit.ir.verify import verify
from rosejit.transforms.autodiff.derivative_programs import gradient, pushforward

LISTING_7 = """
def sum<n: Index>(v: [n]Real): Real =
  let z: Real = 0.0 in
  let t: (Real, [n]()) =
    accum a from z in
      [for i: n,
        let x: Real = v[i] in
        let u: () = a += x in
        u
      ]
  in
  let y: Real = fst t in
  y
"""

if __name__ == "__main__":
    program = text.parse(LISTING_7, n=4)
    verify(program)
    printed = text.show(program)
    print(printed, "\n")
    assert text.show(text.parse(printed)) == printed

    v = [1.0, 10.0, 100.0, 1000.0]
    assert interp.run(program, [v]) == (1111.0,)

    mask = (True,)
    forward = pushforward(program, mask)
    verify(forward)
    assert interp.run(forward, [v, [0.5, 0.0, 0.0, 2.0]]) == (1111.0, 2.5)

    reverse = gradient(program, mask, value=True)
    verify(reverse)
    print(text.show(reverse), "\n")
    assert interp.run(reverse, [v]) == (1111.0, [1.0, 1.0, 1.0, 1.0])
    print("sum", *interp.run(program, [v]), "gradient", *interp.run(gradient(program, mask, value=False), [v]))
