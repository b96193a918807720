"""A binary TreeLSTM learns what sentences say: recursion over trees, differentiated.

The model of "Demystifying Differentiable Programming: Shift/Reset the Penultimate Backpropagator" (2019), section 5.1,
twice: over trees that are Python objects, where the recursion happens while the program is staged, and over trees that
are numbers in arrays, where a compiled function calls itself. Both give the same gradients; the second is compiled once
for all trees, and trains. Every node of `data/trees.txt` has a label: 0 for bad, 1 for neither, 2 for good. Writes
`tree_lstm.svg`: the losses, and what the model says of a sentence that it has not seen.
"""

import re
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rosejit as rose
from rosejit import Array, Mat, Vec

TREES = Path(__file__).parent / "data" / "trees.txt"
TRAINED = 48
WORD, HIDDEN, LABELS = 6, 8, 3
EPOCHS = 150


class Weights(NamedTuple):
    """All that is learned: a vector for each word, the five gates of a node, and how its state says a label."""

    words: Mat["vocabulary", WORD]
    of_word: Mat[5 * HIDDEN, WORD]
    of_left: Mat[5 * HIDDEN, HIDDEN]
    of_right: Mat[5 * HIDDEN, HIDDEN]
    bias: Vec[5 * HIDDEN]
    said: Mat[LABELS, HIDDEN]
    said_bias: Vec[LABELS]


class State(NamedTuple):
    """What a node hands to its parent, with the loss of all nodes below and its own."""

    loss: float
    hidden: Vec[HIDDEN]
    memory: Vec[HIDDEN]


def nothing():
    return State(0.0, np.zeros(HIDDEN), np.zeros(HIDDEN))


@rose.jit
def says(w: Weights, hidden: Vec[HIDDEN]) -> Vec[LABELS]:
    """The logarithms of the odds of the labels."""
    return w.said @ hidden + w.said_bias


@rose.jit
def node(w: Weights, word: Vec[WORD], label: int, left: State, right: State) -> State:
    """One node: its word, or zeros, and the states of its children, or zeros."""
    gates = w.of_word @ word + w.of_left @ left.hidden + w.of_right @ right.hidden + w.bias
    take, keep_left, keep_right, give, change = gates.reshape(5, HIDDEN)
    memory = rose.sigmoid(take) * np.tanh(change)
    memory += rose.sigmoid(keep_left + 1) * left.memory + rose.sigmoid(keep_right + 1) * right.memory
    hidden = rose.sigmoid(give) * np.tanh(memory)
    odds = says(w, hidden)
    return State(left.loss + right.loss + rose.logsumexp(odds) - odds[label], hidden, memory)


# --- trees as Python objects


class Tree(NamedTuple):
    """A leaf has a word, by its number; an inner node has two children."""

    label: int
    word: int | None = None
    left: "Tree | None" = None
    right: "Tree | None" = None


def walk(w, tree):
    """Recursion in Python: what is staged is one call of `node` for each node of the tree."""
    if tree is None:
        return nothing()
    word = np.zeros(WORD) if tree.word is None else w.words[tree.word]
    return node(w, word, tree.label, walk(w, tree.left), walk(w, tree.right))


@rose.jit(static_argnames="tree")
def tree_loss(w: Weights, tree: Tree) -> float:
    return walk(w, tree).loss


# --- trees as numbers


class Forest(NamedTuple):
    """The nodes of many trees: label, word and children of each by number, -1 for none; and the roots."""

    label: Array["nodes", int]
    word: Array["nodes", int]
    left: Array["nodes", int]
    right: Array["nodes", int]
    roots: Array["trees", int]


@rose.jit
def visit(w: Weights, forest: Forest, at: int) -> State:
    """Recursion when the program runs: a compiled function that calls itself."""
    if at < 0:
        return nothing()
    left, right = visit(w, forest, forest.left[at]), visit(w, forest, forest.right[at])
    word = w.words[forest.word[at]] if forest.word[at] >= 0 else np.zeros(WORD)
    return node(w, word, forest.label[at], left, right)


@rose.jit
def forest_loss(w: Weights, forest: Forest) -> float:
    """The loss of a node, on average."""
    total = 0.0
    for k in rose.range(len(forest.roots)):
        total += visit(w, forest, forest.roots[k]).loss
    return total / len(forest.label)


@rose.jit
def root_odds(w: Weights, forest: Forest):
    """What the model says of every tree."""
    return [says(w, visit(w, forest, forest.roots[k]).hidden) for k in rose.range(len(forest.roots))]


# --- data


def read(text):
    """The trees in `(label word)` and `(label tree tree)`, one a line, and the words in order of their numbers."""
    words = sorted(set(re.findall(r"[a-z]+", text)))

    def tree(tokens):
        """The tree that ends a list of tokens, in reversed order; they are used up."""
        tokens.pop()
        label, inner = int(tokens.pop()), tokens[-1] == "("
        made = Tree(label, None, tree(tokens), tree(tokens)) if inner else Tree(label, words.index(tokens.pop()))
        tokens.pop()
        return made

    return [tree(re.findall(r"[()]|\w+", line)[::-1]) for line in text.splitlines()], words


def planted(trees):
    """The same trees as numbers."""
    nodes, roots = [], []

    def add(tree):
        if tree is None:
            return -1
        left, right = add(tree.left), add(tree.right)
        nodes.append((tree.label, -1 if tree.word is None else tree.word, left, right))
        return len(nodes) - 1

    for tree in trees:
        roots.append(add(tree))
    label, word, left, right = np.array(nodes).T.copy()
    return Forest(label, word, left, right, np.array(roots))


def first_weights(vocabulary):
    """Weights that look random and are the same everywhere."""
    wave = iter(np.sin(np.arange(1, 10_000) ** 2 * 0.7))

    def made(*shape):
        return np.reshape([0.5 * next(wave) for _ in range(np.prod(shape))], shape)

    gates = 5 * HIDDEN
    hidden = made(gates, HIDDEN), made(gates, HIDDEN)
    return Weights(made(vocabulary, WORD), made(gates, WORD), *hidden, np.zeros(gates), made(3, HIDDEN), np.zeros(3))


# --- training


def difference(one, other):
    return max(np.abs(a - b).max() for a, b in zip(one, other, strict=True))


def both_ways(w, trees):
    """The gradients of some trees by each recursion, in two columns of time."""
    for tree in trees:
        by_python = rose.value_and_grad(tree_loss)(w, tree)
        by_value = rose.value_and_grad(forest_loss)(w, planted([tree]))
        nodes = len(planted([tree]).label)
        off = difference(by_python[1], [nodes * part for part in by_value[1]])
        print(f"  {nodes:2} nodes: loss {by_python[0]:.12f}, gradients {off:.0e} apart")
        assert abs(by_python[0] - nodes * by_value[0]) < 1e-12
        assert off < 1e-12


def right(w, forest):
    """How many trees the model gets right."""
    return int(np.sum(np.argmax(root_odds(w, forest), axis=1) == forest.label[forest.roots]))


def train(w, seen, unseen):
    """Descend with momentum, with a bar that shows how far; the losses of both sets, and the weights."""
    gradient = rose.value_and_grad(forest_loss)
    speed = Weights(*(np.zeros_like(part) for part in w))
    losses = []
    for k in range(EPOCHS):
        loss, d = gradient(w, seen)
        losses.append((loss, forest_loss(w, unseen)))
        speed = Weights(*(0.9 * v - 0.5 * dp for v, dp in zip(speed, d, strict=True)))
        w = Weights(*(p + v for p, v in zip(w, speed, strict=True)))
        done = 30 * (k + 1) // EPOCHS
        print(f"\r[{'#' * done}{'.' * (30 - done)}] {k + 1:3}/{EPOCHS}   loss {loss:.6f}", end="", flush=True)
    print()
    return w, losses


# --- drawing

COLOURS = ("#e03131", "#868e96", "#2b8a3e")


def curve(losses, index):
    top = max(max(pair) for pair in losses)
    step = 250 / (len(losses) - 1)
    return " ".join(f"{40 + step * k:.1f},{200 - 160 * pair[index] / top:.1f}" for k, pair in enumerate(losses))


def drawn(w, tree, words):
    """The nodes and edges of a tree, in the colours of what the model says; leaves lie side by side."""
    marks, column = [], iter(range(100))

    def place(tree, depth):
        odds = root_odds(w, planted([tree]))[0]
        below = [place(child, depth + 1) for child in (tree.left, tree.right) if child]
        x = sum(x for x, _ in below) / len(below) if below else 370 + 56 * next(column)
        y = 46 + 28 * (depth if below else 6)
        for child_x, child_y in below:
            marks.insert(0, f'<line class="edge" x1="{x}" y1="{y}" x2="{child_x}" y2="{child_y}"/>')
        marks.append(f'<circle class="node" cx="{x}" cy="{y}" r="9" fill="{COLOURS[int(np.argmax(odds))]}"/>')
        if not below:
            marks.append(f'<text class="word" x="{x}" y="{y + 25}">{words[tree.word]}</text>')
        return x, y

    place(tree, 0)
    return marks


def draw(losses, w, tree, words, path):
    """Write losses and tree as one SVG file."""
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1080 260" font-family="sans-serif">',
        "<style>.name{font-size:13px;font-weight:bold;fill:#223}.word{font-size:12px;fill:#223;text-anchor:middle}",
        ".edge{stroke:#ced4da;stroke-width:2}.loss{fill:none;stroke-width:2}.axis{stroke:#adb5bd}</style>",
        '<rect width="1080" height="260" fill="#fff"/>',
        '<text class="name" x="40" y="22">loss of a node: seen (blue), unseen (orange)</text>',
        '<line class="axis" x1="40" y1="200" x2="290" y2="200"/><line class="axis" x1="40" y1="40" x2="40" y2="200"/>',
        f'<polyline class="loss" stroke="#3b5bdb" points="{curve(losses, 0)}"/>',
        f'<polyline class="loss" stroke="#e8590c" points="{curve(losses, 1)}"/>',
        '<text class="name" x="340" y="22">an unseen sentence: red is bad, green is good</text>',
        *drawn(w, tree, words),
        "</svg>",
    ]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"drawing: {path}")


if __name__ == "__main__":
    trees, words = read(TREES.read_text())
    w = first_weights(len(words))
    print("the same trees as Python objects and as numbers")
    both_ways(w, sorted(trees, key=str)[:3])

    seen, unseen = planted(trees[:TRAINED]), planted(trees[TRAINED:])
    started = time.perf_counter()
    print(f"training on {TRAINED} trees of {len(seen.label)} nodes")
    w, losses = train(w, seen, unseen)
    spent = time.perf_counter() - started
    print(f"loss of a node: {losses[0][0]:.4f} -> {losses[-1][0]:.4f} in {spent:.1f} s, with compilation")
    print(f"right: {right(w, seen)} of {TRAINED} seen, {right(w, unseen)} of {len(unseen.roots)} unseen sentences")
    assert losses[-1][0] < losses[0][0] / 100
    assert right(w, seen) == TRAINED
    assert right(w, unseen) >= 14
    longest = max(trees[TRAINED:], key=lambda tree: len(planted([tree]).label))
    draw(losses, w, longest, words, "tree_lstm.svg")
