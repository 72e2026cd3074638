"""Assembles results.cubin: a read of the clock, an instruction once or eight times, an IADD3 that
waits for the results, and another read of the clock. As reads.py otherwise.

    python3 results.py kernel.cubin results.cubin
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent / "parting"))
from assemble import ENTRIES, move, nop, replace_code, word

FIRST, SECOND = 30, 31  # registers of the clocks
RESULT, A, B, LANE = 14, 16, 18, 9
CLOCK = lambda register: word(register << 16 | 0x7805, 0x5000, 13)  # CS2R.32
WAITS = word(RESULT << 24 | RESULT << 16 | 0x7810, 0x07FFE0FF, 6, wait=8)  # IADD3 R14, R14, 0


def shuffle(opcode, lane=0, high=0, predicate=7, low=0):
    low |= lane << 32 | A << 24 | RESULT << 16 | opcode
    return low, predicate << 17 | high


def one(opcode, high, source=A):
    """An instruction of one source in bits 32 to 39."""
    return source << 32 | RESULT << 16 | opcode, high


# Row of results.csv to opcode words, without a control word.
MEASURED = {
    "SHFL.UP PT 1 RZ": shuffle(0x7989, high=0xFF, low=0x0420 << 48),
    "SHFL.UP P0 1 RZ": shuffle(0x7989, high=0xFF, low=0x0420 << 48, predicate=0),
    "SHFL.UP PT 1 R": shuffle(0x7989, high=B, low=0x0420 << 48),
    "SHFL.IDX PT R 31": shuffle(0x7589, lane=LANE, low=0x1F << 40),
    "SHFL.IDX P0 R 31": shuffle(0x7589, lane=LANE, low=0x1F << 40, predicate=0),
    "SHFL.IDX PT R R": shuffle(0x7389, lane=LANE, high=B),
    "SHFL.IDX P0 R R": shuffle(0x7389, lane=LANE, high=B, predicate=0),
    "SHFL.DOWN PT 1 31": shuffle(0x7F89, low=0x08201F << 40),
    "REDUX.SUM": (A << 24 | 6 << 16 | 0x73C4, 0xC000),
    "MATCH.ANY": (B << 24 | RESULT << 16 | 0x73A1, 0xE8000),
    "MUFU.RCP": one(0x7308, 0x1000),
    "POPC": one(0x7309, 0),
    "FCHK P0": (B << 32 | A << 24 | 0x7302, 0),
    "F2F.F32.F64": one(0x7310, 0x301000),
    "F2I.F64.TRUNC": one(0x7311, 0x30D100),
    "FRND.F64": one(0x7313, 0x301800),
    "S2R SR_LANEID": (RESULT << 16 | 0x7919, 0),
    "S2UR SR_CTAID.X": (6 << 16 | 0x79C3, 0x2500),
}

code = [
    word(9 << 16 | 0x7919, 0x2100, 5, write=0),  # S2R R9, SR_TID.X
    word(0x0000820000047AB9, 0x0A00),  # ULDC.64 UR4, c[0x0][0x208]
    word(0x00008400FF027B82, 0x0A00, write=1),  # LDC.64 R2, c[0x0][0x210]
    nop(0x3F, 15),
    word(ENTRIES * 16 << 32 | 9 << 24 | 2 << 16 | 0x7825, 0x078E0002, 8),  # R2 += R9 * 2048
]
for low, high in MEASURED.values():
    for times in (1, 8):
        code += [move(register, 5) for register in (14, 16, 17, 18)] + [nop(0, 15)] * 2
        code += [CLOCK(FIRST)]
        code += [word(low, high, 1 if i + 1 < times else 2, write=3) for i in range(times)]
        code += [WAITS, CLOCK(SECOND), nop(0x3F, 15), move(8, 1), move(11, 0)]
        clocks = ((9, FIRST), (10, SECOND))
        code += [word(0xFF << 24 | to << 16 | 0x7224, 0x078E0000 | at) for to, at in clocks]
        code += [nop(0, 15), word(8 << 32 | 2 << 24 | 0x7986, 0x0C101D04, 2, read=1)]  # STG.128
        code += [word(16 << 32 | 2 << 24 | 2 << 16 | 0x7810, 0x07FFE0FF, wait=2)]  # R2 += 16
code += [word(0x794D, 0x03800000, 5)] + [nop()] * 10
template, target = sys.argv[1:]
open(target, "wb").write(replace_code(open(template, "rb").read(), b"".join(code)))
