"""What NumPy gives, staged code gives: expressions of arrays and assignments to them, one by one."""

import math
from typing import Any

import numpy as np
import pytest

import rosejit as rose
from rosejit import Array, Mat, Vec
from tests.frontend.oracle import agrees, define

SCOPE: dict[str, Any] = {"np": np, "math": math, "rose": rose, "Mat": Mat, "Vec": Vec, "Array": Array}
A = np.array([[1.0, -2.0, 0.5], [4.0, 0.25, 6.0]])
X = np.array([0.5, 1.0, 2.0])
K = np.array([2, 3, -1])
P = np.array([True, False, True])
T = np.arange(24.0).reshape(2, 3, 4) * 0.25 - 1
M = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
HEADER = """def f(
    a: Mat[2, 3], x: Vec[3], k: Array[3, int], p: Array[3, bool], t: Array[2, 3, 4], m: Mat[3, 3], s: float, i: int
):"""
ARGUMENTS = (A, X, K, P, T, M, 1.5, 1)

EXPRESSIONS = [
    "np.size(a, 0)", "np.size(a)", "x.copy(order='C')", "np.dstack([x, x * 2])", "np.dstack([a, a])", "np.rot90(a)",
    "np.rot90(a, 2)", "np.rot90(a, -1)", "np.rot90(t, 1, (1, 2))", "np.quantile(x, 0.3)",
    "np.percentile(a, 75, axis=1)",
    "np.quantile(a, 1.0)", "np.quantile(a, 0.5, axis=0)",
    "np.sort(x * [3.0, -1.0, 0.5])", "np.sort(a)", "np.sort(a, axis=0)", "np.sort(a, axis=None)",
    "np.argsort(a, axis=1)", "np.sort(t, axis=1)", "(-x).argsort()", "np.argsort(k)", "np.sort(k)[::-1]",
    "np.median(x)", "np.median(a, axis=0)", "np.median(a)", "np.median(a, axis=1, keepdims=True)",
    "np.searchsorted([0.0, 1.0, 2.0], s)", "sorted(x, reverse=True)",
    "np.searchsorted([0.5, 1.0, 1.0, 2.0], x, side='right')", "np.digitize(x, [0.0, 1.0, 2.0])",
    "sorted([s, 0.5, x[2]])", "np.sort(np.concatenate([x, -x, [s, np.nan], a[1]]))", "np.argsort([s, 1.0, s])",
    "np.add.reduce(a, axis=None)", "np.concatenate([a, x[None]], axis=None)", "sorted(x, key=lambda v: 1)",
    "np.searchsorted(np.sort(x), [s, 9.0, -1.0])",
    "t[0]", "t[1,2]", "t[:,1]", "t[:,:,1]", "t[0,:,::2]", "t[i,:,1]", "t[...,0]", "t[0][1][2]", "t.T", "t.shape",
    "t.sum(axis=1)", "t.sum((0,2))", "t.sum(axis=(0,2),keepdims=True)", "t.transpose(1,0,2)", "t.transpose((2,0,1))",
    "np.transpose(t,(1,0,2))", "t.swapaxes(0,1)", "np.swapaxes(t,0,2)", "np.moveaxis(t,0,-1)", "t@t[0].T",
    "t.reshape(6,-1)", "np.expand_dims(x,0)", "np.expand_dims(x,axis=1)", "np.squeeze(x[None])", "x[None].squeeze()",
    "t.max(axis=(0,1))", "t+a[:,:,None]", "t*np.arange(4)", "x[k]", "x[k-1]", "t[k[:1]-2]", "a[:,k]",
    "a[[0,1],[2,0]]", "a[[0,1],k[:2]-1]", "a[i,[0,2]]", "a[[i,0],1]", "m[k,k]", "m[k][:,k]", "np.take(x,k)",
    "np.take(a,[0,2],axis=1)", "x[[0,2]]", "x[np.array([2,0])]", "a[np.array([[0,1],[1,0]])]",
    "a[np.arange(2),[0,2]]", "x.take([0,1])", "x[[True,False,True]]", "x[np.array([True,False,True])]",
    "a[:,[True,False,True]]", "a[[True,False]]", "np.where(x>1,x,0.0)", "np.where(p,x,s)", "np.where(s>1,x,-x)",
    "np.where(p[:,None],m,0)", "np.select([x>1,x>0.6],[x,2*x],0.0)", "x[p].sum()", "np.sum(x, where=p)",
    "np.count_nonzero(p)", "np.var(x)", "np.std(x)", "x.std()", "x.var(ddof=1)", "a.var(axis=0)",
    "a.std(axis=1,ddof=1)", "a.std(axis=1,keepdims=True)", "np.mean(a,axis=1,keepdims=True)", "np.mean(k)",
    "np.argmax(x)", "x.argmin()", "a.argmax(axis=1)", "np.argmin(a,axis=0)", "np.argmax(a)", "a.argmax()",
    "np.argmax(k)", "x[np.argmax(x)]", "np.argmax(p)", "np.prod(a,axis=0)", "np.prod(k)", "np.prod(x,keepdims=True)",
    "a.prod(1)", "np.max(a,1)", "np.min(k)", "np.max(a,axis=1,keepdims=True)", "np.ptp(x)", "np.all(p)",
    "np.any(a>3,axis=1)", "np.all(a,axis=0)", "a.any(axis=0)", "np.all(a>0,axis=1,keepdims=True)", "np.nansum(x)",
    "np.nansum(x[0])", "np.count_nonzero(x[0])",
    "np.average(x,weights=x)", "np.average(a,axis=0)", "a.min()", "a.max(1)", "np.amax(x)", "k.max()", "p.any()",
    "p.all()", "p.sum()", "p.mean()", "k.mean()", "k.std()", "np.sum(a,1)", "np.sum(a,-1)", "np.sum([s,1.0])",
    "np.max([s,2.0])", "np.sum(s)", "np.min(a, initial=-3.0)", "np.cumsum(a)", "np.cumsum(a,axis=0)",
    "np.cumsum(a,axis=1)", "np.cumprod(a,axis=1)", "a.cumsum()", "a.cumsum(axis=0)", "x.cumprod()", "np.cumsum(k)",
    "np.cumsum(p)", "np.diff(x)", "np.diff(a,axis=0)", "np.diff(x,n=2)", "np.maximum.accumulate(x)",
    "np.add.reduce(x)", "np.interp(s,x,[1.0,3.0,2.0])", "np.interp(x,[0.,1.,3.],x)",
    "np.interp(x*2,[0.,1.,3.],[0,1,0.5])", "np.interp(s,[0.,1.,3.],[0.,2.,4.])", "np.interp(a,[0.,1.,3.],x)",
    "np.interp(s, x, x, left=-1.0, right=9.0)", "np.clip(x,0.6,1.5)", "np.clip(x,x[0],None)", "np.clip(k,0,2)",
    "x.clip(0.6,1.5)", "x.clip(min=0.6)", "np.clip(s,0,1)", "np.clip(a,x,2*x+1)", "np.sign(a)", "np.sign(k)",
    "np.sign(s)", "np.clip(x,a_min=0.7,a_max=None)", "np.linalg.norm(x)", "np.linalg.norm(a)",
    "np.linalg.norm(a,axis=1)", "np.linalg.norm(x,1)", "np.linalg.norm(x,np.inf)", "np.linalg.norm(x,ord=2)",
    "np.linalg.norm(a,axis=0,keepdims=True)", "np.linalg.norm(a,'fro')", "np.linalg.norm(x,-np.inf)",
    "np.linalg.norm(x,3)", "np.linalg.norm([s,x[0]])", "np.linalg.solve(m,x)", "np.linalg.solve(m,a.T)",
    "np.linalg.det(m)", "np.linalg.inv(m)", "np.linalg.inv(m)@x", "np.linalg.solve(m,m)", "np.linalg.det(m*s)",
    "np.linalg.det(m[:2,:2])", "np.linalg.inv(m[:1,:1])", "np.linalg.slogdet(m)[1]", "np.linalg.cholesky(m)",
    "np.linalg.matrix_power(m,2)", "np.linalg.multi_dot([m,m,x])", "np.trace(m)", "m.trace()", "np.diag(m)",
    "np.diag(x)", "m.diagonal()", "np.diagonal(m)", "np.tril(m)", "np.triu(m)", "np.kron(x,x)", "np.cross(x,x*2+1)",
    "np.cross(x,[1.0,s,2.0])", "np.vdot(x,x)", "np.tensordot(a,m,axes=1)", "np.einsum('ij,jk->ik',a,m)",
    "np.einsum('ij,ij',a,a)", "np.einsum('ij,j->i',a,x)", "np.zeros(3)+s", "np.zeros((2,3))+a", "np.ones(3)*s",
    "np.ones((2,),dtype=int)*i", "np.empty(2).shape", "np.full(3,s)", "np.full((2,2),7)+s", "np.zeros_like(x)",
    "np.ones_like(a)*s", "np.full_like(x,2.0)*s", "np.empty_like(x).shape", "np.array([s,x[0],1])",
    "np.array([[s,1],[2,i]])", "np.array(x)", "np.arange(3)*s", "np.arange(1,7,2)*s", "np.arange(0.0,1.0,0.25)*s",
    "np.linspace(0,1,5)*s", "np.linspace(s,2.0,4)", "np.linspace(0,s,3,endpoint=False)", "np.eye(3)*s",
    "np.eye(2,3)@x", "np.identity(3)@x", "np.stack([x,x*2])", "np.stack([x,x],axis=1)", "np.stack((x,x),axis=-1)",
    "np.stack([a,a],axis=1)", "np.concatenate([x,x])", "np.concatenate((a,a),axis=1)", "np.concatenate([x,[s]])",
    "np.concatenate([x,np.zeros(2)])", "np.vstack([x,x])", "np.hstack([x,x])", "np.hstack([a,a])",
    "np.column_stack([x,x])", "np.append(x,s)", "np.append(x,x)", "np.tile(x,2)", "np.repeat(x,2)", "np.roll(x,1)",
    "np.flip(x)", "np.flip(a,axis=1)", "x[::-1]", "np.full(3,i)", "np.array(s)", "np.asarray(x)", "np.asarray([s])",
    "np.array([x,x*2])", "np.array([k,k])", "np.zeros(x.shape)+x", "np.zeros(len(x))+x", "np.pad(x,1)",
    "np.meshgrid(x,x)[0]", "np.split(x,3)[0]", "np.array_split(x,2)[1]", "np.atleast_1d(s)", "np.atleast_2d(x)",
    "np.hstack([s,x])", "np.fliplr(a)", "np.zeros(3,dtype=bool)|p", "np.logspace(0,1,3)*s", "np.geomspace(1,8,4)*s",
    "np.polyval([1.0,2.0,3.0],s)", "np.polyval(x,s)", "np.convolve(x,x)", "np.outer(x,x)", "np.outer(x,[1.0,s])",
    "np.dot(x,x)", "np.dot(a,m)", "np.dot(2.0,x)", "np.dot(t,x[:1].repeat(4))", "np.matmul(m,x)", "x.dot(x)",
    "x@m@x", "np.inner(a,x)", "np.inner(a,a)", "len(a)", "a.shape", "a.ndim", "a.size", "a.T", "a.copy()",
    "a.reshape(3,2)", "a.reshape(-1)", "a.reshape((3,-1))", "a.ravel()", "a.flatten()", "a.sum(0)", "a.mean()",
    "a.mean(1)", "a.dot(x)", "x.tolist()", "x.astype(float)", "x.astype(int)", "k.astype(float)", "p.astype(int)",
    "p.astype(float)*s", "x.item(0)", "x[0:1].item()", "x.dtype", "a.nbytes", "x.round(1)", "x.conj()", "x.real",
    "np.real(x)", "max(x)", "min(x)", "sum(x)", "sum(x, 1.0)", "sum(a)", "sum(a[0])", "abs(x)", "any(p)", "all(p)",
    "list(x)", "tuple(x)", "[v for v in x]", "[v*2 for v in a]", "{j: v for j, v in enumerate(x)}",
    "[u*v for u,v in zip(x,reversed(x))]", "[v for v in reversed(x)]", "dict(enumerate(x))", "list(map(math.exp,x))",
    "sum(map(lambda v: v*v, x))", "divmod(x,2)", "pow(x,2)", "x**0.5", "x**x", "2**k", "k**2", "k//2", "k%2", "k<<1",
    "k&1", "k/2", "-k", "~p", "p&p", "p|(x>1)", "p^p", "p==p", "x==x", "x!=1", "k==2", "k>i", "x<s", "1<x",
    "(x>0)&(x<1)", "not p.any()", "p*x", "p+p", "+x", "x//0.3", "x%0.3", "divmod(k,2)", "k*s", "k+p", "np.add(k,1)",
    "np.divide(k,2)", "np.floor_divide(k,2)", "np.mod(x,0.3)", "np.power(x,s)", "np.negative(k)", "np.abs(k)",
    "np.absolute(x)", "np.fabs(k)", "np.equal(k,2)", "np.isclose(x,1.0)", "np.allclose(x,x)", "np.array_equal(x,x)",
    "np.logical_and(p,x)", "np.logical_xor(p,p)", "np.invert(p)", "np.isfinite(x)", "np.isnan(x).any()",
    "np.nan_to_num(x)", "np.heaviside(x,0.5)", "np.sinc(x)", "np.logaddexp(x,x)", "np.exp2(x)", "np.maximum(k,2)",
    "np.fmax(x,1.0)", "np.fmin(x,1.0)", "np.square(k)", "np.reciprocal(x)", "np.trunc(a)", "np.ceil(a)",
    "np.round(a)", "np.round(x,1)", "np.around(x)", "np.mod(k,2)", "np.fmod(x,0.3)", "np.remainder(k,2)",
    "np.float_power(x,2)", "np.deg2rad(x)", "np.signbit(x)", "np.hypot(x,s)", "np.float64(s)", "np.int64(i)",
    "float(s)", "np.float64(x[0])", "x[:,np.newaxis]", "np.gradient(x)", "np.matmul(a,t[0])", "math.sqrt(s)",
    "math.exp(x[0])", "math.dist([s,1.0],[0.0,2.0])", "math.prod(x)", "math.fsum(x)", "math.hypot(*x)",
]  # fmt: skip
STATEMENTS = [
    "y = m.copy(); y[:-1] = y[:1]", "y = a.copy(); z = y[:, ::2].ravel(); z[0] = s", "y = x.copy(); y[1:] = a[:1, 1:]",
    "y = a.copy(); y.sort()", "y = a.copy(); y.sort(axis=0)", "y = x[::-1].copy(); z = y; z.sort()",
    "y=x.copy(); y[p]=0.0", "y=x.copy(); y[k]=s", "y=x.copy(); y[k-1]+=1.0", "y=x.copy(); y[[0,2]]=[s,2.0]",
    "y=x.copy(); y[[0,2]]*=s", "y=a.copy(); y[:,[0,2]]=s", "y=a.copy(); y[[0,1],[1,2]]=s", "y=x.copy(); y[y>0.7]=s",
    "y=a.copy(); y[y>0.7]=0.0", "y=x.copy(); y[p]*=2", "y=x.copy(); y[x>0.7]+=x[0]",
    "y=x.copy(); np.add.at(y,[0,0,1],s)", "y=x.copy(); y[k-1]=x*2", "y=x.copy(); y[np.array([True,False,True])]=s",
    "y=x.copy(); y[::-1]=x", "y=x.copy(); y[:]=s", "y=x.copy(); y[...]=s", "y=x.copy(); y[::2]+=s",
    "y=a.copy(); y[:,::-1]=a", "y=a.copy(); y[0],y[1]=y[1].copy(),y[0].copy()", "y=t.copy(); y[0,:,1]=s",
    "y=t.copy(); y[i]=y[0]", "y=t.copy(); y[i][1][2]=s", "y=t.copy(); y[:,1,:]*=2",
    "y=t.copy(); r=y[0]; r[1]+=1; q=r[1]; q*=2", "y=t.copy(); r=y[:,1]; r+=s", "y=x.copy(); y.fill(s)",
    "y=x.copy(); z=y[1:]; y=z[::-1]; y[0]=s", "y=x.copy(); y+=y", "y=x.copy(); y*=y[::-1]",
    "y=x.copy(); y[1:]+=y[:-1]", "y=x.copy(); y[1:]=y[:-1]", "y=x.copy(); y/=2; y-=s; y**=2; y//=1",
    "y=k.copy(); y+=1; y*=2; y//=3", "y=k.copy(); y+=p", "y=p.copy(); y[0]=x[0]>1; y|=p; y&=p; y^=p",
    "y=x.copy(); y@=m", "y=m.copy(); y@=m", "y=a.copy(); y.T[0]=s", "y=a.T.copy(); y[0]=s",
    "y=a.copy(); z=y.flatten(); z[0]=s", "y=np.zeros(3); y[i]=s; y[0]=1", "y=np.zeros(3,dtype=int); y[i]=i",
    "y=np.zeros((2,3)); y[0]=x", "y=np.empty((2,2)); y[:]=s", "y=np.zeros(3); y[:2]=[s,1.0]; y[2:]=x[:1]",
    "y=np.zeros(3); y[1]=True; y[2]=i", "y=[x,x*2]; y[0]=y[1]*2; y=y[0]", "y=x.copy(); z=[y,y]; z[0][1]=s",
    "y=x.copy(); z=(y,); z[0][1]=s", "y=x.copy(); z={'a':y}; z['a'][1]=s; z['a']+=1", "y=x; y=y+1; y[0]=s",
    "y=x*1; z=y; y=y+1; z[0]=s", "y=x*1; z=y; y+=1; z[0]=s", "y=0.0+x; y[0]=y[1]=s",
    "y=x.copy(); y[0]+=y[1]; y[1]-=y[0]; y[2]**=2; y[2]//=1; y[0]%=0.7", "y=a.copy(); (y[0,0],y[1,1])=(s,2.0)",
    "y=x.copy(); y[-1]=s; y[-3]+=s", "y=np.array([s,1.0]); y[1]=2*s", "y=x.copy(); np.copyto(y,s*x)",
    "y=a.copy(); np.fill_diagonal(y,s)", "y=x.copy(); np.put(y,[1],s)", "y=np.arange(3); y=y*s; y[0]=s",
    "y=np.arange(3); y[0]=5; y=y*s", "y=a.copy(); y[0]=0; y[:,1]=i", "y=a.copy(); y[...,1]=[s,2]",
    "y=a.copy(); y[None,0,1]=s", "y=x.copy(); np.multiply(y,2.0,out=y)", "y=np.zeros(3); np.exp(x,out=y)",
    "y=a.copy(); y[i,[0,2]]=s", "y=a.copy(); y[[i,0]]=x", "y=t.copy(); y[:,k-1]=s", "y=x.copy(); y[k]=x[k]",
    "y=m.copy(); y[k,k]=s", "y=m.copy(); y[np.arange(3),np.arange(3)]+=s", "y=m.copy(); y[np.diag_indices(3)]=s",
    "y=a.copy(); y[y<0]=0", "y=a.copy(); y[[True,False]]=x", "y=x.copy(); y[p]=x[p]", "y=x.copy(); y[~p]=s",
    "y=m.copy(); y[p]=x", "y=m.copy(); y[:,p]=s", "y=m.copy(); y[p]=0.0",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions(expression: str) -> None:
    agrees(define(f"{HEADER}\n    return {expression}", **SCOPE), ARGUMENTS)


@pytest.mark.parametrize("statements", STATEMENTS)
def test_statements(statements: str) -> None:
    lines = "\n    ".join(part.strip() for part in statements.split(";"))
    agrees(define(f"{HEADER}\n    {lines}\n    return y", **SCOPE), ARGUMENTS)


def test_what_lies_in_the_memory_of_an_empty_array_is_not_in_the_program() -> None:
    like = np.arange(400.0).reshape(20, 20)
    trash = [np.full((20, 20), 1234.5678) for _ in range(40)]
    del trash

    @rose.jit
    def f(x: float) -> float:
        made = np.empty((20, 20)), np.empty(shape=(20, 20), dtype=float), np.empty_like(like)
        for a in made:
            a[3, 4] = x
        return sum(a.sum() for a in made)

    assert f(2.0) == 6.0
