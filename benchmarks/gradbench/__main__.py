"""The tool that GradBench talks to: messages on standard input, answers on standard output."""

import sys

from benchmarks.gradbench.protocol import serve

if __name__ == "__main__":
    answers, sys.stdout = sys.stdout, sys.stderr  # nothing else may be written where the answers go
    serve(sys.stdin, answers)
