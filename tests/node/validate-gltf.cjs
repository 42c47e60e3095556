// Runs the Khronos glTF validator over the files given and prints one JSON array of its reports.
const fs = require("fs");
const path = require("path");
const validator = require("gltf-validator");

const validate = (file) =>
  validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
    uri: path.basename(file),
    maxIssues: 100,
    externalResourceFunction: async (uri) =>
      new Uint8Array(fs.readFileSync(path.join(path.dirname(file), decodeURIComponent(uri)))),
  });

Promise.all(process.argv.slice(2).map(validate)).then((reports) => console.log(JSON.stringify(reports)));
