"""Assembles turns.cubin: 16 rows of instructions, 32 reads of the clock in each. A block runs each
row twice, with its warps at once: the second time the code is in the caches.

    nvcc -arch=sm_90 -cubin kernel.cu -o kernel.cubin
    python3 turns.py kernel.cubin turns.cubin

kernel.cu is as for ../parting/assemble.py, with `__shared__ unsigned s[4096]` and `__constant__
unsigned table[8192]` that it uses. Row e of a warp is in entries 8 e to 8 e + 7 of its first lane's
log, a clock in each word.
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent / "parting"))
from assemble import ENTRIES, jump, move, nop, replace_code, word

YIELDS = ~(1 << 45)  # clears the bit of the control word that keeps the warp


def yields(code):
    return code[:8] + (int.from_bytes(code[8:], "little") & YIELDS).to_bytes(8, "little")


CLOCK = lambda i, stall=1: word(24 + i << 16 | 0x7805, 0x5000, stall)  # CS2R.32
ADD = lambda stall=1: word(0xFF << 32 | 16 << 24 | 20 << 16 | 0x7810, 0x07FFE0FF, stall)  # IADD3
PRODUCT = lambda stall=1: word(16 << 32 | 16 << 24 | 21 << 16 | 0x7824, 0x078E00FF, stall)  # IMAD
LOAD = lambda stall=1: word(3 << 54 | 0xFF << 24 | 14 << 16 | 0x7B82, 0x800, stall, write=3)  # LDC
RECIPROCAL = lambda stall=1: word(16 << 32 | 14 << 16 | 0x7308, 0x1000, stall, write=3)  # MUFU
POPC = word(16 << 32 | 14 << 16 | 0x7309, 0, 1, write=3)
WAITS = word(14 << 24 | 14 << 16 | 0x7810, 0x07FFE0FF, 1, wait=8)  # IADD3 R14
ZERO = word(20 << 16 | 0x7805, 0x0001FF00, 1)  # CS2R R20, SRZ
NEXT = jump(0x7947, 0x03800000, 0, 16)

# What comes after each read of the clock, which has a stall count of its own.
ROWS = {
    "CS2R": (1, []),
    "CS2R, stall 4": (4, []),
    "CS2R, 3 SRZ": (1, [ZERO] * 3),
    "2 IADD3": (1, [ADD()] * 2),
    "IADD3, IMAD": (1, [ADD(2), PRODUCT(4)]),
    "3 IMAD": (1, [PRODUCT()] * 3),
    "CS2R, stall 5, IMAD": (5, [PRODUCT()]),
    "2 IMAD, IMAD, stall 6": (1, [PRODUCT(), PRODUCT(), PRODUCT(6)]),
    "3 IADD3, stall 5": (1, [ADD(), ADD(), ADD(5)]),
    "3 IADD3, stall 5, yields": (1, [ADD(), ADD(), yields(ADD(5))]),
    "3 IADD3, stall 11": (1, [ADD(), ADD(), ADD(11)]),
    "LDC": (1, [LOAD()]),
    "MUFU": (1, [RECIPROCAL()]),
    "POPC": (1, [POPC]),
    "7 IADD3, LDC, wait": (1, [ADD()] * 7 + [LOAD(2), WAITS]),
    "3 IADD3, MUFU, wait": (1, [ADD()] * 3 + [RECIPROCAL(2), WAITS]),
}

code = [
    word(9 << 16 | 0x7919, 0x2100, 5, write=0),  # S2R R9, SR_TID.X
    word(0x0000820000047AB9, 0x0A00),  # ULDC.64 UR4, c[0x0][0x208]
    word(0x00008400FF027B82, 0x0A00, write=1),  # LDC.64 R2, c[0x0][0x210]
    nop(0x3F, 15),
    word(ENTRIES * 16 << 32 | 9 << 24 | 6 << 16 | 0x7825, 0x078E0002, 8),  # R6 = R2 + R9 * 2048
    move(16, 5),
    move(22, 0),
    LOAD(),
    nop(0x3F, 15),
]
start = len(code) * 16
code += [word(0xFF << 24 | 2 + i << 16 | 0x7224, 0x078E0000 | 6 + i) for i in (0, 1)]  # R2 = R6
for stall, after in ROWS.values():
    code += [nop(0, 15)] * 6 + [word(0x7B1D, 0x00010000, 5), nop(0, 15), nop(0, 15)]  # BAR.SYNC
    for i in range(32):
        code += [CLOCK(i, stall)] + after
    code += [nop(0x3F, 15)] * 2
    for i in range(8):  # STG.E.128 [R2.64 + 16 i], R24 + 4 i
        code += [word(16 * i << 40 | 24 + 4 * i << 32 | 2 << 24 | 0x7986, 0x0C101D04, 2, read=1)]
    code += [word(128 << 32 | 2 << 24 | 2 << 16 | 0x7810, 0x07FFE0FF, wait=2), nop(0x3F, 15)]
code += [
    word(1 << 32 | 22 << 24 | 22 << 16 | 0x7810, 0x07FFE0FF),  # R22 += 1
    word(2 << 32 | 22 << 24 | 0x780C, 0x03F06070, 13),  # P0 = R22 >= 2
]
code += [jump(0x8947, 0x03800000, len(code) * 16, start), word(0x794D, 0x03800000, 5)] + [nop()] * 10
template, target = sys.argv[1:]
open(target, "wb").write(replace_code(open(template, "rb").read(), b"".join(code)))

print("\n".join(ROWS))
