/** What the tests use of Node: its types are no part of the page's. */
declare module "node:test" {
  export function test(name: string, run: () => void | Promise<void>): void;
}
declare module "node:assert/strict" {
  const assert: {
    (value: unknown, message?: string): void;
    equal(a: unknown, b: unknown, message?: string): void;
    deepEqual(a: unknown, b: unknown, message?: string): void;
  };
  export default assert;
}
declare module "node:fs" {
  export function readFileSync(file: string): Uint8Array;
  export function readFileSync(file: string, encoding: "utf8"): string;
  export function writeFileSync(file: string, data: Uint8Array): void;
}
declare const process: { argv: string[] };
