"""Primitives that are more than one instruction, and checks."""

from rosejit.abi import FAILURE_VALUES
from rosejit.codegen.core.emit_traps import abi_scalar
from rosejit.codegen.core.emitter import Emitter, literal
from rosejit.codegen.values.ownership import touch
from rosejit.ir.primitive import Emit
from rosejit.ir.syntax import Apply, Check, Let, Var
from rosejit.ir.types import BOOL
from rosejit.ops.kernels import small_kernel
from rosejit.wasm.instructions import f64_store, i32_const, i64_const, i64_store, local_get, local_tee
from rosejit.wasm.opcodes import OP


def apply(e: Emitter, let: Let) -> None:
    """A primitive whose code is not known, or does not end with its operands."""
    x = let.expr
    assert isinstance(x, Apply)
    code = e.module.code(x.op)
    if code is not None:
        e.push((*x.args, code))
    elif isinstance(x.op.wasm, Emit):
        assert x.op.wasm.name == "select", x.op.wasm.name
        condition, chosen, other = x.args
        e.push((chosen, other, condition, OP["select"]))
    elif x.op.failure:
        _failing(e, let, x)
    else:
        kernel = small_kernel(x.op)
        assert kernel is not None
        assert kernel.body is not None
        e.inline(kernel, x.args, kernel.body.results)


def apply_statement(e: Emitter, let: Let) -> None:
    """Nothing is written for a result that nobody uses, unless the primitive can fail."""
    assert isinstance(let.expr, Apply)
    if let.binders[0] in e.where or let.expr.op.failure:
        e.statement(let, apply)


def _failing(e: Emitter, let: Let, x: Apply) -> None:
    """The kernel gives the result and which failure happened, if any."""
    first = e.module.failures.primitive(x.op, let.span)
    fault = e.body.local("i64")
    e.body.release("i64", fault)
    keep, number = b"", i32_const[first]
    if "|" in x.op.failure:
        keep = local_tee[fault]
        number = local_get[fault] + OP["i32.wrap_i64"] + i32_const[first - 1] + OP["i32.add"]
    test = (keep, i64_const[0], OP["i64.ne"], e.body.fail_if(number + e.module.failures.fail()))
    kernel = small_kernel(x.op)
    if kernel is None:
        e.push((*x.args, e.module.callee(e.module.kernel(x.op)).code, *test))
    else:
        assert kernel.body is not None
        e.inline(kernel, x.args, (*kernel.body.results, *test))


def check(e: Emitter, let: Let) -> None:
    """Fails, with values, unless a condition holds."""
    x = let.expr
    assert isinstance(x, Check)
    touch(e, x.values)
    number = e.module.failures.number(x.failure, tuple(v.type for v in x.values))
    handler: list[bytes] = []
    for k, value in enumerate(x.values):
        code = e.read(value) if isinstance(value, Var) else literal(value)
        widened = OP["i64.extend_i32_u"] if value.type is BOOL else b""
        store = f64_store if abi_scalar(value.type) == "real" else i64_store
        handler += (e.module.address.zero, code, widened, store[FAILURE_VALUES + 8 * k])
    failing = e.body.fail_if(b"".join((*handler, i32_const[number], e.module.failures.fail())))
    e.push((x.condition, OP["i32.eqz"], failing))
