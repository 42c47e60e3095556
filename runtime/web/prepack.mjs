/** `npm pack` and `npm publish`: brings what `make runtime` has built, and the licence, beside the modules. */
import { copyFileSync, existsSync } from "node:fs";

const root = new URL("../../", import.meta.url);
for (const name of ["marrow.wasm", "marrow-strict.wasm"]) {
  const built = new URL(`src/marrow/runtime/built/${name}`, root);
  if (!existsSync(built)) {
    console.error(`${name} is not built: run \`make runtime\` first`);
    process.exit(1);
  }
  copyFileSync(built, new URL(name, import.meta.url));
}
copyFileSync(new URL("LICENSE", root), new URL("LICENSE", import.meta.url));
