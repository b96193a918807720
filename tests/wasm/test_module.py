import pytest

from rosejit.wasm.instructions import call
from rosejit.wasm.module import FuncType, Memory, ModuleBuilder


def test_equal_function_types_share_an_index() -> None:
    builder = ModuleBuilder()
    assert builder.type_index(("f64",), ()) == builder.type_index(["f64"], []) == 0
    assert builder.type_index((), ("f64",)) == 1
    builder.declare_function((), ("f64",))
    assert builder.type_index((), ()) == 2


def test_indices_of_imports_come_first() -> None:
    builder = ModuleBuilder()
    assert [builder.import_function("m", str(i), (), ()) for i in range(3)] == [0, 1, 2]
    assert builder.import_memory("m", "memory", Memory(1)) == 0
    assert [builder.declare_function((), ()) for _ in range(3)] == [3, 4, 5]
    assert builder.add_memory(Memory(1)) == 1


def test_functions_may_be_defined_in_any_order() -> None:
    builder = ModuleBuilder()
    even, odd = (builder.declare_function((), (), name) for name in ("even", "odd"))
    builder.define(odd, (), [call[even]])
    builder.define(even, ((1, "i32"),), [call[odd]])
    module = builder.build()
    assert module.types == (FuncType(),)
    assert [function.name for function in module.functions] == ["even", "odd"]
    assert [function.body for function in module.functions] == [call[odd], call[even]]


def test_an_import_after_a_declaration_is_refused() -> None:
    builder = ModuleBuilder()
    builder.declare_function((), ())
    with pytest.raises(ValueError, match="import `late` comes after a func"):
        builder.import_function("m", "late", (), ())


def test_declared_functions_must_be_defined() -> None:
    builder = ModuleBuilder()
    builder.declare_function((), (), "forgotten")
    builder.declare_function((), ())
    with pytest.raises(ValueError, match="not defined: forgotten, 1"):
        builder.build()


@pytest.mark.parametrize("index", [0, 2])
def test_only_declared_functions_are_defined(index: int) -> None:
    builder = ModuleBuilder()
    builder.import_function("m", "f", (), ())
    builder.declare_function((), ())
    with pytest.raises(ValueError, match="not declared"):
        builder.define(index, (), [])


def test_a_function_is_defined_once() -> None:
    builder = ModuleBuilder()
    f = builder.declare_function((), ())
    builder.define(f, (), [])
    with pytest.raises(ValueError, match="already defined"):
        builder.define(f, (), [])
