"""Rows of figures to a plot with logarithmic axes, as SVG: it needs nothing, and any browser shows it."""

import math
from pathlib import Path

from benchmarks.measure import OUT

Series = dict[str, list[tuple[float, float]]]

_WIDTH, _HEIGHT, _LEFT, _TOP = 640, 420, 70, 40
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b")


def loglog(name: str, title: str, x: str, y: str, series: Series) -> Path:
    """Write `name`.svg: a line for each series, a grid line for each power of ten."""
    points = [point for line in series.values() for point in line]
    across, up = _axis([a for a, _ in points]), _axis([b for _, b in points])

    def place(a: float, b: float) -> tuple[float, float]:
        right = (math.log10(a) - across[0]) / (across[1] - across[0])
        high = (math.log10(b) - up[0]) / (up[1] - up[0])
        return _LEFT + right * (_WIDTH - _LEFT - 20), _TOP + (1 - high) * (_HEIGHT - _TOP - 50)

    parts = [f'<text x="{_LEFT}" y="22" font-weight="bold">{title}</text>']
    for power in range(across[0], across[1] + 1):
        a, low = place(10.0**power, 10.0 ** up[0])
        parts.append(f'<path d="M{a:.1f} {low:.1f}V{_TOP}" class="grid"/>')
        parts.append(f'<text x="{a:.1f}" y="{low + 18:.1f}" text-anchor="middle">1e{power}</text>')
    for power in range(up[0], up[1] + 1):
        left, b = place(10.0 ** across[0], 10.0**power)
        parts.append(f'<path d="M{left:.1f} {b:.1f}H{_WIDTH - 20}" class="grid"/>')
        parts.append(f'<text x="{left - 8:.1f}" y="{b + 4:.1f}" text-anchor="end">1e{power}</text>')
    for k, (label, line) in enumerate(series.items()):
        colour = _COLOURS[k % len(_COLOURS)]
        where = " ".join([f"{a:.1f},{b:.1f}" for a, b in (place(*point) for point in line)])
        parts.append(f'<polyline points="{where}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{_LEFT + 10}" y="{_TOP + 16 * (k + 1)}" fill="{colour}">{label}</text>')
    parts.append(f'<text x="{_WIDTH // 2}" y="{_HEIGHT - 8}" text-anchor="middle">{x}</text>')
    parts.append(f'<text x="14" y="{_TOP - 6}">{y}</text>')
    style = "text{font:12px sans-serif}.grid{stroke:#ddd}"
    body = "\n".join(parts)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
    path = OUT / f"{name}.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{head}<style>{style}</style><rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n')
    return path


def _axis(values: list[float]) -> tuple[int, int]:
    """The powers of ten around `values`."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def exponent(points: list[tuple[float, float]]) -> float:
    """Of the power of x that fits y best."""
    xs, ys = [math.log(a) for a, _ in points], [math.log(b) for _, b in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)
