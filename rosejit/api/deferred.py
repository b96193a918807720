"""The parts that a program in the disk cache does without: each module is imported when it is first used.

A call that finds its program on disk is staged, and its text looked up (`compile_and_load.py`): nothing is derived,
optimised or compiled. The interpreter runs for few, and few look at a program. `from rosejit.api.deferred import
pipeline` gives a stand-in that has the attributes of the module; Python imports a module once, whichever threads ask.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosejit import interp
    from rosejit.api import decorators
    from rosejit.api.checking import check
    from rosejit.api.programs import compile_and_load, lowered
    from rosejit.api.wrapping import opaque_functions
    from rosejit.codegen.program import compile as codegen
    from rosejit.codegen.straightline import compile_routines
    from rosejit.frontend.python import assert_raise, print_
    from rosejit.frontend.signature import value_words
    from rosejit.frontend.values import host_scalars, reachable_state
    from rosejit.transforms import pipeline
    from rosejit.transforms.autodiff import derivative_programs
    from rosejit.transforms.jacobians import dense
    from rosejit.transforms.passes import apply_fastmath, select_storage, sincos
    from rosejit.transforms.series import taylor
    from rosejit.transforms.straightline import build_routines, merge_clones, numbered_gradient
    from rosejit.wasm import wat
else:

    class _Deferred(ModuleType):
        """Stands for a module."""

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module(self.__name__), name)

    interp = _Deferred("rosejit.interp")
    check = _Deferred("rosejit.api.checking.check")
    lowered = _Deferred("rosejit.api.programs.lowered")
    compile_and_load = _Deferred("rosejit.api.programs.compile_and_load")
    decorators = _Deferred("rosejit.api.decorators")
    opaque_functions = _Deferred("rosejit.api.wrapping.opaque_functions")
    assert_raise = _Deferred("rosejit.frontend.python.assert_raise")
    print_ = _Deferred("rosejit.frontend.python.print_")
    host_scalars = _Deferred("rosejit.frontend.values.host_scalars")
    value_words = _Deferred("rosejit.frontend.signature.value_words")
    reachable_state = _Deferred("rosejit.frontend.values.reachable_state")
    codegen = _Deferred("rosejit.codegen.program.compile")
    compile_routines = _Deferred("rosejit.codegen.straightline.compile_routines")
    pipeline = _Deferred("rosejit.transforms.pipeline")
    derivative_programs = _Deferred("rosejit.transforms.autodiff.derivative_programs")
    dense = _Deferred("rosejit.transforms.jacobians.dense")
    apply_fastmath = _Deferred("rosejit.transforms.passes.apply_fastmath")
    select_storage = _Deferred("rosejit.transforms.passes.select_storage")
    sincos = _Deferred("rosejit.transforms.passes.sincos")
    taylor = _Deferred("rosejit.transforms.series.taylor")
    build_routines = _Deferred("rosejit.transforms.straightline.build_routines")
    merge_clones = _Deferred("rosejit.transforms.straightline.merge_clones")
    numbered_gradient = _Deferred("rosejit.transforms.straightline.numbered_gradient")
    wat = _Deferred("rosejit.wasm.wat")

__all__ = [
    "apply_fastmath", "assert_raise", "build_routines", "check", "codegen", "compile_and_load", "compile_routines",
    "decorators", "dense", "derivative_programs", "host_scalars", "interp", "lowered", "merge_clones",
    "numbered_gradient", "opaque_functions", "pipeline", "print_", "reachable_state", "select_storage", "sincos",
    "taylor", "value_words", "wat",
]  # fmt: skip
