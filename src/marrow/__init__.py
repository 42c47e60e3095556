"""marrow: the skeletal-animation engine for Python.

import marrow as mw
fox = mw.load("fox.glb")
surface = mw.skin(fox, fox.clips["Run"].sample(0.4))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from marrow import errors
from marrow._version import __version__
from marrow.errors import MarrowError
from marrow.model import (
    Character,
    Clip,
    Clips,
    Curve,
    Event,
    Hinge,
    Image,
    InfluenceLimit,
    JointCamera,
    JointLight,
    Level,
    Lod,
    Material,
    Mesh,
    MorphTarget,
    PackedMotion,
    Palette,
    Pose,
    Section,
    Skeleton,
    Socket,
    Texture,
    Track,
    Tracks,
    limit_influences,
    normalize_weights,
    pack_weights,
    unpack_weights,
)
from marrow.report import Report, ReportLine

if TYPE_CHECKING:
    from marrow import dataset, gpu, graph, ik, lod, motion, pictures, rendering, samples, scene, windows
    from marrow.animation.additive import additive
    from marrow.animation.resampling import ResamplingError, SampledClip
    from marrow.controller import Controller
    from marrow.graph import (
        Animator,
        Events,
        Graph,
        GroundMesh,
        HeightField,
        RootMotionDelta,
        Snapshot,
        load_graph,
        save_graph,
    )
    from marrow.io import load, save
    from marrow.io.lint import Mended, mend
    from marrow.io.motion_arrays.live import LivePoses, live
    from marrow.lod.subdivided_meshes import subdivide
    from marrow.motion import (
        BoneMap,
        Retargeter,
        RetargetProfile,
        blend,
        faces,
        retarget,
        retarget_profile,
        sample_clips,
    )
    from marrow.pictures import (
        PictureBatch,
        Video,
        VideoWriter,
        contact_sheet,
        render,
        render_batch,
        render_video,
    )
    from marrow.rendering import Frame, Renderer
    from marrow.runtime import BakedRuntime, bake_runtime
    from marrow.scene import (
        Actor,
        Camera,
        DirectionalLight,
        Environment,
        EnvironmentMap,
        PointLight,
        Scene,
        SpotLight,
    )
    from marrow.skinning import Bounds, Surface, bounds, skin, skinning_matrices
    from marrow.studio import ExportedPage, StudioView, export_page, view
    from marrow.windows.window import window

# What needs more than the data model is imported when it is first asked for, so that `import marrow` stays quick.
_LATE = {
    "Actor": "marrow.scene",
    "DirectionalLight": "marrow.scene",
    "Environment": "marrow.scene",
    "EnvironmentMap": "marrow.scene",
    "Frame": "marrow.rendering",
    "PointLight": "marrow.scene",
    "PictureBatch": "marrow.pictures",
    "Renderer": "marrow.rendering",
    "Scene": "marrow.scene",
    "SpotLight": "marrow.scene",
    "Video": "marrow.pictures",
    "VideoWriter": "marrow.pictures",
    "contact_sheet": "marrow.pictures",
    "render": "marrow.pictures",
    "render_batch": "marrow.pictures",
    "render_video": "marrow.pictures",
    "rendering": "marrow.rendering",
    "pictures": "marrow.pictures",
    "scene": "marrow.scene",
    "windows": "marrow.windows",
    "Camera": "marrow.scene",
    "Controller": "marrow.controller",
    "Animator": "marrow.graph",
    "Bounds": "marrow.skinning",
    "Events": "marrow.graph",
    "Graph": "marrow.graph",
    "GroundMesh": "marrow.graph",
    "HeightField": "marrow.graph",
    "ResamplingError": "marrow.animation.resampling",
    "RootMotionDelta": "marrow.graph",
    "BoneMap": "marrow.motion",
    "RetargetProfile": "marrow.motion",
    "Retargeter": "marrow.motion",
    "SampledClip": "marrow.animation.resampling",
    "LivePoses": "marrow.io.motion_arrays.live",
    "Mended": "marrow.io.lint",
    "Snapshot": "marrow.graph",
    "Surface": "marrow.skinning",
    "ExportedPage": "marrow.studio",
    "StudioView": "marrow.studio",
    "additive": "marrow.animation.additive",
    "BakedRuntime": "marrow.runtime",
    "bake_runtime": "marrow.runtime",
    "blend": "marrow.motion",
    "bounds": "marrow.skinning",
    "dataset": "marrow.dataset",
    "export_page": "marrow.studio",
    "gpu": "marrow.gpu",
    "graph": "marrow.graph",
    "ik": "marrow.ik",
    "live": "marrow.io.motion_arrays.live",
    "load": "marrow.io",
    "load_graph": "marrow.graph",
    "matching": "marrow.matching",
    "lod": "marrow.lod",
    "subdivide": "marrow.lod.subdivided_meshes",
    "mend": "marrow.io.lint",
    "faces": "marrow.motion",
    "motion": "marrow.motion",
    "retarget": "marrow.motion",
    "retarget_profile": "marrow.motion",
    "sample_clips": "marrow.motion",
    "samples": "marrow.samples",
    "save": "marrow.io",
    "save_graph": "marrow.graph",
    "skin": "marrow.skinning",
    "skinning_matrices": "marrow.skinning",
    "view": "marrow.studio",
    "window": "marrow.windows.window",
}

__all__ = [
    "Actor",
    "Animator",
    "BakedRuntime",
    "BoneMap",
    "Bounds",
    "Camera",
    "Character",
    "Clip",
    "Clips",
    "Controller",
    "Curve",
    "DirectionalLight",
    "Environment",
    "EnvironmentMap",
    "Event",
    "Events",
    "ExportedPage",
    "Frame",
    "Graph",
    "GroundMesh",
    "HeightField",
    "Hinge",
    "Image",
    "InfluenceLimit",
    "JointCamera",
    "JointLight",
    "Level",
    "LivePoses",
    "Lod",
    "MarrowError",
    "Material",
    "Mended",
    "Mesh",
    "MorphTarget",
    "PackedMotion",
    "Palette",
    "PictureBatch",
    "PointLight",
    "Pose",
    "Renderer",
    "Report",
    "ReportLine",
    "ResamplingError",
    "RetargetProfile",
    "Retargeter",
    "RootMotionDelta",
    "SampledClip",
    "Scene",
    "Section",
    "Skeleton",
    "Snapshot",
    "Socket",
    "SpotLight",
    "StudioView",
    "Surface",
    "Texture",
    "Track",
    "Tracks",
    "Video",
    "VideoWriter",
    "__version__",
    "additive",
    "bake_runtime",
    "blend",
    "bounds",
    "contact_sheet",
    "dataset",
    "errors",
    "export_page",
    "faces",
    "gpu",
    "graph",
    "ik",
    "limit_influences",
    "live",
    "load",
    "load_graph",
    "lod",
    "matching",
    "mend",
    "motion",
    "normalize_weights",
    "pack_weights",
    "pictures",
    "render",
    "render_batch",
    "render_video",
    "rendering",
    "retarget",
    "retarget_profile",
    "sample_clips",
    "samples",
    "save",
    "save_graph",
    "scene",
    "skin",
    "skinning_matrices",
    "subdivide",
    "unpack_weights",
    "view",
    "window",
    "windows",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'marrow' has no attribute {name!r}")
    module = importlib.import_module(_LATE[name])
    value = module if _LATE[name] == f"marrow.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
