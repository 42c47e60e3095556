"""Packed motion decoded from the words of `marrow.kernels.packed_layout` alone: plain Python and float64, a number
at a time."""

import numpy as np


class Record:
    """A record; every read is looked at."""

    def __init__(self, words, joints, morphs):
        self.octets = np.asarray(words, np.int32).tobytes()
        self.joints, self.morphs = joints, morphs
        self.frames, self.groups, self.morph_groups, self.blocks, self.table, self.size, self.length = (
            self.word(k) for k in range(7)
        )
        assert self.size * 4 == len(self.octets)

    def octet(self, at):
        if not 0 <= at < len(self.octets):
            raise IndexError(at)
        return self.octets[at]

    def half(self, at):
        return self.octet(2 * at) | self.octet(2 * at + 1) << 8

    def word(self, at):
        return self.half(2 * at) | self.half(2 * at + 1) << 16

    def bits(self, first, count):
        return sum(
            (self.octet(b >> 3) >> (b & 7) & 1) << k for k, b in enumerate(range(first, first + count))
        )

    def floating(self, at):
        return float(np.array([at], np.uint32).view(np.float32)[0])

    def step(self, code):
        return (1 + code % 8 / 8) * 2.0 ** (code // 8 - 28)

    def cell(self, k):
        """Where a cell begins, the number of its block, its masks, and which lanes start from something of their own."""
        at, number = self.half(2 * (10 + k)), self.half(2 * (10 + k) + 1)
        return at, number, [self.half(2 * at + c) for c in range(3)], self.half(2 * at + 3)

    def values(self, k, frame):
        """The three numbers of each of the 16 lanes of a cell in a frame."""
        at, number, masks, _ = self.cell(k)
        out = np.zeros((16, 3))
        tracks = [lane for lane in range(16) if any(m >> lane & 1 for m in masks)]
        if not tracks:
            return out
        segment = self.word(self.table + frame // self.length)
        block = 4 * segment + 2 * self.half(2 * (segment + 1) + number)
        head, channels = self.octet(block), {}
        constant, wide, degree = head % 4 + 2, head // 4 % 4, head // 16 % 4
        order = [(lane, c) for c in range(3) for lane in range(16) if masks[c] >> lane & 1]
        n = len(order)

        def number_of(plane, r, size):
            return sum(self.octet(block + 1 + (plane + k) * n + r) << 8 * k for k in range(size))

        def signed(number, size):
            return number - (1 << 8 * size) if number >> (8 * size - 1) else number

        for r, channel in enumerate(order):
            raw = number_of(1, r, constant)
            start = self.floating(raw) if constant == 4 else 0.0
            base = 0 if constant == 4 else signed(raw, constant)
            terms = [
                signed(number_of(1 + constant + i + min(i, wide), r, size), size) if i < degree else 0
                for i, size in enumerate(2 if i < wide else 1 for i in range(3))
            ]
            channels[channel] = number_of(0, r, 1), base, start, terms
        octet = block + 1 + n * (1 + constant + wide + degree)
        in_all = sum(width for width, *_ in channels.values())
        k = frame % self.length
        bit = 8 * octet + k * in_all
        # Legendre polynomials, 1024 times.
        x = (2 * k - self.length + 1) * (32768 // self.length)
        xx = x * x >> 15
        shapes = x >> 5, (3 * xx >> 6) - 512, 5 * (xx * x >> 15) - 3 * x >> 6
        for lane in tracks:
            code = self.octet(4 * (at + 2) + tracks.index(lane))
            step = self.step(code) * self.step(self.half(2 * segment) % 256)
            for c in range(3):
                if (lane, c) in channels:
                    width, base, start, terms = channels[lane, c]
                    curve = (sum(a * b for a, b in zip(terms, shapes)) + 512) >> 10
                    out[lane, c] = (base + curve + self.bits(bit, width)) * step + start
                    bit += width
        return out

    def own(self, k, lane, size):
        at, _, masks, own = self.cell(k)
        tracks = bin(masks[0] | masks[1] | masks[2]).count("1")
        rank = bin(own & ((1 << lane) - 1)).count("1")
        return at + 2 + -(-tracks // 4) + size * rank

    def own_turn(self, k, lane):
        at, _, masks, own = self.cell(k)
        tracks, count = bin(masks[0] | masks[1] | masks[2]).count("1"), bin(own).count("1")
        first = 4 * (at + 2) + tracks + bin(own & ((1 << lane) - 1)).count("1")
        numbers = [sum(self.octet(first + (3 * c + k) * count) << 8 * k for k in range(3)) for c in range(3)]
        return turn(np.array([n - 2**24 if n >= 2**23 else n for n in numbers]) / 2**23)

    def frame(self, frame, rest):
        """Translation, rotation, scale and morph weights of a frame, from those of the base pose."""
        t, q, s, m = (np.array(x, np.float64) for x in rest)
        for g in range(self.groups):
            cells = [self.values(3 * g + kind, frame) for kind in range(3)]
            for lane in range(min(16, self.joints - 16 * g)):
                j = 16 * g + lane
                for kind, start in ((0, t), (2, s)):
                    if self.cell(3 * g + kind)[3] >> lane & 1:
                        word = self.own(3 * g + kind, lane, 3)
                        start[j] = [self.floating(self.word(word + c)) for c in range(3)]
                    start[j] += cells[kind][lane]
                if self.cell(3 * g + 1)[3] >> lane & 1:
                    q[j] = self.own_turn(3 * g + 1, lane)
                q[j] = product(q[j], turn(cells[1][lane]))
        for g in range(self.morph_groups):
            k, values = 3 * self.groups + g, self.values(3 * self.groups + g, frame)
            for lane in range(min(16, self.morphs - 16 * g)):
                if self.cell(k)[3] >> lane & 1:
                    m[16 * g + lane] = self.floating(self.word(self.own(k, lane, 1)))
                m[16 * g + lane] += values[lane, 0]
        return t, q / np.linalg.norm(q, axis=-1, keepdims=True), s, m


def turn(m):
    return np.array([*(2 * m), 1 - m @ m]) / (1 + m @ m)


def product(a, b):
    (x, y, z, w), (X, Y, Z, W) = a, b
    return np.array(
        [
            w * X + x * W + y * Z - z * Y,
            w * Y - x * Z + y * W + z * X,
            w * Z + x * Y - y * X + z * W,
            w * W - x * X - y * Y - z * Z,
        ]
    )


def mixed(a, b, share):
    """Two frames mixed: rotations straight, on the same side."""
    side = np.where((a[1] * b[1]).sum(-1, keepdims=True) < 0, -1, 1)
    t, q, s, m = (x + share * (y * (side if k == 1 else 1) - x) for k, (x, y) in enumerate(zip(a, b)))
    return t, q / np.linalg.norm(q, axis=-1, keepdims=True), s, m


def model(parents, pose):
    """Model matrices `(J, 3, 4)`."""
    out = []
    for p, t, (x, y, z, w), s in zip(parents, pose[0], pose[1], pose[2]):
        local = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        local = np.column_stack([local * s, t])
        if p >= 0:
            local = np.column_stack(
                [out[p][:, :3] @ local[:, :3], out[p][:, :3] @ local[:, 3] + out[p][:, 3]]
            )
        out.append(local)
    return np.array(out)
