// Bundles the page into the Python package: node build.mjs [--watch]
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import * as esbuild from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = join(here, "..", "src", "marrow", "studio", "static");

async function licences() {
  const three = await readFile(join(here, "node_modules", "three", "LICENSE"), "utf8");
  const { version } = JSON.parse(await readFile(join(here, "node_modules", "three", "package.json"), "utf8"));
  const text = `The studio's page (studio.js, page.js) contains:\n\nthree.js ${version}, https://threejs.org\n\n${three.trim()}\n`;
  await writeFile(join(out, "licenses.txt"), text);
}

const options = {
  absWorkingDir: here,
  entryPoints: { studio: "src/main.ts", page: "src/page.ts" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "linked",
  loader: { ".css": "css" },
  // The engine reads its module so in Node; a page carries it.
  external: ["node:fs/promises"],
  logLevel: "warning",
};

await mkdir(out, { recursive: true });
await copyFile(join(here, "index.html"), join(out, "index.html"));
await licences();
if (process.argv.includes("--watch")) {
  const context = await esbuild.context({ ...options, minify: false });
  await context.watch();
} else {
  await esbuild.build(options);
}
