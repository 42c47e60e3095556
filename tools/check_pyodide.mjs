// node check_pyodide.mjs PYODIDE WHEEL ...: runs what comes on stdin in Pyodide, then the answers of docs/how_do_i.md. See check_pyodide.py.
import fs from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, ...wheels] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${folder}/` });
await python.loadPackage(["numpy", "msgspec", "pillow", "rich"], { messageCallback: () => {} });
const site = python.runPython("import site; site.getsitepackages()[0]");
for (const wheel of wheels)
  python.unpackArchive(new Uint8Array(fs.readFileSync(wheel)), "zip", { extractDir: site });
const page = new URL("../docs/how_do_i.md", import.meta.url);
python.FS.writeFile("/how_do_i.md", fs.readFileSync(page, "utf8"));

const ANSWERS = `
import os, re
from marrow.errors import MarrowError
text = open("/how_do_i.md", encoding="utf-8").read()
os.makedirs("/tmp/answers", exist_ok=True)
os.chdir("/tmp/answers")
code = lambda part: re.findall(r"\`\`\`python\\n(.*?)\`\`\`", part, re.DOTALL)[0]
_, *parts = re.split(r"^### (.+)$", text, flags=re.M)
world, told = {}, []
exec(code(text.partition("### ")[0]), world)
for title, part in zip(parts[::2], parts[1::2]):
    try:
        exec(compile(code(part), title, "exec"), world)
    except MarrowError as error:  # what a browser lacks, in words
        told.append(title)
        print("no answer:", title, error)
        assert "browser" in str(error) or "micropip" in str(error), error
print("answers", len(parts) // 2 - len(told), "of", len(parts) // 2)
`;

try {
  await python.runPythonAsync(fs.readFileSync(0, "utf8"));
  await python.runPythonAsync(ANSWERS);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
