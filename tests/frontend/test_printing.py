"""`print` in staged code."""

import numpy as np

from rosejit.frontend import functions as rose
from rosejit.frontend.annotations import Vec
from tests.frontend.oracle import run, stage


def test_in_program_order(capsys):
    def f(x: float, v: Vec["n"]):
        print("staging", [1, 2])
        print("x is", x, "and", (x * 2, [v[0]]), v, sep="|")
        for i in rose.range(2):
            if x > i:
                print("turn", i, end=";\n")
            else:
                print("none")
        return x

    args = (1.0, np.array([1.0, 2.0]))
    staged = stage(f, *args)
    assert capsys.readouterr().out == "staging [1, 2]\n"
    run(staged, f, *args)
    assert capsys.readouterr().out == "x is|1.0|and|(2.0, [1.0])|[1. 2.]\nturn 0;\nnone\n"
    run(staged, f, 2.0, args[1])
    assert capsys.readouterr().out == "x is|2.0|and|(4.0, [1.0])|[1. 2.]\nturn 0;\nturn 1;\n"
