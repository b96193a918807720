"""`print` in staged code."""

import numpy as np

from rosejit.frontend.hints.hints import Vec
from rosejit.frontend.values import rose_functions as rose
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


def test_an_iteration_that_is_staged_again_prints_once(capsys):
    def f(x: float):
        print("begin")
        while True:
            print("turn")
            x = x / 2
            k = 0
            while k < 2:
                print("host", k)
                k += 1
            if x < 1:
                break
        print("end")
        return x

    staged = stage(f, 5.0)
    assert capsys.readouterr().out == "begin\nend\n"
    run(staged, f, 3.0)
    assert capsys.readouterr().out == 2 * "turn\nhost 0\nhost 1\n"


def test_iterations_that_the_host_decides_print_while_staging(capsys):
    def f(x: float):
        k = 0
        while True:
            print("turn", k)
            k += 1
            if k == 3:
                break
        try:
            while k:
                print("left")
                raise ValueError
        except ValueError:
            print("caught")
        return x

    stage(f, 5.0)
    assert capsys.readouterr().out == "turn 0\nturn 1\nturn 2\nleft\ncaught\n"
