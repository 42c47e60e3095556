"""A graph from nothing: walk, jump, wave, and what a crowd tells while it runs."""

import numpy as np

import marrow as mw
from marrow.graph import (
    BlendSpace1D,
    ClipNode,
    Graph,
    LayerBlend,
    Parameter,
    RootMotion,
    State,
    StateMachine,
    Transition,
)

hero = mw.samples.mannequin()

walking = BlendSpace1D.of("speed", {0.0: ClipNode("idle", sync=False), 1.25: "walk", 3.6: "run"})
legs = StateMachine(
    {"move": State(walking), "jump": State(ClipNode("jump", loop=False))},
    (
        Transition("move", "jump", ("jump and speed > 0.5",), seconds=0.15, blend="inertia"),
        Transition("jump", "move", ("remaining <= 0.25",), seconds=0.25),
    ),
    name="legs",
)
graph = Graph(
    RootMotion(LayerBlend(legs, "wave", joints=("spine_01",), weight="wave", channels=("rotation",))),
    {
        "speed": Parameter(range=(0.0, 3.6), smoothing=0.3),
        "wave": Parameter(range=(0.0, 1.0), smoothing=0.2),
        "jump": Parameter("trigger", hold=0.2),
    },
)

crowd = mw.Animator(hero, graph, count=50)
crowd["speed"] = np.linspace(0.0, 3.6, 50)
crowd["wave"] = np.arange(50) % 2
steps, jumps, far = 0, 0, np.zeros(50)
for frame in range(180):
    if frame == 60:
        crowd.trigger("jump")
    crowd.update(1 / 60)
    steps += len(crowd.events.where("foot_l")) + len(crowd.events.where("foot_r"))
    jumps += len(crowd.events.where("jump", kind="state_entered"))
    far += crowd.root.motion.translation[:, 2]

print(f"{steps} steps, {jumps} jumps; the fastest went {far.max():.1f} m")
print(
    "the last one:", crowd.evaluation.inspect(49).machines["root.source.base"].state, crowd.state("legs")[49]
)
print("skinning matrices", crowd.matrices.shape)

rows = np.tile(np.eye(3, 4), (50, 1, 1))
rows[:, 0, 3], rows[:, 2, 3] = 1.2 * (np.arange(50) % 10 - 4.5), 1.4 * (np.arange(50) // 10 - 2.0)
mw.render(mw.Scene(mw.Actor(crowd, transforms=rows)), size=(960, 480)).save("graph.png")
print("graph.png: faster towards the front, every other one waves")
