"""`LEGS`: puts feet where they belong: longer or shorter strides, feet held where they stand, feet on uneven ground.

Each foot (the tip of a limb) goes from where the pose has it to a goal, in this order:

- *stride*: its way ahead of or behind where its hip rests over the root is scaled along a direction;
- *hold*: while it is down, the lower one of two points of its sole (heel and ball) stays where it was in the world, and the foot
  does not turn about the vertical. A foot that has strayed further from the pose than a radius is let go until it next comes
  down; what is left of a stray dies out by a half-life;
- *ground*: what the pose has above the plane y = 0 it has above what it stands on (`footholds.py`). A foot that swings goes from
  the plane that it left to the one where it lands, and over what is in between.

Then the pelvis moves. On the ground it follows the line through the footholds, at where the body is between them, on a critically
damped spring, and goes down as far as the farthest foot needs to be reached; the spine leans. Then the limbs are solved, and may
stretch a little.

What it reads for an instance, its vectors: factor and direction x, z of the stride, then for each leg `LEG_VECTORS` numbers.
"""

from __future__ import annotations

import math

from marrow.kernels.language.constants import Constants, column, count, flag, joint, memory, number, whole
from marrow.kernels.language.elementary import atan2, cos, sin
from marrow.kernels.operations.footholds import (
    HEEL_CLEAR,
    LEG_VECTORS,
    PATH,
    SUPPORT,
    between,
    carried,
    heading,
    hurdle,
    landing,
    left_after,
    plane_at,
    plane_height,
    progress,
    put_plane,
    sloped,
    smooth_step,
    sprung,
    support,
    swings,
    towards,
)
from marrow.kernels.operations.legs_reference import reference_legs
from marrow.kernels.operations.limbs import HEADER, keeps, limb_frames, ready_states, solve_framed
from marrow.kernels.operations.record import Operation
from marrow.kernels.operations.spatial import (
    UP,
    about,
    conjugated,
    length_of,
    local_rotation,
    minus,
    model_place,
    model_point,
    model_rotation,
    move_joint,
    multiplied,
    plus,
    put_rotation,
    root_above,
    shortest_turn,
    turned,
    unit_or,
)

__all__ = ["LEGS", "LEG_SET", "LEG_STATE", "LEG_VECTORS"]

HEEL, BALL, STRAY, TURNED, HOLD, KNOWN, FOOT = 0, 3, 6, 8, 9, 10, 11
HOME, TARGET, SWINGS, LIFT, HURDLE, GROUND, FLAT, LEFT, LANDS = 15, 21, 27, 28, 29, 30, 36, 37, 40
LEG_STATE = 43
"""What a leg keeps: heel (3) and ball (3) of the pose, stray x, z and about the vertical, whether it is held (0 free, 1 held, 2 let
go), whether all this is known, the foot's rotation in the pose (4); the planes (x, z, height, normal) that it left and where it
stands or lands; how far it is on its way from one to the other (0: it stands), how much it is lifted and over what; the
plane it is on now and how much of its pitch is taken away; and, for the plane that it left and for the other: how far
ahead it goes there, and how much of its front, and of its back, has nothing below it."""
RISE, SPEED, LEVEL, SHORT, DROP, DROPS, LEAN, LEANS, SURE = 0, 1, 2, 3, 4, 5, 6, 7, 8
BODY_STATE = 9
"""What a body keeps: how high its pelvis is over the pose and how fast it rises, the level of the footholds below it, how far legs were
too short, how far it is down therefore and how fast, how far the spine leans and how fast, and whether all this is known."""


QUICK, SLOW = 0.1, 5.0
"""Feet are lifted faster than they follow the ground, and let go more slowly of what is ahead of where they were to be: by these parts
of the half-life."""
ARRIVES = 0.98
"""A foot is on the level where it lands when so much of its way is done: it goes on a little after it has touched."""
STEEPEST = 1.0
"""How steep what the pelvis follows at once may be."""
SHORT_FOR = 2.5
"""Seconds in which a leg that was too short is half forgotten."""
FALL, FALL_BY = 0.7, 0.2
"""How much lower than its footholds a pelvis is when a foot comes down below the other: this part of how far; and by which part of the
way of that foot the spring is told."""


def leg_numbers(work, legs):
    return 3 + LEG_VECTORS * legs.count


def leg_memory(work, legs):
    return 1 + 2 * (LEG_STATE * legs.count + BODY_STATE)


def remembers(work, legs):
    """All but strides need to know what was before."""
    return legs.memory >= 0 or legs.what <= 1


LEG_SET = Constants(
    "legs",
    "legs whose feet are put where they belong",
    rules=(remembers,),
    count=count("how many legs"),
    pelvis=joint("the joint that carries them", none="none"),
    vectors=column("stride, contacts and ground (see `legs.py`)", leg_numbers),
    memory=memory("what they keep", leg_memory, none="nothing"),
    header=column("the header of the instance", HEADER, where=keeps),
    what=whole("what to do: 1 stride, 2 hold, 4 ground; a sum"),
    stretch=number("how far limbs may stretch: a factor"),
    radius=number("how far a foot may be held from the pose"),
    let_go=number("the half-life of what is left when it is not, in seconds"),
    slow=number("the speed below which a foot is down"),
    low=number("the height below which it is"),
    most_turn=number("how far a foot may be turned, in radians"),
    most_step=number("the highest step"),
    settle=number("the half-life by which feet follow the ground, in seconds"),
    steepest=number("the steepest slope that feet tilt to"),
    most_drop=number("how far the pelvis goes down"),
    ease=number("the half-life by which the pelvis follows, in seconds"),
    lean=number("how much of the slope the spine leans"),
    spine=joint("the joint that leans", none="none"),
    pitches=flag("whether the pelvis pitches with the ground, as it has legs ahead and behind"),
    apart=flag(
        "whether no leg hangs on another or on the spine: a pelvis that rises takes all along as they are"
    ),
    upper=joint("where a leg begins", each="count"),
    mid=joint("where it bends", each="count"),
    tip=joint("its foot", each="count"),
    spare=number("the way it bends when straight, in the frame of `upper`", 3, each="count"),
    heel=number("in the frame of `tip`", 3, each="count"),
    ball=number("in the frame of `tip`", 3, each="count"),
    rest=number(
        "how high the ball is over the sole: toes bend there, and it is held rather than what is below it",
        each="count",
    ),
    over=number("where `upper` rests over the root: x, z", 2, each="count"),
    forward=number("where it points, in the frame of `tip`", 3, each="count"),
    sole=number(
        "how far heel and ankle are behind the ball, and the toes ahead, along the sole", 3, each="count"
    ),
    wide=number("half the width of the sole at the ball", each="count"),
    back=number("the end of the heel, in the frame of `tip`", 3, each="count"),
    toes=joint("the joint of the toes, or `tip`", each="count"),
    front=number("the tip of the toes, in the frame of `toes`", 3, each="count"),
)


def vector_at(array, at):
    return (array[at], array[at + 1], array[at + 2])


def put_vector(array, at, v):
    array[at], array[at + 1], array[at + 2] = v[0], v[1], v[2]


def twist(q):
    """How far a rotation turns about the vertical."""
    y, w = (q[1], q[3]) if q[3] >= 0.0 else (-q[1], -q[3])
    return 2.0 * atan2(y, w) if y != 0.0 or w != 0.0 else 0.0


def strode(p, root, hip_x, hip_z, factor, x, z):
    """A foot whose way ahead of where its hip rests is scaled along a direction; as it is where there is none."""
    size = math.sqrt(x * x + z * z)
    if not (size > 1e-9 and math.isfinite(size + factor)):
        return p
    x, z = x / size, z / size
    more = ((p[0] - root[0] - hip_x) * x + (p[2] - root[2] - hip_z) * z) * (factor - 1.0)
    return (p[0] + more * x, p[1], p[2] + more * z)


def hold(kept, old, new, legs, k, vectors, down, p, q):
    """Where a foot has strayed to from the pose (x, z, about the vertical), from what was kept at `old`, and keeps that at
    `new`."""
    heel, ball, header = plus(p, turned(q, legs.heel[k])), plus(p, turned(q, legs.ball[k])), legs.header
    dt = max(vectors[header + 1], 0.0)
    move, turn = (
        vector_at(vectors, header + 2),
        (vectors[header + 5], vectors[header + 6], vectors[header + 7], vectors[header + 8]),
    )
    x, z, yaw, held = 0.0, 0.0, 0.0, 0.0
    on_ball = ball[1] - legs.rest[k] < heel[1]
    if kept[old + KNOWN] != 0.0:
        was = vector_at(kept, old + BALL) if on_ball else vector_at(kept, old + HEEL)
        sole = ball if on_ball else heel
        slid = minus(sole, plus(turned(turn, was), move))
        stray = turned(turn, (kept[old + STRAY], 0.0, kept[old + STRAY + 1]))
        x, z, yaw, held = stray[0], stray[2], kept[old + TURNED], kept[old + HOLD]
        touches = down > 0.5
        if down < 0.0:
            touches = held > 0.0
            if dt > 0.0:
                height = min(heel[1], ball[1] - legs.rest[k])
                touches = height < legs.low and length_of(slid) < legs.slow * dt
        if touches and held == 1.0:
            x, z = x - slid[0], z - slid[2]
            before = (kept[old + FOOT], kept[old + FOOT + 1], kept[old + FOOT + 2], kept[old + FOOT + 3])
            yaw += twist(multiplied(multiplied(turn, before), conjugated(q)))
            if math.sqrt(x * x + z * z) > legs.radius or abs(yaw) > legs.most_turn:
                held = 2.0
                far = math.sqrt(x * x + z * z)
                if far > legs.radius:
                    x, z = x * legs.radius / far, z * legs.radius / far
                yaw = min(max(yaw, -legs.most_turn), legs.most_turn)
        elif touches and held == 0.0:
            held = 1.0
        else:
            left = left_after(dt, legs.let_go)
            x, z, yaw = x * left, z * left, yaw * left
            held = 2.0 if touches else 0.0
    elif down > 0.5:
        held = 1.0
    put_vector(kept, new + HEEL, heel)
    put_vector(kept, new + BALL, ball)
    kept[new + STRAY], kept[new + STRAY + 1], kept[new + TURNED], kept[new + HOLD] = x, z, yaw, held
    kept[new + FOOT], kept[new + FOOT + 1], kept[new + FOOT + 2], kept[new + FOOT + 3] = q


def follow_ground(kept, old, new, legs, k, vectors, here, root, ball, u, heel, toe, toe_up):
    """The plane that a foot is on whose ball, heel and toes are there, that points along `u` and whose ball is `toe_up` higher than
    its heel as it is pitched; keeps it at `new`."""
    header = legs.header
    dt, move = max(vectors[header + 1], 0.0), vector_at(vectors, header + 2)
    turn = (vectors[header + 5], vectors[header + 6], vectors[header + 7], vectors[header + 8])
    lands_x, lands_z = landing(vectors, here, header)
    swinging = swings(lands_x, lands_z)
    # What is further away, from the foot or from the body, may be higher: stairs.
    away_x, away_z = ball[0] + lands_x - root[0], ball[2] + lands_z - root[2]
    most = legs.most_step + math.sqrt(
        max(lands_x * lands_x + lands_z * lands_z, away_x * away_x + away_z * away_z)
    )
    known = (
        kept[old + KNOWN] != 0.0 and abs(move[0]) + abs(move[2]) < 2.0 and abs(move[1]) < 2.0 * legs.most_step
    )
    stays = known and not swinging and kept[old + LANDS] > 0.01
    goes = swinging or not known or stays
    found, height, along, side, ahead, front, back = support(
        vectors, here + SUPPORT, legs.sole[k], legs.wide[k], most, legs.steepest, goes, stays
    )
    at = sloped(ball[0] + lands_x, ball[2] + lands_z, height, along, side, u, legs.steepest)
    lands = (ahead, front, back)
    left = left_after(dt, legs.settle)
    home, leaves = at, lands
    if known:
        was, had = carried(plane_at(kept, old + TARGET), move, turn), vector_at(kept, old + LANDS)
        if swinging and kept[old + SWINGS] == 0.0:
            home, leaves = was, had
        else:
            # What is higher than it seemed is in the foot: out of it at once.
            higher = at[2] > plane_height(was, at[0], at[1])
            if stays and not higher:
                # What it came down on ahead of where the ground is asked for may be missed now and then: it lets go of that slowly.
                left = left_after(dt, SLOW * legs.settle)
            at = towards(was, at, left_after(dt, QUICK * legs.settle) if higher else left)
            if not found and abs(at[2]) < 1e-4:
                at = (at[0], at[1], 0.0, 0.0, 1.0, 0.0)
            lands = between(lands, had, left)
            home, leaves = at, lands
            if swinging:
                home, leaves = carried(plane_at(kept, old + HOME), move, turn), vector_at(kept, old + LEFT)
    part = min(progress(home, at, ball[0], ball[2]) / ARRIVES, 1.0) if swinging else 1.0
    eased = smooth_step(part)
    stands = between(leaves, lands, eased)
    x, z = ball[0] + stands[0] * u[0], ball[2] + stands[0] * u[1]
    n = unit_or(between((home[3], home[4], home[5]), (at[3], at[4], at[5]), eased), UP)
    first = plane_height(home, x, z)
    ground = (x, z, first + part * (plane_height(at, x, z) - first), n[0], n[1], n[2])
    # With nothing below its front a foot does not roll over the ball; with nothing below its back it comes down flat.
    flat = lands[2] * eased
    if toe_up < 0.0:
        flat = leaves[1] * (1.0 - smooth_step(min(8.0 * part, 1.0))) if swinging else lands[1]
    need, over = 0.0, 0.0
    if swinging:
        # Its toes or its heel come down where its pitch is taken away.
        long, up = legs.sole[k][0], flat * toe_up
        low_toe = (toe[0], toe[1] - max(up, 0.0) * (1.0 + legs.sole[k][2] / long), toe[2])
        room = HEEL_CLEAR * long
        low_heel = (heel[0] - room * u[0], heel[1] + min(up, 0.0), heel[2] - room * u[1])
        under = (ball[0], ball[1] - legs.rest[k], ball[2])
        need = hurdle(
            vectors, here + PATH, most, ground, low_heel, under, low_toe, lands_x, lands_z, stands[0]
        )
        over = need
    lift = need
    if known:
        # It rises at once, and comes down before it lands.
        fades = 1.0 - smooth_step(min(max(4.0 * part - 3.0, 0.0), 1.0))
        over = max(need, kept[old + HURDLE] * left)
        goal, lifted = max(need, over * fades), kept[old + LIFT]
        lift = goal + left_after(dt, (QUICK if lifted < goal else 0.5) * legs.settle) * (lifted - goal)
        if lift > need:
            lift = max(need, min(lift, over * fades))
    put_plane(kept, new + HOME, home)
    put_plane(kept, new + TARGET, at)
    put_plane(kept, new + GROUND, (ground[0], ground[1], ground[2] + max(lift, 0.0), n[0], n[1], n[2]))
    kept[new + SWINGS], kept[new + LIFT] = max(part, 1e-6) if swinging else 0.0, lift
    kept[new + HURDLE], kept[new + FLAT] = over, flat
    put_vector(kept, new + LEFT, leaves)
    put_vector(kept, new + LANDS, lands)


def steepness(kept, plane, x, z):
    """How steep a plane is along x, z."""
    return -(kept[plane + 3] * x + kept[plane + 5] * z) / max(kept[plane + 4], 0.2)


def body_slope(kept, at, legs, u):
    """How steep it is along `u` from the feet behind to the feet ahead: the straight line nearest to all of them."""
    ways, heights, squares, both = 0.0, 0.0, 0.0, 0.0
    for k in range(legs.count):
        plane = at + LEG_STATE * k + TARGET
        way, height = kept[plane] * u[0] + kept[plane + 1] * u[1], kept[plane + 2]
        ways, heights, squares, both = ways + way, heights + height, squares + way * way, both + way * height
    n = 1.0 * legs.count
    spread = squares - ways * ways / n
    slope = (both - ways * heights / n) / spread if spread > 1e-4 else 0.0
    return min(max(slope, -legs.steepest), legs.steepest)


def foothold_line(kept, at, legs, root, x, z, further, body):
    """The height of the line through the footholds at `further` ahead of the body, which goes along x, z; and how steep it is. A foot
    that swings has two: that it left, and where it lands. Hips ahead of and behind the body are on a slope of `body`."""
    behind, ahead, low, high, last, next = -1e9, 1e9, 0.0, 0.0, 0.0, 0.0
    for k in range(legs.count):
        hip_x, hip_z = legs.over[k]
        for which in range(2):
            plane = at + LEG_STATE * k + (TARGET if which == 0 else HOME)
            away_x, away_z = kept[plane] - root[0], kept[plane + 1] - root[2]
            way = (away_x - hip_x) * x + (away_z - hip_z) * z - further
            # Its plane at the line that the body goes along.
            height = kept[plane + 2] - steepness(kept, plane, z, -x) * (away_x * z - away_z * x)
            height -= body * (hip_x * x + hip_z * z)
            if way <= 0.0 and way > behind:
                behind, low, last = way, height, steepness(kept, plane, x, z)
            if way > 0.0 and way < ahead:
                ahead, high, next = way, height, steepness(kept, plane, x, z)
    # Before the first and behind the last it goes on as the ground does there.
    if behind < -1e8:
        return high - ahead * next, next
    if ahead > 1e8:
        return low - behind * last, last
    span = max(ahead - behind, 0.02)
    return low - behind / span * (high - low), (high - low) / span


def fall_ahead(kept, at, legs):
    """How far down the foot goes that swings, from the other one of two, as far as it is on its way."""
    fall = 0.0
    if legs.count == 2:
        for k in range(2):
            here, other = at + LEG_STATE * k, at + LEG_STATE * (1 - k)
            if kept[here + SWINGS] > 0.0 and kept[other + SWINGS] == 0.0:
                part = min(kept[here + SWINGS] / FALL_BY, 1.0)
                fall = max(fall, part * (kept[other + TARGET + 2] - kept[here + TARGET + 2]))
    return fall


def follow_footholds(kept, old, new, legs, vectors, at, root, u, leg):
    """How high the pelvis is over the pose, and how far the spine leans; keeps them at `new`. The footholds are those at `at`."""
    header = legs.header
    dt, down = max(vectors[header + 1], 0.0), vectors[header + 3]
    x, z = -vectors[header + 2], -vectors[header + 4]
    pace = math.sqrt(x * x + z * z)
    x, z = (x / pace, z / pace) if pace > 0.1 * dt else u
    level, slope, body = 0.0, 0.0, 0.0
    if legs.pitches != 0.0:
        body = body_slope(kept, at, legs, u)
    for k in range(5):
        # The line without its corners.
        one, steep = foothold_line(
            kept, at, legs, root, x, z, (k - 2) * 0.11 * leg, body * (x * u[0] + z * u[1])
        )
        level, slope = level + 0.2 * one, slope + 0.2 * steep
    rise, speed, lean, leans = level, 0.0, legs.lean * atan2(slope, 1.0), 0.0
    if legs.pitches != 0.0:
        lean = -atan2(body, 1.0)
    if kept[old + SURE] != 0.0 and abs(level - kept[old + LEVEL] - down) < legs.most_step:
        rise, speed, leans = kept[old + RISE] + down, kept[old + SPEED], kept[old + LEANS]
        if dt > 0.0:
            # The line goes on as it rose, but no steeper than who walks on it can: what is more is a step to catch up with.
            fastest = STEEPEST * pace + 0.05 * dt
            climbs = min(max(level - kept[old + LEVEL] - down, -fastest), fastest) / dt
            rise, speed = sprung(rise - level + climbs * dt, speed - climbs, dt, legs.ease)
            rise, speed = rise + level, speed + climbs
            more, leans = sprung(kept[old + LEAN] - lean, leans, dt, 2.0 * legs.ease)
            lean += more
        else:
            lean = kept[old + LEAN]
    kept[new + RISE], kept[new + SPEED], kept[new + LEVEL] = rise, speed, level
    kept[new + LEAN], kept[new + LEANS] = lean, leans


def follow_drop(kept, old, new, legs, vectors, short):
    """How far the pelvis is down so that legs are long enough that are `short`; keeps it at `new`. What was needed in a step is
    needed in the next."""
    dt, drop, drops = max(vectors[legs.header + 1], 0.0), short, 0.0
    if kept[old + SURE] != 0.0:
        short = max(short, kept[old + SHORT] * left_after(dt, SHORT_FOR))
        drop, drops = sprung(kept[old + DROP] - short, kept[old + DROPS], dt, 1.5 * legs.ease)
        drop += short
    kept[new + SHORT], kept[new + DROP], kept[new + DROPS] = short, drop, drops
    kept[new + SURE] = 1.0


def run_legs(work, n, top, at, time, weight):
    """Puts the feet of the pose at `top` where they belong."""
    rows, Jp, parents, vectors, goals = work.stack, work.Jp, work.parents, work.vectors[n], work.local
    legs = LEG_SET(work, at)
    count, v, memory, what = legs.count, legs.vectors, legs.memory, legs.what
    size = LEG_STATE * count + BODY_STATE
    if memory >= 0 and time < 1.0:
        ready_states(work.memory[n], memory, size, vectors[legs.header])
    # Where each foot should be, 16 numbers each: goal (3), turn (4), how far it may be from its hip; and goal (3) and turn (4) with
    # all of its pitch; and how far the worst one is too far away.
    root, u, short = (0.0, 0.0, 0.0), (0.0, 1.0), -1e9
    # Behind them the frames of limbs, 33 each.
    frames, rise = 16 * count, 0.0
    has_frames = legs.apart != 0.0 and legs.pitches == 0.0 and frames + 33 * count <= 16 * Jp
    for k in range(count):
        upper, mid, tip = legs.upper[k], legs.mid[k], legs.tip[k]
        here, g = v + 3 + LEG_VECTORS * k, 16 * k
        f = limb_frames(rows, top, Jp, parents, upper, mid, tip)
        hip, knee, p = (f[0], f[1], f[2]), (f[3], f[4], f[5]), (f[6], f[7], f[8])
        q = (f[29], f[30], f[31], f[32])
        if has_frames:
            keep_frames(goals, frames + 33 * k, f)
        reach = max(
            length_of(minus(p, hip)), 0.999 * (length_of(minus(knee, hip)) + length_of(minus(p, knee)))
        )
        goal, turn = p, (0.0, 0.0, 0.0, 1.0)
        pitched, pitch = goal, turn
        if what % 2 == 1 or what >= 4:
            root = model_place(rows, top, Jp, parents, root_above(parents, upper))
        if what % 2 == 1:
            hip_x, hip_z = legs.over[k]
            goal = strode(p, root, hip_x, hip_z, vectors[v], vectors[v + 1], vectors[v + 2])
        if memory >= 0:
            kept = work.memory[n]
            old, new = memory + 1 + LEG_STATE * k, memory + 1 + size + LEG_STATE * k
            if what % 4 >= 2:
                if time < 1.0:
                    hold(kept, old, new, legs, k, vectors, vectors[here], goal, q)
                goal = (goal[0] + kept[new + STRAY], goal[1], goal[2] + kept[new + STRAY + 1])
                turn = about(UP, kept[new + TURNED])
            pitched, pitch = goal, turn
            if what >= 4:
                turned_q = multiplied(turn, q)
                forward = turned(turned_q, legs.forward[k])
                u = heading(forward)
                toe_up = legs.sole[k][0] * forward[1]
                ball = plus(goal, turned(turned_q, legs.ball[k]))
                if time < 1.0:
                    moved = minus(goal, p)
                    lands_x, lands_z = landing(vectors, here, legs.header)
                    toe = goal
                    if swings(lands_x, lands_z):
                        toe = plus(model_point(rows, top, Jp, parents, legs.toes[k], legs.front[k]), moved)
                    heel = plus(goal, turned(turned_q, legs.back[k]))
                    follow_ground(kept, old, new, legs, k, vectors, here, root, ball, u, heel, toe, toe_up)
                ground = plane_at(kept, new + GROUND)
                tilt = shortest_turn(UP, (ground[3], ground[4], ground[5]), UP)
                over = (goal[0] - ball[0], goal[1], goal[2] - ball[2])
                spot = (ground[0], ground[2], ground[1])
                pitched, pitch = plus(spot, turned(tilt, over)), multiplied(tilt, turn)
                if kept[new + FLAT] > 0.0:
                    # Its pitch is taken away, about the ball where the heel is up, and else about the heel.
                    across = math.sqrt(max(1.0 - forward[1] * forward[1], 0.0))
                    level = about((u[1], 0.0, -u[0]), kept[new + FLAT] * atan2(forward[1], across))
                    under = legs.rest[k] * forward[1]
                    pivot = (under * u[0], ball[1] - legs.rest[k] * across, under * u[1])
                    if forward[1] > 0.0:
                        heel = plus(goal, turned(turned_q, legs.back[k]))
                        pivot = (heel[0] - ball[0], heel[1], heel[2] - ball[2])
                    over, turn = plus(pivot, turned(level, minus(over, pivot))), multiplied(level, turn)
                goal = plus(spot, turned(tilt, over))
                turn = multiplied(tilt, turn)
            if time < 1.0:
                kept[new + KNOWN] = 1.0
        else:
            pitched, pitch = goal, turn
        for c in range(3):
            goals[g + c] = p[c] + weight * (goal[c] - p[c])
            goals[g + 8 + c] = p[c] + weight * (pitched[c] - p[c])
        goals[g + 3], goals[g + 4], goals[g + 5], goals[g + 6] = turn
        goals[g + 11], goals[g + 12], goals[g + 13], goals[g + 14] = pitch
        x, z = goals[g + 8] - hip[0], goals[g + 10] - hip[2]
        goals[g + 7] = reach
        short = max(short, hip[1] - goals[g + 9] - math.sqrt(max(reach * reach - x * x - z * z, 0.0)))
    pelvis = legs.pelvis
    if pelvis >= 0:
        if what >= 4 and memory >= 0:
            kept = work.memory[n]
            old, new = memory + 1 + LEG_STATE * count, memory + 1 + size + LEG_STATE * count
            if time < 1.0:
                follow_footholds(kept, old, new, legs, vectors, memory + 1 + size, root, u, goals[7])
            lean, rise = weight * kept[new + LEAN], weight * kept[new + RISE]
            if legs.pitches != 0.0:
                away = minus(model_place(rows, top, Jp, parents, pelvis), root)
                rise -= sin(lean) / cos(lean) * (away[0] * u[0] + away[2] * u[1])
                lean_joint(rows, top, Jp, parents, pelvis, lean, u)
                short = -1e9
                for k in range(count):
                    hip, g = model_place(rows, top, Jp, parents, legs.upper[k]), 16 * k
                    x, z, reach = goals[g + 8] - hip[0], goals[g + 10] - hip[2], goals[g + 7]
                    short = max(
                        short, hip[1] - goals[g + 9] - math.sqrt(max(reach * reach - x * x - z * z, 0.0))
                    )
            elif legs.spine >= 0 and abs(lean) > 1e-6:
                lean_joint(rows, top, Jp, parents, legs.spine, lean, u)
            if time < 1.0:
                short = max(short + rise, FALL * fall_ahead(kept, memory + 1 + size, legs))
                follow_drop(kept, old, new, legs, vectors, min(max(short, 0.0), legs.most_drop))
            rise -= weight * kept[new + DROP]
        else:
            rise = -min(max(short, 0.0), weight * legs.most_drop)
        rise = rise if abs(rise) > 1e-6 else 0.0
        if rise != 0.0:
            move_joint(rows, top, Jp, parents, pelvis, (0.0, rise, 0.0))
    for k in range(count):
        upper, mid, tip = legs.upper[k], legs.mid[k], legs.tip[k]
        goal, g = vector_at(goals, 16 * k), 16 * k
        if has_frames:
            f = moved_frames(goals, frames + 33 * k, rise)
        else:
            f = limb_frames(rows, top, Jp, parents, upper, mid, tip)
        hip, p = (f[0], f[1], f[2]), (f[6], f[7], f[8])
        over_tip, q = (f[25], f[26], f[27], f[28]), (f[29], f[30], f[31], f[32])
        turn = (goals[g + 3], goals[g + 4], goals[g + 5], goals[g + 6])
        if what >= 4:
            # What is out of reach keeps its pitch.
            pitched = vector_at(goals, g + 8)
            far, near = length_of(minus(goal, hip)), length_of(minus(pitched, hip))
            if far > goals[g + 7] and far > near + 1e-6:
                part = min(max((goals[g + 7] - near) / (far - near), 0.0), 1.0)
                goal = between(pitched, goal, part)
                turn = mixed((goals[g + 11], goals[g + 12], goals[g + 13], goals[g + 14]), turn, part)
            # What still is stays above where it belongs rather than nearer to the body, where a step may be; but a foot that is
            # behind its hip and about to lift.
            x, z, most = goal[0] - hip[0], goal[2] - hip[2], legs.stretch * goals[g + 7]
            below = most * most - x * x - z * z
            swinging = memory >= 0 and work.memory[n][memory + 1 + size + LEG_STATE * k + SWINGS] > 0.0
            if below > 0.0 and goal[1] < hip[1] and (swinging or x * u[0] + z * u[1] > 0.0):
                goal = (goal[0], max(goal[1], hip[1] - math.sqrt(below)), goal[2])
        turns = turn[0] != 0.0 or turn[1] != 0.0 or turn[2] != 0.0
        if length_of(minus(goal, p)) > 1e-6:
            over_tip = solve_framed(
                rows, top, Jp, upper, mid, tip, f, goal, 0.0, math.pi, legs.stretch, not turns or weight < 1.0, legs.spare[k],
                False, UP, 1.0,
            )  # fmt: skip
        if turns:
            put_rotation(rows, top, Jp, tip, multiplied(conjugated(over_tip), multiplied(turn, q)), weight)


def keep_frames(kept, at, f):
    """Keeps the frames of a limb at `at`."""
    (
        kept[at], kept[at + 1], kept[at + 2], kept[at + 3], kept[at + 4], kept[at + 5], kept[at + 6], kept[at + 7], kept[at + 8],
        kept[at + 9], kept[at + 10], kept[at + 11], kept[at + 12], kept[at + 13], kept[at + 14], kept[at + 15], kept[at + 16],
        kept[at + 17], kept[at + 18], kept[at + 19], kept[at + 20], kept[at + 21], kept[at + 22], kept[at + 23], kept[at + 24],
        kept[at + 25], kept[at + 26], kept[at + 27], kept[at + 28], kept[at + 29], kept[at + 30], kept[at + 31], kept[at + 32],
    ) = f  # fmt: skip


def moved_frames(kept, at, rise):
    """The frames of a limb that are kept at `at`, higher by `rise`."""
    f = kept
    return (
        f[at], f[at + 1] + rise, f[at + 2], f[at + 3], f[at + 4] + rise, f[at + 5], f[at + 6], f[at + 7] + rise, f[at + 8],
        f[at + 9], f[at + 10], f[at + 11], f[at + 12], f[at + 13], f[at + 14], f[at + 15], f[at + 16],
        f[at + 17], f[at + 18], f[at + 19], f[at + 20], f[at + 21], f[at + 22], f[at + 23], f[at + 24],
        f[at + 25], f[at + 26], f[at + 27], f[at + 28], f[at + 29], f[at + 30], f[at + 31], f[at + 32],
    )  # fmt: skip


def mixed(a, b, part):
    """The rotation between two that are not far from each other."""
    side = part if a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] >= 0.0 else -part
    keep = 1.0 - part
    x, y, z, w = (
        keep * a[0] + side * b[0],
        keep * a[1] + side * b[1],
        keep * a[2] + side * b[2],
        keep * a[3] + side * b[3],
    )
    size = math.sqrt(x * x + y * y + z * z + w * w)
    return (x / size, y / size, z / size, w / size)


def lean_joint(rows, top, Jp, parents, joint, angle, u):
    """Leans a joint towards `u` (x, z)."""
    above = model_rotation(rows, top, Jp, parents, parents[joint])
    mine = multiplied(above, local_rotation(rows, top, Jp, joint))
    turn = multiplied(about((u[1], 0.0, -u[0]), angle), mine)
    put_rotation(rows, top, Jp, joint, multiplied(conjugated(above), turn), 1.0)


LEGS = Operation(
    "LEGS", 17, "puts feet where they belong: strides longer or shorter, feet held where they stand, feet on the ground; the "
    "pelvis follows", 1, 1, LEG_SET, "1: keeps nothing", "how much of the way", run_legs, reference_legs,
)  # fmt: skip
