"""Which function writes which form."""

from rosejit.codegen import aggregates, branches, calls, loops, paths, places, scalars, whiles
from rosejit.codegen.emitter import Forms
from rosejit.ir import syntax as ir

FORMS = Forms(
    values={
        ir.Apply: scalars.apply,
        ir.Call: calls.call,
        ir.Index: paths.index,
        ir.View: paths.view,
        ir.If: branches.branch,
        ir.Case: branches.case,
    },
    others={
        ir.Apply: scalars.apply_statement,
        ir.Call: calls.call_statement,
        ir.Index: paths.index_statement,
        ir.MakeTuple: aggregates.make_tuple,
        ir.Untuple: aggregates.untuple,
        ir.MakeArray: aggregates.make_array,
        ir.Inject: aggregates.inject,
        ir.Extract: aggregates.extract,
        ir.Update: paths.update,
        ir.Copy: aggregates.copy,
        ir.Zero: aggregates.zero,
        ir.If: branches.branch_statement,
        ir.Case: branches.case_statement,
        ir.Loop: loops.loop,
        ir.While: whiles.while_,
        ir.Accum: places.accum,
        ir.Add: places.add,
        ir.Resolve: places.resolve,
        ir.Check: scalars.check,
    },
)
