"""Minimum cuts of directed graphs, by maximum flow.

Ford and Fulkerson, "Maximal flow through a network", 1956: the least capacity of edges whose loss parts sink from
source is the largest flow between them. The flow is found as in Dinic, "Algorithm for solution of a problem of maximum
flow in networks with power estimation", 1970: along shortest paths, as many at a time as there are.
"""

from collections.abc import Iterable

Edge = tuple[int, int, int]
"""From, to, and the capacity."""

UNBOUNDED = 1 << 40
"""A capacity that no cut has."""


class _Network:
    """A graph with what its edges can still take: edge `k ^ 1` is edge `k` the other way round."""

    def __init__(self, nodes: int, edges: Iterable[Edge]) -> None:
        self.ends: list[int] = []
        self.left: list[int] = []
        self.out: list[list[int]] = [[] for _ in range(nodes)]
        for start, end, capacity in edges:
            self.out[start].append(len(self.ends))
            self.out[end].append(len(self.ends) + 1)
            self.ends += (end, start)
            self.left += (capacity, 0)

    def levels(self, source: int, sink: int) -> list[int] | None:
        """Distances from the source along edges that can take more; None where the sink is beyond reach."""
        found = [-1] * len(self.out)
        found[source] = 0
        front = [source]
        while front and found[sink] < 0:
            behind: list[int] = []
            for node in front:
                for k in self.out[node]:
                    end = self.ends[k]
                    if self.left[k] and found[end] < 0:
                        found[end] = found[node] + 1
                        behind.append(end)
            front = behind
        return found if found[sink] >= 0 else None

    def saturate(self, source: int, sink: int, levels: list[int]) -> None:
        """Flow along all paths whose distances grow by one an edge, until none is left."""
        tried = [0] * len(self.out)
        path: list[int] = []
        node = source
        while True:
            if node == sink:
                flow = min([self.left[k] for k in path])
                for k in path:
                    self.left[k] -= flow
                    self.left[k ^ 1] += flow
                path.clear()
                node = source
            elif tried[node] < len(self.out[node]):
                k = self.out[node][tried[node]]
                if self.left[k] and levels[self.ends[k]] == levels[node] + 1:
                    path.append(k)
                    node = self.ends[k]
                else:
                    tried[node] += 1
            elif path:
                node = self.ends[path.pop() ^ 1]
                tried[node] += 1
            else:
                return

    def reaching(self, sink: int) -> set[int]:
        """The nodes from which more could flow to the sink."""
        found, pending = {sink}, [sink]
        while pending:
            for k in self.out[pending.pop()]:
                if self.left[k ^ 1] and self.ends[k] not in found:
                    found.add(self.ends[k])
                    pending.append(self.ends[k])
        return found


def sink_side(nodes: int, edges: Iterable[Edge], source: int, sink: int) -> set[int]:
    """The nodes on the sink's side of the minimum cut; where several are as small, of the one with the fewest there."""
    network = _Network(nodes, edges)
    levels = network.levels(source, sink)
    while levels is not None:
        network.saturate(source, sink, levels)
        levels = network.levels(source, sink)
    return network.reaching(sink)
