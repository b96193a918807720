"""Loading and instances, below the functions: what the engine is told and what it may be given."""

import gc
import weakref
from importlib.metadata import version

import pytest

from rosejit.abi import Entry, Import, Slot
from rosejit.errors import WasmTrap
from rosejit.runtime.backend import NO_FAILURE
from rosejit.runtime.engine import Wasmtime, backend
from rosejit.runtime.residency.stack_limit import LEAST, MOST
from tests.runtime.programs import array, artifact, product, real, spinning


def test_one_engine_for_each_stack():
    engines = Wasmtime()
    assert engines.engine(1 << 20) is engines.engine(1 << 20)
    assert engines.engine(1 << 20) is not engines.engine(1 << 21)
    assert engines.engine(1 << 20, "none") is not engines.engine(1 << 20)
    assert backend() is backend()


@pytest.mark.parametrize("stack", [LEAST // 2, MOST * 2, 0, -1])
def test_a_stack_that_would_end_the_process_is_refused_before(stack):
    with pytest.raises(AssertionError):
        Wasmtime().engine(stack)


def test_the_smallest_and_the_biggest_stack_work():
    for stack in (LEAST, MOST):
        assert Wasmtime().engine(stack)


def test_native_code_is_restored():
    program = product()
    engines = Wasmtime()
    native = engines.compile(program, []).serialize()
    instance = engines.restore(native + b"more", len(native), program, []).instantiate()
    instance.reals[8:10] = memoryview(b"\0" * 6 + b"\x08\x40" + b"\0" * 7 + b"\x40").cast("d")
    assert instance.entry("f")() == 0
    assert instance.reals[10] == 6.0
    assert engines.restore(native, len(native) // 2, program, []) is None
    assert engines.restore(b"", 0, program, []) is None


def test_a_call_that_fails_and_one_that_does_not():
    instance = backend().compile(spinning(), []).instantiate()
    call = instance.entry("f")
    assert (call(), bool(instance.trap)) == (0, False)
    instance.interrupt()
    instance.reals[8] = -1.0
    status = call()
    assert status or instance.trap
    fault = instance.fault(status)
    assert (fault.kind, fault.functions) == ("unreachable", (0,))
    assert instance.words[2] == -1
    instance.recover()
    instance.reals[8] = 1.0
    assert (call(), bool(instance.trap), instance.words[2]) == (0, False, NO_FAILURE)


def test_what_the_artifact_says_must_be_in_the_module():
    wrong = [
        artifact('(func (export "f"))', Entry("g", (), ())),
        artifact('(func (export "f") (param f64))', Entry("f", (), ())),
        artifact('(func (export "f") (result f64) (f64.const 0))', Entry("f", (), ())),
        artifact('(global (export "f") i32 (i32.const 0))', Entry("f", (), ())),
        artifact('(func (export "f"))', Entry("f", (array(64, 10_000),), ())),
        artifact('(func (export "f"))', Entry("f", (), (Slot("handle", 64, release="release_0"),))),
        artifact('(func (export "f"))', Entry("f", (real(64),), ()), pages=0),
    ]
    for program in wrong:
        with pytest.raises(AssertionError):
            backend().compile(program, [])


def test_imports_that_are_not_what_the_artifact_says():
    r, i = Slot("real"), Slot("int")
    program = artifact('(func (export "f"))', Entry("f", (), ()), imports=(Import("g", (r,), (r,)),))
    program.imports = (Import("g", (i,), (r,)),)
    with pytest.raises(WasmTrap, match="refuses"):
        backend().compile(program, [abs]).instantiate()
    foreign = artifact('(func (export "f"))', Entry("f", (), ()))
    foreign.wasm = artifact('(func (export "f"))', Entry("f", (), ()), imports=(Import("g", (), ()),)).wasm
    foreign.wasm = foreign.wasm.replace(b"host", b"evil")
    with pytest.raises(WasmTrap, match=r"imports evil\.0"):
        backend().compile(foreign, [])


def test_instances_go_with_the_last_reference():
    module = backend().compile(product(), [])
    instance = module.instantiate()
    instance.entry("f")()
    gone = weakref.ref(instance)
    del instance
    gc.collect()
    assert gone() is None


def test_an_entry_that_is_not_there():
    with pytest.raises(WasmTrap, match="no export g"):
        backend().compile(product(), []).instantiate().entry("g")


def test_the_identity_names_the_installed_version():
    assert f"wasmtime {version('wasmtime')} " in Wasmtime().identity
