"""Functions that the shader has of its own: WGSL promises little of its sine, cosine and arc tangent (2^-11 is
allowed), and nothing of numbers that are none. These are within two units in the last place of float32, for angles of a
few turns."""

from __future__ import annotations

from typing import Any

from marrow.kernels.language import elementary

__all__ = ["HELPERS", "INSTEAD"]

HELPERS = {
    "is_finite": """fn is_finite(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}""",
    "is_nan": """fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}""",
    # A constant expression must not be one.
    "not_a_number": """var<private> no_number: u32 = 0x7fc00000u;
fn not_a_number() -> f32 {
  return bitcast<f32>(no_number);
}""",
    "with_sign": """fn with_sign(x: f32, sign: f32) -> f32 {
  return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(sign) & 0x80000000u));
}""",
    # What does not fit becomes the nearest that does; what is not a number becomes 0.
    "to_whole": """fn to_whole(x: real) -> i32 {
  if (is_nan(f32(x))) { return 0; }
  if (x >= 2147483648.0) { return 2147483647; }
  if (x <= -2147483648.0) { return -2147483648; }
  return i32(x);
}""",
    # As Python chooses: the first where one is not a number.
    "lesser": "fn lesser(a: real, b: real) -> real {\n  return select(a, b, b < a);\n}",
    "greater": "fn greater(a: real, b: real) -> real {\n  return select(a, b, b > a);\n}",
    # As Python divides: down, and by zero to zero.
    "floor_rest": """fn floor_rest(a: i32, b: i32) -> i32 {
  if (b == 0) { return 0; }
  let r = a % b;
  return select(r, r + b, r != 0 && ((r < 0) != (b < 0)));
}""",
    "floor_quotient": """fn floor_quotient(a: i32, b: i32) -> i32 {
  if (b == 0) { return 0; }
  return (a - floor_rest(a, b)) / b;
}""",
    # Cephes' polynomials on an eighth of a turn.
    "wave": """fn wave(x: f32, quarter: i32) -> f32 {
  let k = floor(x * 0.63661975 + 0.5);
  let r = fma(k, 4.371139e-08, fma(k, -1.5707964, x));
  let z = r * r;
  let sine = fma(r * z, fma(z, fma(z, -0.00019515296, 0.008332161), -0.16666655), r);
  let cosine = fma(z * z, fma(z, fma(z, 2.4433157e-05, -0.0013887316), 0.041666646), fma(z, -0.5, 1.0));
  let n = i32(k) + quarter;
  let value = select(sine, cosine, (n & 1) != 0);
  return select(value, -value, (n & 2) != 0);
}""",
    "power_of_e": "fn power_of_e(x: f32) -> f32 {\n  return exp(x);\n}",
    "sine": "fn sine(x: f32) -> f32 {\n  return wave(x, 0);\n}",
    "cosine_of": "fn cosine_of(x: f32) -> f32 {\n  return wave(x, 1);\n}",
    "angle_of": """fn angle_of(y: f32, x: f32) -> f32 {
  let a = abs(y);
  let b = abs(x);
  let most = max(a, b);
  if (most == 0.0) { return 0.0; }
  let t = min(a, b) / most;
  let far = t > 0.41421357;
  let u = select(t, (t - 1.0) / (t + 1.0), far);
  let z = u * u;
  var r = fma(u * z, fma(z, fma(z, fma(z, 0.080537446, -0.13877686), 0.1997771), -0.3333295), u) + select(0.0,
  0.7853982, far); if (a > b) { r = 1.5707964 - r; } if (x < 0.0) { r = 3.1415927 - r; } return select(r, -r, y < 0.0);
}""",
}
_NEEDS = {
    "to_whole": ("is_nan",),
    "floor_quotient": ("floor_rest",),
    "sine": ("wave",),
    "cosine_of": ("wave",),
}
INSTEAD: dict[Any, str] = {
    elementary.sin: "sine",
    elementary.cos: "cosine_of",
    elementary.atan2: "angle_of",
    elementary.exp: "power_of_e",
}
"""What stands for functions of the kernels' language."""


def needed(name: str) -> list[str]:
    """A helper and what it calls, in order."""
    return [*_NEEDS.get(name, ()), name]
