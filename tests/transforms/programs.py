"""Small programs of the IR that between them use every form, each with arguments at which all is smooth and finite."""

PROGRAMS: dict[str, tuple[str, list[object]]] = {
    "straight": (
        """
def f(x: Real, y: Real): Real, Real =
  let a: Real = x * y in
  let b: Real = a / y in
  let c: Real = a - b in
  let d: Real = sqrt(a) in
  let e: Real = c * d in
  e, a
""",
        [1.3, 0.7],
    ),
    "branch with different free variables": (
        """
def f(p: Real, a: Real, b: Real): Real =
  let c: Bool = p > 0.0 in
  let y: Real = if c { let u: Real = a * a in let v: Real = u * p in v } { let w: Real = 3.0 * b in w } in
  let z: Real = y * a in
  z
""",
        [0.5, 2.0, 5.0],
    ),
    "nested branches": (
        """
def f(x: Real, y: Real): Real =
  let c: Bool = x < y in
  let a: Real, b: Real = if c {
    let d: Bool = y < 10.0 in
    let e: Real = if d { let u: Real = x * y in u } { x } in
    e, y
  } { let q: Real = x / y in q, q } in
  let r: Real = a * b in
  r
""",
        [1.5, 2.5],
    ),
    "call twice": (
        """
def g(x: Real, y: Real): Real =
  let a: Real = x * y in
  let b: Real = a * x in
  b
def f(x: Real, y: Real): Real =
  let a: Real = g(x, y) in
  let b: Real = g(a, 2.0) in
  let c: Real = g(x, x) in
  let d: Real = a * b in
  let e: Real = d + c in
  e
""",
        [1.1, 0.6],
    ),
    "loop with a free variable": (
        """
def f(x: Real): Real =
  let y: Real = loop i < 5 carry (y: Real = 1.0) { let z: Real = y * x in z } in
  y
""",
        [2.0],
    ),
    "loop squaring": (
        """
def f(x: Real): Real =
  let y: Real = loop i < 3 carry (y: Real = x) { let z: Real = y * y in z } in
  y
""",
        [1.1],
    ),
    "loop of no iteration": (
        """
def f(x: Real): Real =
  let y: Real = loop i < 0 carry (y: Real = x) { let z: Real = y * y in z } in
  y
""",
        [1.1],
    ),
    "loop of fewer iterations than none": (
        """
def f(a: [4]Real, x: Real): Real =
  let y: Real, rows: [0]Real = loop i < -2 carry (y: Real = x) {
    let k: Real = a[i] in
    let p: Real = y * k in
    let z: Real = sin(p) in
    let w: Real = loop j < -1 carry (u: Real = z) { let v: Real = u * k in v } in
    w, p
  } in
  let t: Real = loop i < 0 carry (t: Real = y) scan (r: Real in rows) { let q: Real = t * r in q } in
  t
""",
        [[1.0, 2.0, 3.0, 4.0], 1.1],
    ),
    "loop whose trips are an argument": (
        """
def f(n: Int, x: Real): Real =
  let y: Real = loop i < n carry (y: Real = x) { let z: Real = y * x in let k: Real = to_real(i) in let w: Real = z + k in w } in
  y
""",
        [4, 1.1],
    ),
    "cumulative product": (
        """
def f(x: [4]Real): [4]Real =
  let y0: [4]Real = copy x in
  let y: [4]Real = loop i < 3 carry (c: [4]Real = y0) {
    let k: Int = i + 1 in
    let a: Real = c[i] in
    let b: Real = x[k] in
    let v: Real = a * b in
    let d: [4]Real = update c[k] = v in
    d } in
  y
""",
        [[1.2, 0.7, 1.5, 0.9]],
    ),
    "swap of two arrays": (
        """
def f(x: [3]Real, y: [3]Real): Real =
  let a0: [3]Real = copy x in
  let b0: [3]Real = copy y in
  let a: [3]Real, b: [3]Real = loop i < 3 carry (a: [3]Real = a0, b: [3]Real = b0) {
    let u: Real = a[i] in
    let v: Real = b[i] in
    let w: Real = u * v in
    let a2: [3]Real = update a[i] = w in
    b, a2 } in
  let p: Real = a[0] in
  let q: Real = b[1] in
  let s: Real = a[2] in
  let r: Real = p * q in
  let t: Real = r * s in
  t
""",
        [[1.2, 0.7, 1.5], [0.8, 1.1, 0.6]],
    ),
    "update on one side": (
        """
def f(x: [4]Real): Real =
  let y0: [4]Real = copy x in
  let y: [4]Real, s: Real = loop i < 4 carry (y: [4]Real = y0, s: Real = 0.0) {
    let a: Real = y[i] in
    let c: Bool = a < 1.0 in
    let z: [4]Real = if c { let v: Real = a * a in let y2: [4]Real = update y[i] = v in y2 } { y } in
    let b: Real = z[i] in
    let t: Real = b * a in
    let s2: Real = s + t in
    z, s2 } in
  let q: Real = y[3] in
  let r: Real = s * q in
  r
""",
        [[1.2, 0.7, 1.5, 0.9]],
    ),
    "old array read after its update": (
        """
def f(x: [3]Real): Real =
  let y: [3]Real = copy x in
  let s: Real = loop i < 3 carry (s: Real = 0.0) {
    let y0: [3]Real = copy y in
    let a: Real = y[i] in
    let v: Real = a * s in
    let y2: [3]Real = update y0[0] = v in
    let b: Real = y[0] in
    let c: Real = y2[0] in
    let d: Real = b * a in
    let e: Real = d + c in
    let s2: Real = s + e in
    s2 } in
  s
""",
        [[1.2, 0.7, 1.5]],
    ),
    "calls in a loop that read an array": (
        """
def g(x: [4]Real, i: Int): Real =
  let a: Real = x[i] in
  let b: Real = a * a in
  b
def f(x: [4]Real): Real =
  let s: Real = loop i < 4 carry (s: Real = 1.0) {
    let v: Real = g(x, i) in
    let t: Real = s * v in
    t } in
  s
""",
        [[1.2, 0.7, 1.5, 0.9]],
    ),
    "the same array twice": (
        """
def g(x: [3]Real, y: [3]Real): Real =
  let s: Real = loop i < 3 carry (s: Real = 0.0) {
    let a: Real = x[i] in
    let k: Int = 2 - i in
    let b: Real = y[k] in
    let c: Real = a * b in
    let t: Real = s + c in
    t } in
  s
def f(x: [3]Real): Real =
  let s: Real = g(x, x) in
  let t: Real = s * s in
  t
""",
        [[1.2, 0.7, 1.5]],
    ),
    "map and reduce": (
        """
def f(x: [3]Real, y: [3]Real): Real =
  let p: [3]Real = loop i < 3 scan (a: Real in x, b: Real in y) { let c: Real = a * b in let d: Real = c * a in d } in
  let s: Real = loop i < 3 carry (s: Real = 0.0) scan (c: Real in p) { let q: Real = c * c in let t: Real = s + q in t } in
  s
""",
        [[1.2, 0.7, 1.5], [0.8, 1.1, 0.6]],
    ),
    "rows": (
        """
def f(m: [2][3]Real, x: [3]Real): [2]Real =
  let y: [2]Real = loop i < 2 scan (row: [3]Real in m) {
    let s: Real = loop j < 3 carry (s: Real = 0.0) scan (a: Real in row, b: Real in x) {
      let c: Real = a * b in let t: Real = s + c in t } in
    let q: Real = s * s in
    q } in
  y
""",
        [[[1.2, 0.7, 1.5], [0.3, -0.5, 0.4]], [0.8, 1.1, 0.6]],
    ),
    "rows made and consumed": (
        """
def f(x: [3]Real): Real =
  let m: [2][3]Real = loop i < 2 {
    let r: [3]Real = loop j < 3 scan (a: Real in x) { let b: Real = a * a in let k: Int = i + j in let q: Real = to_real(k) in let c: Real = b * q in c } in
    r } in
  let s: Real = loop i < 2 carry (s: Real = 1.0) scan (row: [3]Real from m) {
    let a: Real = row[i] in
    let b: [3]Real = update row[1] = s in
    let c: Real = b[1] in
    let d: Real = b[2] in
    let e: Real = a * d in
    let t: Real = e + c in
    t } in
  s
""",
        [[1.2, 0.7, 1.5]],
    ),
    "matrix updated by paths": (
        """
def f(x: [3]Real): Real =
  let z: [2][3]Real = zero in
  let m: [2][3]Real = loop i < 3 carry (m: [2][3]Real = z) {
    let a: Real = x[i] in
    let b: Real = a * a in
    let m1: [2][3]Real = update m[0, i] = b in
    let old: Real = m1[1, 0] in
    let c: Real = old + b in
    let m2: [2][3]Real = update m1[1, 0] = c in
    m2 } in
  let row: [3]Real = m[0] in
  let r: [3]Real = copy row in
  let m3: [2][3]Real = update m[1] = r in
  let p: Real = m3[1, 2] in
  let q: Real = m3[0, 1] in
  let s: Real = p * q in
  s
""",
        [[1.2, 0.7, 1.5]],
    ),
    "while": (
        """
def f(x: Real): Real =
  let k: Int, t: Real = while carry (t: Real = x) { let c: Bool = 1.0 < t in c } { let h: Real = t * 0.5 in let q: Real = h * h in let r: Real = q / t in let w: Real = r + r in w } in
  let n: Real = to_real(k) in
  let y: Real = t * n in
  y
""",
        [10.3],
    ),
    "while with arrays and calls": (
        """
def g(x: Real, y: Real): Real =
  let a: Real = x * y in
  let b: Real = sqrt(a) in
  b
def f(x: [3]Real, y: Real): Real =
  let a0: [3]Real = copy x in
  let k: Int, a: [3]Real, t: Real = while carry (a: [3]Real = a0, t: Real = y) { let c: Bool = 1.0 < t in c } {
    let u: Real = a[0] in
    let v: Real = g(u, t) in
    let w: Real = a[1] in
    let z: Real = v + w in
    let a2: [3]Real = update a[1] = z in
    let h: Real = t * 0.4 in
    a2, h } in
  let p: Real = a[1] in
  let q: Real = p * t in
  q
""",
        [[1.2, 0.7, 1.5], 4.3],
    ),
    "loop in while in loop": (
        """
def f(x: Real): Real =
  let y: Real = loop i < 2 carry (y: Real = x) {
    let k: Int, t: Real = while carry (t: Real = y) { let c: Bool = 1.0 < t in c } {
      let u: Real = loop j < 3 carry (u: Real = t) { let v: Real = u * 0.9 in let w: Real = v * v in let q: Real = w / t in q } in
      u } in
    let z: Real = t * x in
    z } in
  y
""",
        [3.7],
    ),
    "tuples and sums": (
        """
def pack(x: Real, y: Real): (Real, [2]Real) =
  let a: Real = x * y in
  let b: [2]Real = [x, a] in
  let t: (Real, [2]Real) = (a, b) in
  t
def f(x: Real, y: Real): Real =
  let t: (Real, [2]Real) = pack(x, y) in
  let a: Real = t[.0] in
  let b: Real = t[.1, 1] in
  let c: Bool = a < b in
  let s: (Real | [2]Real) = if c { let l: (Real | [2]Real) = inl a in l } { let p: [2]Real = [a, b] in let r: (Real | [2]Real) = inr p in r } in
  let z: Real = case s { inl u -> let q: Real = u * y in q } { inr v -> let m: Real = v[0] in let n: Real = v[1] in let q: Real = m * n in q } in
  let w: Real = z * a in
  w
""",
        [1.3, 0.7],
    ),
    "accumulators": (
        """
def f(x: [3]Real): Real =
  let z: [3]Real = zero in
  let acc: &[3]Real = accum z in
  let n: Int = loop i < 3 carry (n: Int = 0) {
    let a: Real = x[i] in
    let p: &Real = &acc[0] in
    let b: Real = a * a in
    let () = p += b in
    let k: Int = 2 - i in
    let q: &Real = &acc[k] in
    let () = q += a in
    let m: Int = n + 1 in
    m } in
  let r: [3]Real = resolve acc in
  let u: Real = r[0] in
  let v: Real = r[2] in
  let w: Real = u * v in
  w
""",
        [[1.2, 0.7, 1.5]],
    ),
    "a callee that adds to its caller's place": (
        """
def g(x: [3]Real, i: Int, acc: &[3]Real): Real =
  let a: Real = x[i] in
  let b: Real = a * a in
  let p: &Real = &acc[i] in
  let () = p += b in
  b
def f(x: [3]Real): Real =
  let z: [3]Real = zero in
  let acc: &[3]Real = accum z in
  let s: Real = loop i < 3 carry (s: Real = 1.0) { let v: Real = g(x, i, acc) in let t: Real = s * v in t } in
  let r: [3]Real = resolve acc in
  let u: Real = r[1] in
  let w: Real = u * s in
  w
""",
        [[1.2, 0.7, 1.5]],
    ),
    "recursion over an array": (
        """
def fold(x: [3]Real, i: Int, v: Real): Real =
  let c: Bool = i < 3 in
  let r: Real = if c {
    let a: Real = x[i] in
    let b: Real = a * v in
    let k: Int = i + 1 in
    let d: Real = fold(x, k, b) in
    let e: Real = d * a in
    e } { v } in
  r
def f(x: [3]Real, v: Real): Real =
  let r: Real = fold(x, 0, v) in
  r
""",
        [[1.2, 0.7, 1.5], 0.8],
    ),
    "recursion owning its array": (
        """
def fill(own y: [3]Real, x: [3]Real, i: Int): [3]Real =
  let c: Bool = i < 3 in
  let r: [3]Real = if c {
    let a: Real = x[i] in
    let k: Int = i - 1 in
    let b: Real = y[k] in
    let d: Real = a * b in
    let y2: [3]Real = update y[i] = d in
    let n: Int = i + 1 in
    let z: [3]Real = fill(y2, x, n) in
    z } { y } in
  r
def f(x: [3]Real): Real =
  let y: [3]Real = copy x in
  let z: [3]Real = fill(y, x, 1) in
  let a: Real = z[2] in
  let b: Real = z[1] in
  let c: Real = a * b in
  c
""",
        [[1.2, 0.7, 1.5]],
    ),
    "captured scalars in nested loops": (
        """
def f(x: Real, y: [2]Real): Real =
  let s: Real = loop i < 2 carry (s: Real = x) scan (a: Real in y) {
    let t: Real = loop j < 3 carry (t: Real = a) {
      let u: Real = t * x in
      let v: Real = u + s in
      let w: Real = v * 0.5 in
      w } in
    let c: Bool = t > 0.3 in
    let r: Real = if c { let q: Real = t * a in q } { let q: Real = t + x in q } in
    r } in
  s
""",
        [0.9, [0.7, 1.4]],
    ),
    "an array returned and kept": (
        """
def g(x: [3]Real): [3]Real, Real =
  let y: [3]Real = loop i < 3 scan (a: Real in x) { let b: Real = a * a in b } in
  let s: Real = loop i < 3 carry (s: Real = 0.0) scan (a: Real in y, b: Real in x) { let c: Real = a * b in let t: Real = s + c in t } in
  y, s
def f(x: [3]Real): Real =
  let y: [3]Real, s: Real = g(x) in
  let z: [3]Real = update y[0] = s in
  let w: [3]Real, t: Real = g(z) in
  let a: Real = w[0] in
  let b: Real = a * t in
  b
""",
        [[1.2, 0.7, 0.5]],
    ),
    "scan kept and down": (
        """
def f(x: [4]Real): [4]Real =
  let s: Real, y: [4]Real = loop i < 4 down carry (s: Real = 1.0) scan (a: Real in x) { let t: Real = s * a in t, t } in
  y
""",
        [[1.2, 0.7, 1.5, 0.9]],
    ),
    "arrays of structures": (
        """
def f(x: [3]Real): Real =
  let ps: [3](Real, Real) = loop i < 3 scan (a: Real in x) { let b: Real = a * a in let p: (Real, Real) = (a, b) in p } in
  let s: Real = loop i < 3 carry (s: Real = 1.0) scan (p: (Real, Real) in ps) { let u: Real = p[.0] in let v: Real = p[.1] in let w: Real = u * v in let t: Real = s * w in t } in
  let qs: [3](Real, Real) = update ps[1, .0] = s in
  let r: Real = qs[1, .0] in
  let q: Real = qs[2, .1] in
  let z: Real = r * q in
  z
""",
        [[1.2, 0.7, 1.5]],
    ),
    "select": (
        """
def f(x: Real, y: Real): Real =
  let c: Bool = x < y in
  let a: Real = x * x in
  let b: Real = y * x in
  let s: Real = select(c, a, b) in
  let m: Real = max(s, y) in
  let t: Real = abs(m) in
  let r: Real = t * s in
  r
""",
        [0.8, 1.9],
    ),
    "an integer field updated": (
        """
def f(x: Real): Real =
  let t: (Int, Real) = (1, x) in
  let u: (Int, Real) = update t[.0] = 3 in
  let a: Real = u[.1] in
  let b: Real = a * a in
  b
""",
        [1.3],
    ),
    "a case of a value and a place": (
        """
def f(x: Real): Real =
  let s: ([2]Real | Real) = inr x in
  let s2: ([2]Real | Real) = copy s in
  let acc: &([2]Real | Real) = accum s2 in
  let y: Real = case s, acc { inl p, q -> x } { inr p1, q1 -> let x1: Real = p1 * p1 in x1 } in
  let s3: ([2]Real | Real) = resolve acc in
  y
""",
        [1.3],
    ),
    "recursion under several masks, whose residuals contain each other": (
        """
def g(x: Real): Real =
  let y: Real = x * x in
  y
def h(k: Int, x: Real, y: Real, z: Real, w: Real): Real =
  let c: Bool = 0 < k in
  let r: Real = if c {
    let j: Int = k - 1 in
    let s: Real = h(j, -0.95, x, y, w) in
    let t: Real = g(x) in
    z } { x } in
  r
def f(x: Real): Real =
  let r: Real = h(3, x, x, x, x) in
  r
""",
        [1.4],
    ),
}
