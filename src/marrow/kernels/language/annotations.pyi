"""To a type checker, arrays of kernels are anything: what they hold is checked when they are put in a frame."""

from typing import Any

type f4[*Sizes] = Any
type f8[*Sizes] = Any
type i1[*Sizes] = Any
type i2[*Sizes] = Any
type i4[*Sizes] = Any
type i8[*Sizes] = Any
type u1[*Sizes] = Any
type u2[*Sizes] = Any
type u4[*Sizes] = Any
type Out[Kind] = Any
type Records[*Sizes] = Any
ANY = Any
A = Any
B = Any
C = Any
D = Any
E = Any
F = Any
G = Any
H = Any
I = Any
J = Any
K = Any
L = Any
M = Any
N = Any
O = Any
P = Any
Q = Any
R = Any
S = Any
T = Any
U = Any
V = Any
W = Any
X = Any
Y = Any
Z = Any
