"""A crowd drawn by OpenGL (moderngl; the shaders serve Panda3D and others as they are): skinning matrices in a texture, one
row an instance, and four influences a vertex in eight bytes. Writes crowd.png."""

import sys

import moderngl
import numpy as np
from PIL import Image

import marrow as mw

VERTEX = """
#version 330
uniform sampler2D palettes;      // RGBA32F: row i has the matrices of instance i, three texels (rows) each
uniform mat4 view_projection;
in vec3 position;
in vec3 normal;
in uvec4 joints;
in vec4 weights;                 // normalised bytes
out vec3 skinned_position;
out vec3 skinned_normal;

vec4 palette_row(uint joint, int row) { return texelFetch(palettes, ivec2(int(joint) * 3 + row, gl_InstanceID), 0); }

vec4 blended(int row) {
  return weights.x * palette_row(joints.x, row) + weights.y * palette_row(joints.y, row)
       + weights.z * palette_row(joints.z, row) + weights.w * palette_row(joints.w, row);
}

void main() {
  vec4 x = blended(0), y = blended(1), z = blended(2);
  vec4 p = vec4(position, 1.0);
  skinned_position = vec3(dot(x, p), dot(y, p), dot(z, p));
  // Normals go through the cofactor, turned round where it mirrors: right under any scale.
  vec3 n = vec3(dot(cross(y.xyz, z.xyz), normal), dot(cross(z.xyz, x.xyz), normal), dot(cross(x.xyz, y.xyz), normal));
  skinned_normal = normalize(n) * (dot(x.xyz, cross(y.xyz, z.xyz)) < 0.0 ? -1.0 : 1.0);
  gl_Position = view_projection * vec4(skinned_position, 1.0);
}
"""
FRAGMENT = """
#version 330
in vec3 skinned_normal;
out vec4 colour;
void main() {
  float light = 0.25 + 0.75 * max(dot(normalize(skinned_normal), normalize(vec3(0.4, 0.8, 0.6))), 0.0);
  colour = vec4(light * vec3(0.93, 0.88, 0.80), 1.0);
}
"""


def vertices_of(character: mw.Character) -> tuple[np.ndarray, np.ndarray]:
    """All meshes as one array of packed vertices (32 bytes each), and their triangles."""
    kind = [("position", "f4", 3), ("normal", "f4", 3), ("joints", "u1", 4), ("weights", "u1", 4)]
    parts, triangles = [], []
    for mesh, first, slots in zip(character.meshes, character.vertex_offsets, character.palette.mesh_slots):
        four = mw.limit_influences(mesh, 4).mesh
        part = np.zeros(mesh.vertex_count, kind)
        part["position"], part["normal"] = mesh.positions, mesh.normals
        part["joints"][:, : four.influences] = slots[
            four.joints
        ]  # where the palette has them; below 256 here
        part["weights"][:, : four.influences] = mw.pack_weights(four.weights)  # sums to 255 exactly
        parts.append(part)
        triangles.append(mesh.triangles + first)
    return np.concatenate(parts), np.concatenate(triangles).astype("u4")


def view_projection(width: int, height: int) -> np.ndarray:
    """A camera in front of the crowd, column-major as OpenGL has it."""
    near, far, f = 0.1, 50.0, 3.4
    projection = np.zeros((4, 4))
    projection[0, 0], projection[1, 1] = f * height / width, f
    projection[2, 2:], projection[3, 2] = [(far + near) / (near - far), 2 * far * near / (near - far)], -1
    view = np.eye(4)
    view[:3, 3] = 0, -0.9, -5.0
    return (projection @ view).T.astype("f4")


def without_window() -> moderngl.Context:
    """An OpenGL context for pictures only. Linux has these libraries under their versions, without development packages."""
    names = {"libgl": "libGL.so.1", "libegl": "libEGL.so.1"} if sys.platform == "linux" else {}
    return moderngl.create_context(standalone=True, backend="egl" if names else None, **names)


def main() -> None:
    hero = mw.samples.mannequin()
    crowd = mw.Animator(hero, mw.samples.mannequin_graph(), count=5)
    crowd["speed"] = np.linspace(0, 3.6, 5)
    for _ in range(40):
        crowd.update(1 / 60)
    matrices = crowd.matrices.copy()  # (N, P, 3, 4)
    matrices[:, :, 0, 3] += np.linspace(-2, 2, 5)[:, None]

    context = without_window()  # in a window: moderngl.get_context()
    context.enable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
    program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
    vertices, triangles = vertices_of(hero)
    layout = (context.buffer(vertices.tobytes()), "3f 3f 4u1 4f1", "position", "normal", "joints", "weights")
    shape = context.vertex_array(program, [layout], index_buffer=context.buffer(triangles.tobytes()))

    N, P = matrices.shape[:2]
    palettes = context.texture((3 * P, N), 4, dtype="f4")
    palettes.write(np.ascontiguousarray(matrices, "f4").tobytes())  # each frame
    palettes.filter = moderngl.NEAREST, moderngl.NEAREST
    palettes.use(0)

    width, height = 640, 360
    program["view_projection"].write(view_projection(width, height).tobytes())
    target = context.simple_framebuffer((width, height))
    target.use()
    target.clear(0.81, 0.85, 0.89)
    shape.render(instances=N)
    picture = Image.frombytes("RGB", (width, height), target.read(), "raw", "RGB", 0, -1)
    picture.save("crowd.png")
    print(
        f"crowd.png: {N} mannequins from standing to running, {len(triangles):,} triangles each, skinned in OpenGL"
    )


if __name__ == "__main__":
    main()
