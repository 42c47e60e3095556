/** Reads skinned positions back from the GPU: the same GLSL the picture is drawn with, run through transform feedback. */
import type { DataTexture, WebGLRenderer } from "three";
import type { CharacterView, Part } from "./character";
import { SKINNING_GLSL } from "./shader";

const VERTEX = `#version 300 es
precision highp float;
precision highp int;
in vec3 position;
in float mwShare;
uniform int mwInstance;
out vec3 skinnedPosition;
${SKINNING_GLSL}
void main() {
  mwSkin(gl_VertexID, mwInstance, position, vec3(0.0, 1.0, 0.0), vec3(1.0, 0.0, 0.0), mwShare);
  skinnedPosition = mwPosition;
  gl_Position = vec4(0.0);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
out vec4 color;
void main() { color = vec4(0.0); }`;

/** Positions of all meshes of one instance, in file order. */
export function readPositions(renderer: WebGLRenderer, character: CharacterView, instance: number): Float32Array {
  const gl = renderer.getContext() as WebGL2RenderingContext;
  const program = link(gl);
  const total = character.parts.reduce((sum, part) => sum + part.info.vertices, 0);
  const out = new Float32Array(3 * total);
  let at = 0;
  for (const part of character.parts) {
    out.set(run(gl, program, renderer, part, instance), at);
    at += 3 * part.info.vertices;
  }
  gl.deleteProgram(program);
  renderer.resetState();
  return out;
}

function link(gl: WebGL2RenderingContext): WebGLProgram {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]] as const) {
    const shader = gl.createShader(kind)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? "");
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  }
  gl.transformFeedbackVaryings(program, ["skinnedPosition"], gl.SEPARATE_ATTRIBS);
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "");
  return program;
}

function run(
  gl: WebGL2RenderingContext, program: WebGLProgram, renderer: WebGLRenderer, part: Part, instance: number,
): Float32Array {
  const V = part.info.vertices;
  gl.useProgram(program);
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  const buffers: WebGLBuffer[] = [];
  for (const [name, width] of [["position", 3], ["mwShare", 1]] as const) {
    const location = gl.getAttribLocation(program, name);
    if (location < 0) continue;
    const buffer = gl.createBuffer();
    buffers.push(buffer);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, part.geometry.getAttribute(name).array as Float32Array<ArrayBuffer>, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, width, gl.FLOAT, false, 0, 0);
  }
  // Uploading a texture changes what is bound: all are uploaded before the first is bound.
  for (const uniform of Object.values(part.uniforms)) if (typeof uniform.value !== "number") renderer.initTexture(uniform.value as DataTexture);
  let unit = 0;
  for (const [name, uniform] of Object.entries(part.uniforms)) {
    const location = gl.getUniformLocation(program, name);
    if (!location) continue;
    if (typeof uniform.value === "number") gl.uniform1i(location, uniform.value);
    else {
      const texture = uniform.value as DataTexture;
      const handle = (renderer.properties.get(texture) as { __webglTexture?: WebGLTexture }).__webglTexture ?? null;
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, handle);
      gl.uniform1i(location, unit++);
    }
  }
  gl.useProgram(program);
  gl.uniform1i(gl.getUniformLocation(program, "mwInstance"), instance);
  const target = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, null);
  const feedback = gl.createTransformFeedback();
  gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, feedback);
  gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, target);
  gl.bufferData(gl.TRANSFORM_FEEDBACK_BUFFER, 12 * V, gl.STREAM_READ);
  gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, target);
  gl.enable(gl.RASTERIZER_DISCARD);
  gl.beginTransformFeedback(gl.POINTS);
  gl.drawArrays(gl.POINTS, 0, V);
  gl.endTransformFeedback();
  gl.disable(gl.RASTERIZER_DISCARD);
  const out = new Float32Array(3 * V);
  gl.getBufferSubData(gl.TRANSFORM_FEEDBACK_BUFFER, 0, out);
  gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, null);
  gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, null);
  gl.bindVertexArray(null);
  for (const buffer of [...buffers, target]) gl.deleteBuffer(buffer);
  gl.deleteTransformFeedback(feedback);
  gl.deleteVertexArray(array);
  return out;
}
