"""Memory that the kernels of accesses.py use: cells of bytes, and counters."""

from program import BLOCK, GRID, ROWS

# Words of the input.
WORDS = GRID * BLOCK * ROWS
# Members of a cell: type, bytes, type of the value that a load gives.
SCALARS = {
    "uc": ("unsigned char", 1, "u"), "sc": ("signed char", 1, "i"),
    "us": ("unsigned short", 2, "u"), "ss": ("short", 2, "i"), "ui": ("unsigned", 4, "u"),
    "si": ("int", 4, "i"), "ul": ("u64", 8, "U"), "sl": ("long long", 8, "I"),
    "f": ("float", 4, "u"), "d": ("double", 8, "U"),
}
VECTORS = {
    "c2": ("char2", 2, "i"), "c3": ("uchar3", 3, "u"), "c4": ("uchar4", 4, "u"),
    "h2": ("short2", 4, "i"), "h3": ("ushort3", 6, "u"), "h4": ("ushort4", 8, "u"),
    "w2": ("int2", 8, "i"), "w3": ("uint3", 12, "u"), "w4": ("uint4", 16, "u"),
    "f2": ("float2", 8, "f"), "f4": ("float4", 16, "f"), "l2": ("ulonglong2", 16, "U"),
    "d2": ("double2", 16, "d"),
}
MEMBERS = SCALARS | VECTORS
# Values as members of floats, and back.
INTO = {"f": "__uint_as_float({u})", "d": "__longlong_as_double({U})"}
FROM = {"f": "__float_as_uint(%s)", "d": "(u64)__double_as_longlong(%s)"}
# Atomics by member.
ATOMICS = {
    "ui": "Add Sub Exch Min Max Inc Dec And Or Xor CAS",
    "si": "Add Sub Exch Min Max And Or Xor CAS", "ul": "Add Exch Min Max And Or Xor CAS",
    "sl": "Min Max And Or Xor", "us": "CAS",
    "f": "Exch Add", "w4": "Exch CAS",
}
# Operations whose order does not change the result, by type of a counter; floats stay exact.
COUNTERS = {
    "unsigned": "Add Sub Min Max And Or Xor Inc Dec cas", "int": "Add Min Max And Or Xor",
    "u64": "Add Min Max And Or Xor cas lock", "long long": "Min Max", "float": "Add",
    "double": "Add",
}
COUNTED = {"unsigned": "{u}", "int": "{i}", "u64": "{U}", "long long": "{I}",
           "float": "(float)({u} & 63)", "double": "(double)({u} & 63)"}
# What is allowed: loads, stores as well, atomics as well.
ACCESSES = "rwa"


class Memory:
    """Cells that a body can access. `#` in the text is a cell's index; `access` is of ACCESSES."""

    def __init__(self, text, space, access, count=1):
        self.text, self.space, self.access, self.count = text, space, access, count

    def cell(self, body):
        return self.text.replace("#", body.index(self.count))


class Region(Memory):
    """Cells of all threads of a block. `mode` tells which a thread may access: its own, which are
    those that thread `t ^ turn` begins with, those of its warp, or those of all, which none
    writes."""

    def __init__(self, draw, text, space):
        super().__init__(text, space, "a", draw.choice([1, 1, 2, 4]))
        self.is_strided, self.mode, self.turn = draw.random() < 0.5, "own", 0

    def place(self, thread, number):
        if self.is_strided:
            return self.text.replace("#", f"{number} * {BLOCK} + {thread}")
        return self.text.replace("#", f"{thread} * {self.count} + {number}")

    def cell(self, body):
        if self.mode == "all":
            return self.text.replace("#", body.index(self.count * BLOCK))
        thread = self.own()
        if self.mode == "warp":
            thread = f"({thread} & 32 | {body.index(32)})"
        return self.place(thread, body.index(self.count))

    def own(self):
        return f"(t ^ {self.turn})" if self.turn else "t"

    def set(self, mode, turn):
        self.mode, self.turn, self.access = mode, turn, "a" if mode == "own" else "r"


class Counter(Memory):
    """Eight numbers that all threads change by one operation, or (None) that all read."""

    def __init__(self, draw, text, space):
        super().__init__(text, space, "r", 8)
        self.type = draw.choice(list(COUNTERS))
        self.operation = None

    def start(self, draw):
        self.operation = draw.choice(COUNTERS[self.type].split() + [None, None])
