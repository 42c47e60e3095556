"""Which triangles a level keeps: meshoptimizer's choice, told how the character moves and corrected by measuring.

Every vertex carries, besides its normal, where it is in the character's poses: hundreds of numbers, of which two
dozen combinations hold nearly all (principal components). A collapse that is cheap at rest but bends an elbow wrongly
is then dear. What comes out is measured in a few poses; the vertices where it is worst are held fast, and it is done
again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.jobs import thread_count
from marrow.lod.clip_poses import ClipPoses, cut_pose, posed, with_area
from marrow.lod.distance import SurfaceTree, nearest_share
from marrow.lod.meshoptimizer import CHANNELS, Pool, simplified
from marrow.lod.seams import CLOSED, Seams, connected
from marrow.model import Character
from marrow.skinning import skin

__all__ = ["Simplifier"]

Array = NDArray[Any]
NORMALS, COLORS, POSES = 0.1, 0.1, 6.0
"""How much a normal, a colour, a place in a pose count, next to the shape at rest."""
LEARNED = 32
"""Poses that the components are made from."""
CHECKED, FOLLOWED = 5, 1000
"""Poses that a cut is measured in before the next is made, and places by which they are found."""
LEAST_OF_A_PIECE, SEEN = 6, 0.03
"""Triangles that a piece of a body keeps at least, and how large one is that must not vanish, as a part of the body."""
ROUNDS = 5
PEAKS = 8
"""Vertices held fast after each round."""


class Simplifier:
    """Cuts the parts of `pool` down. `level` is the whole character as the level skins it: what fewer joints cost is not
    for triangles to mend."""

    def __init__(self, level: Character, pool: Pool, motion: ClipPoses) -> None:
        self.level, self.pool, self.motion = level, pool, motion
        rest = skin(level, level.skeleton.rest, tangents=False)
        self.rest = rest.positions
        self.size = float(np.ptp(self.rest[pool.vertices], axis=0).max(initial=0.0)) or 1.0
        self._numbers(rest.normals)
        self.sound = self._sound()
        self._pieces: Array | None = None
        self.seams = Seams(pool, level, self.rest, rest.normals)
        self._errors: dict[tuple[int, int], float] = {}
        self.closed = 0
        """Which seams had to be closed (see `CLOSED`)."""
        self.forms: list[Array] = []
        self._tree = SurfaceTree(self.rest, pool.vertices[pool.triangles])

    def _sound(self) -> Array:
        """The triangles that have an area, at rest or in some pose that is learned from."""
        forms = [self.rest] + [posed(self.level, self._short(int(f))) for f in self.motion.diverse(3)]
        return with_area(self.pool.vertices[self.pool.triangles], forms)

    def _short(self, pose: int) -> Any:
        return cut_pose(self.motion.poses[pose], len(self.level.skeleton))

    def _numbers(self, normals: Array | None) -> None:
        """What each vertex of the pool carries, and how much it counts."""
        pool, numbers, weights = self.pool, [], []
        if normals is not None:
            numbers.append(np.nan_to_num(normals[pool.vertices]))
            weights += [NORMALS] * 3
        colors = _colors(self.level)[pool.vertices]
        if np.ptp(colors, axis=0).max(initial=0.0) > 0:
            numbers.append(colors)
            weights += [COLORS] * 3
        learned = self.motion.diverse(LEARNED)
        if len(learned) > 1:
            forms = np.concatenate([posed(self.level, self._short(int(f))) for f in learned], axis=1)
            parts = _components(forms[pool.vertices] / self.size, CHANNELS - len(weights))
            numbers.append(parts / np.sqrt(len(learned)))
            weights += [POSES] * parts.shape[1]
        whole = np.concatenate(numbers, axis=1) if numbers else np.zeros((len(pool.vertices), 1))
        self.numbers, self.weights = whole.astype(np.float32), np.array(weights or [0.0], np.float32)

    def cut(self, count: int, rounds: int = ROUNDS) -> Array:
        """About `count` triangles, of the pool's vertices."""
        pool = self.pool
        if count >= len(pool.triangles):
            return pool.triangles
        found: list[tuple[float, Array]] = []
        for stage in range(len(CLOSED)):
            self.closed = stage
            fewest = self._simplified(stage, count, np.zeros(len(pool.vertices), bool))
            found.append((float(len(fewest)), fewest))
            if len(fewest) <= 1.05 * count + 2:
                break
        else:
            self.closed = int(np.argmin([n for n, _ in found]))
        return self._whole_body(self._refined(found[self.closed][1], count, rounds), count)

    def _simplified(self, stage: int, count: int, lock: Array) -> Array:
        # Only vertices that are used may be there: others at the same place would look like a seam.
        known = self._errors.get((stage, count))
        found, self._errors[stage, count] = self._reduced(stage, self.sound, count, lock, known)
        return self.seams.cornered(stage, found)

    def _reduced(
        self, stage: int, which: Array, count: int, lock: Array, known: float | None = None
    ) -> tuple[Array, float]:
        """Some of the pool's triangles as about `count`, between vertices that stand for others; and their error."""
        rows, index = np.unique(self.seams.welded(stage)[self.pool.triangles[which]], return_inverse=True)
        places = self.rest[self.pool.vertices[rows]]
        found, error = simplified(
            index.reshape(-1, 3), places, self.numbers[rows], self.weights, count, lock[rows], known
        )
        return rows[found], error

    # -- bodies of many pieces ----------------------------------------------------------------------------------------
    def _by_pieces(self, stage: int, count: int) -> Array | None:
        """A cut in which every piece that is large enough to be seen keeps triangles of its own; None where there is only
        one, or no room for that. Pieces share by how large they are, not by how finely they were made."""
        pool = self.pool
        labels = connected(pool.place[pool.triangles[self.sound]], int(pool.place.max(initial=0)) + 1)
        _, piece = np.unique(labels[pool.place[pool.triangles[self.sound, 0]]], return_inverse=True)
        pieces = int(piece.max(initial=0)) + 1
        if pieces < 2:
            return None
        corners = self.rest[pool.vertices[pool.triangles[self.sound]]].astype(np.float64)
        low, high = np.full((pieces, 3), np.inf), np.full((pieces, 3), -np.inf)
        np.minimum.at(low, piece, corners.min(axis=1))
        np.maximum.at(high, piece, corners.max(axis=1))
        extent = np.linalg.norm(high - low, axis=1) / self.size
        own = np.bincount(piece, minlength=pieces)
        order = np.argsort(-extent, kind="stable")
        kept = np.zeros(pieces, bool)
        kept[order[: max(1, count // LEAST_OF_A_PIECE)]] = True
        least = np.where(kept, np.minimum(own, LEAST_OF_A_PIECE), 0)
        share = np.where(kept, extent * np.sqrt(own), 0.0)
        room = max(count - int(least.sum()), 0)
        budget = np.minimum(
            least + np.floor(room * share / max(float(share.sum()), 1e-30)).astype(np.int64), own
        )
        found = []
        for k in np.flatnonzero(kept).tolist():
            which = self.sound[piece == k]
            some = self.seams.welded(stage)[pool.triangles[which]]
            if budget[k] < own[k]:
                some, _ = self._reduced(stage, which, int(budget[k]), np.zeros(len(pool.vertices), bool))
            found.append(some)
        return self.seams.cornered(stage, np.concatenate(found))

    def _whole_body(self, triangles: Array, count: int) -> Array:
        """A cut, or one that keeps the pieces of a body where that is nearer to it."""
        if not self.pieces_lost(triangles, count):
            return triangles
        for stage in range(self.closed, len(CLOSED)):
            other = self._by_pieces(stage, count)
            if other is None or len(other) <= 1.1 * count:
                break
        if other is None or not 0 < len(other) <= max(1.1 * count, len(triangles)):
            return triangles
        self.forms = [posed(self.level, self._short(f)) for f in self._telling_poses(other)]
        if not len(triangles) or self._checked(other)[0] < self._checked(triangles)[0]:
            return other
        return triangles

    def pieces_lost(self, triangles: Array, count: int) -> bool:
        """Whether a cut has far fewer triangles than it may have, or has lost a piece that is seen."""
        if len(triangles) < 0.7 * count:
            return True
        pool = self.pool
        if self._pieces is None:
            labels = connected(pool.place[pool.triangles[self.sound]], int(pool.place.max(initial=0)) + 1)
            self._pieces = labels[pool.place]
        points = self.rest[pool.vertices]
        gone = ~np.isin(self._pieces, self._pieces[np.unique(triangles)])
        gone &= np.isin(np.arange(len(pool.vertices)), pool.triangles[self.sound])
        for label in np.unique(self._pieces[gone]).tolist():
            if float(np.ptp(points[self._pieces == label], axis=0).max()) > SEEN * self.size:
                return True
        return False

    def _refined(self, triangles: Array, count: int, rounds: int) -> Array:
        """A cut with the vertices held fast where it was worst, again and again; the best of all."""
        pool = self.pool
        lock = np.zeros(len(pool.vertices), bool)
        best, least = triangles, np.inf
        if rounds > 1 and len(triangles):
            checked = self._telling_poses(triangles)
            self.forms = [posed(self.level, self._short(f)) for f in checked]
        for k in range(rounds):
            if k:
                triangles = self._simplified(self.closed, count, lock)
            if not len(triangles) or len(triangles) > max(1.02 * count, len(best)):
                break  # so much is held fast that there is no room left
            worst, peaks = self._checked(triangles)
            if worst < least:
                best, least = triangles, worst
            if not len(peaks):
                break
            lock |= np.isin(pool.place, pool.place[peaks])
        return best

    def _telling_poses(self, triangles: Array) -> list[int]:
        """The candidate poses that show best where a cut is off: places of the cut are followed through all of them."""
        pool, motion = self.pool, self.motion
        if len(motion) <= CHECKED:
            return list(range(len(motion)))
        own = pool.vertices[triangles]
        tree = SurfaceTree(self.rest, own)
        tree.fit(self.rest)
        rows = np.arange(0, len(pool.vertices), max(1, len(pool.vertices) // FOLLOWED))
        near, points = self._guess(triangles, tree)[rows], self.rest[pool.vertices[rows]]
        tree.distances(points, near)
        corners = own[tree.order[near]]
        share = nearest_share(self.rest[corners], points)
        off = np.empty((len(motion), len(rows)))
        step = max(1, (1 << 22) // max(1, len(self.rest)))
        for start in range(0, len(motion), step):
            some = motion.poses[start : start + step]
            forms = posed(self.level, cut_pose(some, len(self.level.skeleton)))
            here = np.einsum("fnkc,nk->fnc", forms[:, corners], share)
            off[start : start + step] = np.linalg.norm(forms[:, pool.vertices[rows]] - here, axis=-1)
        chosen: list[int] = []
        known = np.zeros(len(rows))
        while len(chosen) < CHECKED:
            # High powers: what counts is the worst place.
            chosen.append(int((np.maximum(off - known, 0) ** 4).sum(axis=1).argmax()))
            known = np.maximum(known, off[chosen[-1]])
        return list(dict.fromkeys(chosen))

    def _checked(self, triangles: Array) -> tuple[float, Array]:
        """How far a cut is off at worst, and the pool's vertices where it is worst."""
        pool, threads = self.pool, thread_count(None)
        own = pool.vertices[triangles]
        tree = SurfaceTree(self.rest, own)
        out, back = np.zeros(len(pool.vertices), np.float32), np.zeros(len(triangles), np.float32)
        near = self._guess(triangles, tree)
        near_back, at = np.full(len(triangles), -1, np.int32), np.zeros(len(triangles), np.int64)
        for form in self.forms:
            tree.fit(form)
            np.maximum(out, tree.distances(form[pool.vertices], near, threads=threads), out=out)
            self._tree.fit(form)
            middle = form[own].mean(axis=1)
            found = self._tree.distances(middle, near_back, threads=threads)
            farther = found > back
            at[farther], back[farther] = near_back[farther], found[farther]
        # A triangle that lies off is mended by a vertex of what it should lie on.
        whole = out.copy()
        if len(back):
            np.maximum.at(whole, pool.triangles[self._tree.order[at], 0], back)
        return float(whole.max(initial=0.0)), self._peaks(whole)

    def _guess(self, triangles: Array, tree: SurfaceTree) -> Array:
        """For each vertex of the pool a triangle of a cut that is probably near: its own, or that of a neighbour."""
        near = np.full(len(self.pool.vertices), -1, np.int32)
        place = np.empty(len(triangles), np.int32)
        place[tree.order] = np.arange(len(triangles), dtype=np.int32)
        near[triangles.ravel()] = np.repeat(place, 3)
        all_corners = self.pool.triangles
        for _ in range(8):
            known = near[all_corners]
            blank = known < 0
            if not blank.any():
                break
            near[all_corners[blank]] = np.repeat(known.max(axis=1), 3).reshape(-1, 3)[blank]
        return near

    def _peaks(self, off: Array) -> Array:
        """The vertices that are farthest off, each standing for those around it."""
        left = off.copy()
        peaks: list[int] = []
        points = self.rest[self.pool.vertices]
        while len(peaks) < PEAKS:
            v = int(left.argmax())
            if left[v] <= 0.7 * off.max() or left[v] <= 0:
                break
            peaks.append(v)
            left[np.linalg.norm(points - points[v], axis=1) < 2 * off[v]] = 0
        return np.array(peaks, np.int64)


def _colors(character: Character) -> Array:
    return np.concatenate(
        [
            np.ones((m.vertex_count, 3), np.float32) if m.colors is None else m.colors[:, :3]
            for m in character.meshes
        ]
    )


def _components(numbers: Array, count: int) -> Array:
    """The `count` combinations of the columns of `numbers (V, C)` that hold most of their variation, `(V, count)`."""
    rows = numbers.astype(np.float64)
    rows -= rows.mean(axis=0)
    some = rows[:: max(1, len(rows) // 4000)]
    _, vectors = np.linalg.eigh(some.T @ some)
    return rows @ vectors[:, ::-1][:, :count]
