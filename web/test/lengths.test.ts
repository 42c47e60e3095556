/** Lengths as people read them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { metres } from "../src/ui/lengths";

test("lengths have the unit of their size, and never an exponent", () => {
  const told: [number, string][] = [
    [0, "0"], [8.7e-4, "870 µm"], [9.999e-4, "1 mm"], [1.23e-6, "1.2 µm"], [2e-8, "0.02 µm"], [1e-12, "< 0.001 µm"],
    [0.0042, "4.2 mm"], [0.0999, "10 cm"], [0.123, "12 cm"], [-0.05, "-50 mm"], [0.9999, "1 m"], [1.78, "1.8 m"], [123, "120 m"],
  ];
  for (const [x, words] of told) assert.equal(metres(x), words);
  for (let k = -12; k < 9; k++) for (let m = 1; m < 10; m += 0.37) assert(!metres(m * 10 ** k).includes("e"), `${m * 10 ** k}`);
});
