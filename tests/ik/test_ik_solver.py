"""The solver brings effectors to targets, leaves the rest alone, and stays calm where it cannot."""

import numpy as np
import pytest
from ik_worlds import chain, frames, random_skeleton, turned

import marrow as mw
from marrow.errors import MarrowError, UnknownNameError, ValidationError, WrongTypeError
from marrow.ik import Effector, Goal, JointLimit, JointLimits, Solver
from marrow.kernels.ik.solve import ik_solve
from marrow.kernels.language.kernel import FramePool
from marrow.math import quaternion
from marrow.samples import mannequin

BODY = ("@head", "@left_hand", "@right_hand", "@left_foot", "@right_foot")


def model(skeleton, pose, joint):
    return skeleton.to_model(pose)[..., skeleton.index(joint), :, :]


def body_and_targets(count, seed, *, amount=0.25):
    """Poses of a run, and where hands, feet and head of other poses of the same body are."""
    hero = mannequin()
    rng = np.random.default_rng(seed)
    start = hero.clips["run"].sample(np.linspace(0, 0.7, count))
    goal = turned(start, rng.normal(0, amount, (count, len(hero.skeleton), 3)))
    goal.translation[:, hero.skeleton.index("@hips")] += rng.normal(0, 0.05, (count, 3)).astype(np.float32)
    return hero, start, {n: model(hero.skeleton, goal, n) for n in BODY}


def test_reachable_places_and_rotations_are_reached_from_rest_in_twelve_steps():
    hero, _, targets = body_and_targets(64, 0)
    solver = Solver(hero, [Effector(n, rotation=0.5) for n in BODY], steps=12)
    found = solver.solve(hero.skeleton.rest, targets)
    matrices = hero.skeleton.to_model(found.pose)
    for k, name in enumerate(BODY):
        mine, wanted = matrices[:, hero.skeleton.index(name)], targets[name]
        assert np.linalg.norm(mine[..., 3] - wanted[..., 3], axis=-1).max() < 1e-4
        off = quaternion.angle(quaternion.from_matrix(mine[..., :3]), quaternion.from_matrix(wanted[..., :3]))
        assert np.degrees(off).max() < 0.1
        np.testing.assert_allclose(
            found.distance[:, k], np.linalg.norm(mine[..., 3] - wanted[..., 3], axis=-1), atol=2e-6
        )


def test_three_steps_do_when_warm():
    hero, start, targets = body_and_targets(48, 1)
    solver = Solver(hero, [Effector(n, rotation=0.5) for n in BODY])
    before = solver.solve(start, targets)
    # A frame later everything has moved by a centimetre and a degree or two.
    rng = np.random.default_rng(2)
    shift = rng.normal(0, 0.01, 3)
    moved = {n: m + (rng.normal(0, 0.002, 3) + shift)[:, None] * [0, 0, 0, 1] for n, m in targets.items()}
    found = solver.solve(start, moved, warm=before, steps=3)
    assert found.distance.max() < 1e-4 and np.degrees(found.angle).max() < 0.1


def test_an_effector_without_a_target_stays_where_the_pose_has_it():
    hero = mannequin()
    pose = hero.clips["run"].sample(0.2)
    solver = Solver(hero, ["@left_hand", "@left_foot", "@right_foot"])
    found = solver.solve(
        pose, {"@left_hand": model(hero.skeleton, pose, "@left_hand")[:, 3] + (0.05, 0.1, 0)}
    )
    for foot in ("@left_foot", "@right_foot"):
        was, now = (model(hero.skeleton, p, foot)[:, 3] for p in (pose, found.pose))
        np.testing.assert_allclose(now, was, atol=1e-4)


def test_a_pose_that_is_at_its_targets_stays_as_it_is():
    hero = mannequin()
    pose = hero.clips["walk"].sample(0.3)
    found = Solver(hero, list(BODY)).solve(pose, {})
    assert np.degrees(quaternion.angle(found.pose.rotation, pose.rotation)).max() < 0.05
    np.testing.assert_allclose(found.pose.translation, pose.translation, atol=1e-5)
    other = [j for j in range(len(hero.skeleton)) if j not in Solver(hero, list(BODY)).joints]
    np.testing.assert_array_equal(found.pose.rotation[other], pose.rotation[other])


def test_a_crowd_gives_the_bits_of_its_characters_one_by_one():
    hero, start, targets = body_and_targets(19, 3)
    limits = JointLimits.from_clips(hero)
    solver = Solver(
        hero, [Effector(n, rotation=0.3) for n in BODY], limits=limits, floor=["@left_toes"], steps=4
    )
    crowd = solver.solve(start, targets)
    for n in (0, 7, 18):
        one = solver.solve(start[n], {k: v[n] for k, v in targets.items()})
        assert one.pose == crowd.pose[n]
        np.testing.assert_array_equal(one.distance, crowd.distance[n])


def test_other_joints_than_those_named_do_not_turn():
    hero = mannequin()
    skeleton, pose = hero.skeleton, hero.clips["idle"].sample(0.1)
    arm = ["@left_upper_arm", "@left_lower_arm"]
    target = model(skeleton, pose, "@left_hand")[:, 3] + (0.02, 0.1, 0.1)
    found = Solver(hero, ["@left_hand"], joints=arm).solve(pose, {"@left_hand": target})
    assert found.distance[0] < 1e-4
    changed = np.flatnonzero((found.pose.rotation != pose.rotation).any(-1))
    assert changed.tolist() == sorted(skeleton.index(j) for j in arm)
    np.testing.assert_array_equal(found.pose.translation, pose.translation)


def test_an_axis_points_at_a_place():
    hero = mannequin()
    pose = hero.clips["walk"].sample(np.linspace(0, 1, 5))
    place = np.array([1.0, 1.2, 2.0])
    feet = [Effector("@left_foot"), Effector("@right_foot")]
    solver = Solver(hero, [Effector("@head", position=0, aim=1, axis=(0, 0, 1)), *feet])
    found = solver.solve(pose, {"@head": Goal(aim=place)})
    matrix = model(hero.skeleton, found.pose, "@head")
    way = place - matrix[..., 3]
    cosine = (matrix[..., 2] * way).sum(-1) / np.linalg.norm(way, axis=-1)
    assert np.degrees(np.arccos(np.clip(cosine, -1, 1))).max() < 0.1
    assert found.aim_angle[:, 0].max() < np.radians(0.1)


def test_a_limb_bends_towards_its_pole():
    skeleton = chain([0.4, 0.4], names=("upper", "mid", "tip"))
    bent = turned(skeleton.rest, np.array([[0.4, 0, 0], [-0.8, 0, 0], [0, 0, 0]]))
    solver = Solver(skeleton, [Effector("tip", pole=1.0)], joints=["upper", "mid"], steps=20)
    for angle in (0.3, 1.5, 2.8, -2.5):
        pole = np.array([np.sin(angle), 0.3, np.cos(angle)])
        found = solver.solve(bent, {"tip": Goal((0.0, 0.6, 0.0), pole=pole)})
        assert found.distance[0] < 1e-4
        elbow = model(skeleton, found.pose, "mid")[:, 3]
        # Isosceles: half of the line is 0.3, so the elbow is sqrt(0.16 - 0.09) off it.
        off = np.array([elbow[0], elbow[2]])
        np.testing.assert_allclose(off, np.sqrt(0.07) * np.array([np.sin(angle), np.cos(angle)]), atol=1e-3)


def test_reach_softens_before_it_ends():
    skeleton = chain([0.5, 0.5])
    bent = turned(skeleton.rest, np.array([[0.3, 0, 0], [-0.6, 0, 0], [0, 0, 0]]))
    solver = Solver(skeleton, [Effector("j2", soft=0.2)], joints=["j0", "j1"], steps=30)
    heights = np.linspace(0.5, 2.0, 31)
    goals = np.stack([np.zeros(31), heights, np.zeros(31)], -1)
    found = solver.solve(bent, {"j2": goals})
    got = model(skeleton, found.pose, "j2")[:, 1, 3]
    # s + (L - s) t / (1 + t) from s = 0.8 on, with L = 1.
    t = np.maximum(heights - 0.8, 0) / 0.2
    np.testing.assert_allclose(got, np.where(heights > 0.8, 0.8 + 0.2 * t / (1 + t), heights), atol=2e-3)
    assert np.diff(got).min() > 0


def test_points_stay_above_the_floor():
    hero = mannequin()
    pose = hero.clips["idle"].sample(0.0)
    low = model(hero.skeleton, pose, "@hips")[:, 3] - (0, 0.4, 0)
    feet = [Effector("@left_foot", position=0.02), Effector("@right_foot", position=0.02)]
    ankle = float(model(hero.skeleton, pose, "@left_foot")[1, 3])
    plane = (0.0, 1.0, 0.0, ankle)
    kwargs = {"hips": 0, "steps": 20}
    sunk = Solver(hero, ["@hips", *feet], **kwargs).solve(pose, {"@hips": low})
    held = Solver(hero, ["@hips", *feet], floor=["@left_foot", "@right_foot"], **kwargs).solve(
        pose, {"@hips": low}, floor=plane
    )
    heights = [float(model(hero.skeleton, p.pose, "@left_foot")[1, 3]) for p in (sunk, held)]
    assert heights[1] > ankle - 0.002
    assert held.distance[0] < 0.01


@pytest.mark.parametrize("beyond", [1.02, 1.3, 3.0])
def test_targets_out_of_reach_neither_shake_nor_explode(beyond):
    """A hand that follows a circle round the shoulder, outside its reach: the arm points there, frame after frame."""
    hero = mannequin()
    skeleton, pose = hero.skeleton, hero.clips["idle"].sample(0.0)
    places = skeleton.to_model(pose)[:, :, 3]
    a, b, c = (places[skeleton.index(f"@left_{n}")] for n in ("upper_arm", "lower_arm", "hand"))
    reach = np.linalg.norm(b - a) + np.linalg.norm(c - b)
    solver = Solver(hero, ["@left_hand"], joints=["@left_upper_arm", "@left_lower_arm"])
    turn = np.linspace(0, np.pi, 90)
    circle = a + beyond * reach * np.stack([np.sin(turn), np.cos(turn), np.full(90, 0.2)], -1) / np.sqrt(1.04)
    hands, last = [], solver.solve(pose, {"@left_hand": circle[0]})
    for place in circle:
        last = solver.solve(pose, {"@left_hand": place}, warm=last, steps=3)
        hands.append(model(skeleton, last.pose, "@left_hand")[:, 3])
    hands = np.array(hands)
    np.testing.assert_allclose(np.linalg.norm(hands - a, axis=-1), reach, rtol=0.06)
    way = np.diff(hands, axis=0)
    speed, wanted = np.linalg.norm(way, axis=-1), np.linalg.norm(np.diff(circle, axis=0), axis=-1) / beyond
    assert speed[5:].max() < 1.2 * wanted.max()
    assert np.linalg.norm(np.diff(way[5:], axis=0), axis=-1).max() < 0.2 * wanted.max()


def test_a_body_that_cannot_reach_comes_to_rest():
    """Targets some decimetres off in all directions: a crowd that is asked for them again and again stands still."""
    hero, start, targets = body_and_targets(48, 6)
    rng = np.random.default_rng(7)
    away = {n: m + rng.normal(0, 0.2, (48, 3))[:, :, None] * [0, 0, 0, 1] for n, m in targets.items()}
    for limits in (None, JointLimits.from_clips(hero)):
        solver = Solver(hero, [Effector(n, rotation=0.3) for n in BODY], limits=limits)
        last = solver.solve(start, away)
        for _ in range(25):
            before, last = last, solver.solve(start, away, warm=last, steps=3)
        places = [hero.skeleton.to_model(p.pose)[..., 3] for p in (before, last)]
        moved = np.linalg.norm(places[1] - places[0], axis=-1).max(axis=-1)
        assert np.median(moved) < 0.002
        assert moved.max() < 0.05
    assert last.distance.max() > 0.1


def test_a_step_is_that_of_dense_least_squares():
    """One step against J'J from finite differences of a float64 model of all residuals."""
    rng = np.random.default_rng(4)
    skeleton = random_skeleton(rng, 9)
    start = turned(skeleton.rest, rng.normal(0, 0.3, (9, 3)))
    goal = turned(start, rng.normal(0, 0.02, (9, 3)))
    effectors = [
        Effector("j8", rotation=0.7),
        Effector("j6", position=0.5, point=(0.1, 0, 0.05)),
        Effector("j5", rotation=1, position=0),
    ]
    solver = Solver(skeleton, effectors, posture=0.003, hips=2.0, steps=1)
    turns, places = frames(skeleton, goal.translation.astype(float), goal.rotation)
    targets, wanted = {}, []
    for e in effectors:
        j = skeleton.index(e.joint)
        targets[e.joint] = Goal(places[j] + quaternion.rotate(turns[j], np.array(e.point)), turns[j])
        wanted.append((j, e, targets[e.joint]))
    found = solver.solve(start, targets)
    size, mover = solver.tree.size, int(solver.tree.joints[solver.tree.flags & 2 > 0][0])
    free = sorted(solver.joints)
    home, above = frames(skeleton, start.translation.astype(float), start.rotation), skeleton.parents

    def apply(x):
        rotation, translation = start.rotation.copy(), start.translation.astype(float)
        for k, j in enumerate(free):
            back = quaternion.conjugate(home[0][above[j]]) if above[j] >= 0 else np.array([0, 0, 0, 1.0])
            local = quaternion.rotate(back, x[3 * k : 3 * k + 3])
            rotation[j] = quaternion.multiply(quaternion.normalize(np.append(local / 2, 1)), rotation[j])
        back = quaternion.conjugate(home[0][above[mover]]) if above[mover] >= 0 else np.array([0, 0, 0, 1.0])
        translation[mover] += quaternion.rotate(back, x[-3:]) * size
        return rotation, translation

    def residuals(x):
        rotation, translation = apply(x)
        turns, places = frames(skeleton, translation, rotation)
        out = []
        for j, e, target in wanted:
            point = places[j] + quaternion.rotate(turns[j], np.array(e.point))
            out.append(np.sqrt(e.position) * (target.position - point) / size)
            left = quaternion.multiply(target.rotation, quaternion.conjugate(turns[j]))
            out.append(np.sqrt(0.1 * e.rotation) * quaternion.log(left))
        return np.concatenate(out)

    n = 3 * len(free) + 3
    r0 = residuals(np.zeros(n))
    J = -np.stack([(residuals(h) - residuals(-h)) / 2e-5 for h in 1e-5 * np.eye(n)], -1)
    damping = 1e-4 + 4.0 * float(r0 @ r0)
    own = np.full(n, damping + 0.003)
    own[-3:] = damping + 0.003 * 2.0
    # Forces along the bones stiffen them: half the sum of a row of f . r of the lower one of each pair of joints.
    pull = {}
    for j in free:
        below = [(i, e, t) for i, e, t in wanted if i == j or j in skeleton.ancestors(i)]
        points = [home[1][i] + quaternion.rotate(home[0][i], np.array(e.point)) for i, e, _ in below]
        along = sum(e.position * (t.position - x) @ (x - home[1][j]) for (_, e, t), x in zip(below, points))
        pull[j] = max(float(along) / size**2, 0.0)
    for k, j in enumerate(free):
        upper = sum(a in free for a in (j, *skeleton.ancestors(j)))
        lower = sum(pull[i] for i in free if j in skeleton.ancestors(i))
        own[3 * k : 3 * k + 3] += 0.5 * (upper * pull[j] + lower)
    step = np.linalg.solve(J.T @ J + np.diag(own), J.T @ r0)
    rotation, translation = apply(step)
    assert np.abs(step).max() > 0.01
    np.testing.assert_allclose(quaternion.angle(found.pose.rotation, rotation), 0, atol=3e-4)
    np.testing.assert_allclose(found.pose.translation, translation, atol=2e-4)


def test_two_effectors_of_one_name_are_an_error_and_names_of_their_own_the_remedy():
    """A heel and a ball on one foot: each goes to its own target."""
    skeleton = chain([0.4, 0.3])
    with pytest.raises(ValidationError, match=r"two effectors.*'j2'.*name="):
        Solver(skeleton, [Effector("j2"), Effector("j2", point=(0, 0, 0.1))])
    solver = Solver(skeleton, [Effector("j2"), Effector("j2", point=(0, 0, 0.1), name="ball")], steps=30)
    bent = turned(skeleton.rest, np.array([[0.4, 0, 0], [-0.8, 0, 0], [0, 0, 0]]))
    found = solver.solve(bent, {"j2": (0.0, 0.6, 0.0), "ball": (0.1, 0.6, 0.0)})
    frame = model(skeleton, found.pose, "j2")
    np.testing.assert_allclose(frame[:, 3], (0, 0.6, 0), atol=1e-4)
    np.testing.assert_allclose(frame[:, 2], (1, 0, 0), atol=1e-3)
    with pytest.raises(UnknownNameError, match="effector"):
        solver.solve(bent, {"heel": (0.0, 0.6, 0.0)})


def test_a_scaled_body_reaches_as_a_plain_one_does():
    """Centimetres under a root that is scaled: the same places in metres."""
    plain = chain([0.4, 0.3, 0.2])
    rest = plain.rest.copy()
    rest.translation[1:] *= 100
    rest.scale[0] = 0.01
    small = mw.Skeleton(plain.names, plain.parents, rest)
    bent = np.array([[0.2, 0.1, 0], [0.3, 0, 0], [-0.4, 0, 0.1], [0, 0, 0]])
    target = {"j3": (0.2, 0.6, 0.1)}
    for skeleton in (plain, small):
        found = Solver(skeleton, ["j3"]).solve(turned(skeleton.rest, bent), target)
        np.testing.assert_allclose(model(skeleton, found.pose, "j3")[:, 3], target["j3"], atol=1e-4)


@pytest.mark.parametrize("factor", [0.01, 0.1, 30.0, 100.0])
def test_a_pose_of_another_size_than_the_rest_pose_converges_as_well(factor):
    """A root that is scaled in the pose and not at rest, as files have it whose clips are in another unit."""
    hero, start, targets = body_and_targets(16, 8)
    far = {n: np.concatenate([m[..., :3], factor * m[..., 3:]], -1) for n, m in targets.items()}
    large = start.copy()
    large.scale[:, 0] *= factor
    large.translation[:, 0] *= factor
    solver = Solver(hero, [Effector(n, rotation=0.5) for n in BODY])
    found = solver.solve(large, far)
    assert found.distance.max() < 1e-4 * factor
    assert np.degrees(found.angle.max()) < 0.1
    plain = solver.solve(start, targets)
    assert quaternion.angle(found.pose.rotation, plain.pose.rotation).max() < np.radians(2)


def test_a_soft_arm_out_of_reach_makes_the_trunk_lean_as_far_as_it_pulls():
    hero = mannequin()
    pose = hero.clips["idle"].sample(0.0)
    target = np.array([0.3, 1.3, 0.9])
    feet = [Effector(f"@{side}_foot", position=3, rotation=1) for side in ("left", "right")]
    shoulder = model(hero.skeleton, pose, "@left_upper_arm")[:, 3]
    arm = np.linalg.norm(model(hero.skeleton, pose, "@left_lower_arm")[:, 3] - shoulder) + np.linalg.norm(
        model(hero.skeleton, pose, "@left_hand")[:, 3] - model(hero.skeleton, pose, "@left_lower_arm")[:, 3]
    )
    leans, lengths = [], []
    for pull in (0.0, 1.0):
        hand = Effector("@left_hand", soft=0.05, pull=pull)
        found = Solver(hero, [hand, *feet], steps=24).solve(pose, {"@left_hand": target})
        there, tip = (model(hero.skeleton, found.pose, n)[:, 3] for n in ("@left_upper_arm", "@left_hand"))
        leans.append(float((there - shoulder) @ (target - shoulder) / np.linalg.norm(target - shoulder)))
        lengths.append(np.linalg.norm(tip - there) / arm)
        assert found.distance[1:].max() < 0.005
    assert leans[0] < 0.25 and leans[1] > leans[0] + 0.2
    assert found.distance[0] < 0.08  # the arm hardly lacks anything once the trunk has leaned
    assert max(lengths) < 1 - 1e-3  # and is never quite straight


def test_distances_are_true_where_joints_are_scaled_unevenly():
    plain = chain([0.4, 0.3, 0.2])
    rest = plain.rest.copy()
    rest.scale[1] = (1.0, 1.5, 0.7)
    skeleton = mw.Skeleton(plain.names, plain.parents, rest)
    bent = turned(skeleton.rest, np.array([[0.2, 0.1, 0], [0.3, 0, 0], [-0.4, 0, 0.5], [0, 0, 0]]))
    target = np.array([0.2, 0.6, 0.3])
    found = Solver(skeleton, ["j3"]).solve(bent, {"j3": target})
    off = np.linalg.norm(model(skeleton, found.pose, "j3")[:, 3] - target)
    assert off > 1e-3
    np.testing.assert_allclose(found.distance[0], off, atol=1e-6)


def test_awkward_problems_have_finite_answers():
    skeleton = chain([0.0, 0.4, 0.0, 0.3])
    everywhere = [
        Effector(
            j,
            rotation=1,
            aim=1,
            pole=1 if j > 1 else 0,
            soft=0.1 if j > 1 else 0,
            name=name and f"{name} {j}",
        )
        for name in (None, "again", "and again")
        for j in range(5)
    ]
    crowded = Solver(skeleton, everywhere, floor=["j4"])
    nan, far = np.full(3, np.nan), np.full(3, 1e30)
    for place in (np.zeros(3), nan, far, np.full(3, np.inf)):
        found = crowded.solve(
            skeleton.rest, {str(j): Goal(place, np.zeros(4), aim=place, pole=place) for j in range(5)}
        )
        assert np.isfinite(found.pose.rotation).all() and np.isfinite(found.pose.translation).all()
        np.testing.assert_allclose(np.linalg.norm(found.pose.rotation, axis=-1), 1, atol=1e-5)
    root = Solver(skeleton, ["j0"]).solve(skeleton.rest, {"j0": (1.0, 2.0, 3.0)})
    np.testing.assert_allclose(root.pose.translation[0], (1, 2, 3), atol=1e-4)
    point = mw.Skeleton(("only",), [-1])
    assert Solver(point, ["only"]).solve(point.rest, {"only": (0.1, 0.0, 0.0)}).distance[0] < 1e-4


def test_a_nan_in_one_character_leaves_the_others_as_they_are():
    hero, start, targets = body_and_targets(17, 5)
    solver = Solver(hero, list(BODY), steps=4)
    good = solver.solve(start, targets)
    targets["@left_hand"] = targets["@left_hand"].copy()
    targets["@left_hand"][3] = np.nan
    odd = solver.solve(start, targets)
    others = [n for n in range(17) if n != 3]
    np.testing.assert_array_equal(odd.pose.rotation[others], good.pose.rotation[others])
    assert np.isfinite(odd.pose.rotation).all()


def test_what_cannot_be_meant_is_said_in_words():
    skeleton = chain([0.4, 0.3])
    solver = Solver(skeleton, ["j2"])
    with pytest.raises(UnknownNameError, match="effector"):
        solver.solve(skeleton.rest, {"j1": (0, 0, 0)})
    with pytest.raises(ValidationError, match="expected a place"):
        solver.solve(skeleton.rest, {"j2": (0, 0)})
    with pytest.raises(ValidationError, match="do not go together"):
        solver.solve(skeleton.rest.broadcast_to((3,)), {"j2": np.zeros((4, 3))})
    with pytest.raises(ValidationError, match="carries no effector"):
        Solver(skeleton, ["j1"], joints=["j2"])
    with pytest.raises(ValidationError, match="at least one"):
        Solver(skeleton, [])
    with pytest.raises(ValidationError, match="two joints above"):
        Solver(skeleton, [Effector("j1", pole=1)])
    with pytest.raises(WrongTypeError, match="in a list"):
        Solver(skeleton, "j2")
    with pytest.raises(MarrowError, match="position"):
        Effector("j2", position=-1)
    with pytest.raises(ValidationError, match="joints"):
        Solver(skeleton, ["j2"], limits=JointLimits.given(chain([1.0]), {"j0": JointLimit(swing=0.5)}))


class Plainly:
    """A frame that the kernel runs as Python, lane formulas in NumPy."""

    def __init__(self, frame):
        self.frame, self.sizes, self.put = frame, frame.sizes, frame.put

    def run(self):
        ik_solve.run_plainly(self.frame)


def test_python_gives_the_bits_of_machine_code(monkeypatch):
    skeleton = chain([0.3, 0.4], names=("upper", "mid", "tip"))
    bent = turned(skeleton.rest, np.array([[0.4, 0, 0], [-0.8, 0.1, 0], [0, 0, 0]]))
    limits = JointLimits.given(skeleton, {"mid": JointLimit(swing=(0.5, 0.9), twist=0.1)})
    reach = Effector("tip", rotation=0.5, aim=0.3, pole=0.2, soft=0.05)
    solver = Solver(skeleton, [reach], limits=limits, floor=["tip"], steps=2)
    goal = {"tip": Goal((0.1, 0.6, 0.2), (0.1, 0.2, 0.3, 0.9), (1.0, 0.5, 0.0), (0.2, 0.3, 0.9))}
    compiled = solver.solve(bent, goal, floor=(0, 1, 0, 0.65))
    monkeypatch.setattr(solver, "_frames", FramePool(lambda: Plainly(solver._frame(1, 1))))
    plain = solver.solve(bent, goal, floor=(0, 1, 0, 0.65))
    assert plain.pose == compiled.pose
    np.testing.assert_array_equal(plain.distance, compiled.distance)


def test_soft_reach_counts_from_the_joint_to_a_point_beyond_it() -> None:
    """A point 7 cm off the wrist and a target a little out of reach: the hand stops near it, and nothing runs away."""
    hero = mw.samples.mannequin()
    point = np.array([0.0, 0.07, 0.0])
    hand = hero.skeleton.humanoid["leftHand"]
    frame = hero.skeleton.rest_model[hand].astype(np.float64)
    target = frame[:, :3] @ point + frame[:, 3] + [-0.15, -0.1, 0.2]
    solver = mw.ik.Solver(hero, [mw.ik.Effector("@left_hand", soft=0.03, point=point)])
    found = solver.solve(hero.skeleton.rest, {"@left_hand": target})
    assert found.distance.max() < 0.12
