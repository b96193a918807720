"""Which function writes which form."""

from rosejit.codegen.core.emitter import Forms
from rosejit.codegen.loops import counted_loop, while_loop
from rosejit.codegen.values import accumulators, aggregates, branches, calls, element_access, scalar_primitives
from rosejit.ir import syntax as ir

FORMS = Forms(
    values={
        ir.Apply: scalar_primitives.apply,
        ir.Call: calls.call,
        ir.Index: element_access.index,
        ir.View: element_access.view,
        ir.If: branches.branch,
        ir.Case: branches.case,
    },
    others={
        ir.Apply: scalar_primitives.apply_statement,
        ir.Call: calls.call_statement,
        ir.Index: element_access.index_statement,
        ir.MakeTuple: aggregates.make_tuple,
        ir.Untuple: aggregates.untuple,
        ir.MakeArray: aggregates.make_array,
        ir.Inject: aggregates.inject,
        ir.Extract: aggregates.extract,
        ir.Update: element_access.update,
        ir.View: element_access.view_statement,
        ir.Copy: aggregates.copy,
        ir.Zero: aggregates.zero,
        ir.If: branches.branch_statement,
        ir.Case: branches.case_statement,
        ir.Loop: counted_loop.loop,
        ir.While: while_loop.while_,
        ir.Accum: accumulators.accum,
        ir.Add: accumulators.add,
        ir.Resolve: accumulators.resolve,
        ir.Check: scalar_primitives.check,
    },
)
