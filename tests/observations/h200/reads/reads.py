"""Assembles reads.cubin: a read of the clock, an instruction, an IADD3 that waits until its sources
have been read, and another read of the clock.

    nvcc -arch=sm_90 -cubin kernel.cu -o kernel.cubin
    python3 reads.py kernel.cubin reads.cubin

kernel.cu has a kernel `k(uint4 *log, unsigned *in)` with 16 KB of shared memory. Its code is
replaced. Each lane writes two clocks for each row of reads.csv to log[lane * 128].
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent / "parting"))
from assemble import ENTRIES, move, nop, replace_code, word

FIRST, SECOND = 30, 31  # registers of the clocks
ADDRESS, SHARED, DATA, RESULT = 28, 12, 8, 24
CLOCK = lambda register: word(register << 16 | 0x7805, 0x5000, 13)  # CS2R.32
WAITS = word(14 << 24 | 14 << 16 | 0x7810, 0x07FFE0FF, 6, wait=2)  # IADD3 R14, R14, 0


def measured():
    """Opcode words of what is measured: without a control word."""
    yield 0x7918, 0  # NOP
    for bits in (0x1900, 0x1B00, 0x1D00):
        yield DATA << 32 | ADDRESS << 24 | 0x7986, 0x0C100004 | bits  # STG
        yield 4 << 32 | ADDRESS << 24 | RESULT << 16 | 0x7981, 0x0C1E0000 | bits  # LDG
    for bits in (0x800, 0xA00, 0xC00):
        yield DATA << 32 | SHARED << 24 | 0x7388, bits  # STS
        yield SHARED << 24 | RESULT << 16 | 0x7984, bits  # LDS
    yield 0x1F << 40 | 9 << 32 | DATA << 24 | RESULT << 16 | 0x7589, 0x000E0000  # SHFL.IDX
    yield DATA << 32 | RESULT << 16 | 0x7308, 0x800  # MUFU.EX2
    yield DATA << 32 | RESULT << 16 | 0x7309, 0  # POPC
    yield DATA << 32 | SHARED << 24 | RESULT << 16 | 0x738C, 0  # ATOMS.ADD
    yield DATA << 32 | SHARED << 24 | RESULT << 16 | 0x738D, 9  # ATOMS.CAS
    for bits in (0x081EE1C4, 0x081EE5C4):
        yield DATA << 32 | ADDRESS << 24 | RESULT << 16 | 0x79A8, bits  # ATOMG.ADD
    yield DATA << 32 | ADDRESS << 24 | 0x798E, 0x0C10E184  # REDG


def writes(low):
    return low & 0xFFFF not in (0x7918, 0x7986, 0x7388, 0x798E)


code = [
    word(9 << 16 | 0x7919, 0x2100, 5, write=0),  # S2R R9, SR_TID.X
    word(0x0000820000047AB9, 0x0A00),  # ULDC.64 UR4, c[0x0][0x208]
    word(0x00008400FF027B82, 0x0A00, write=1),  # LDC.64 R2, c[0x0][0x210]
    word(0x00008600FF1C7B82, 0x0A00, write=2),  # LDC.64 R28, c[0x0][0x218]
    nop(0x3F, 15),
    move(13, 0x400),
    word(ENTRIES * 16 << 32 | 9 << 24 | 2 << 16 | 0x7825, 0x078E0002, 8),  # R2 += R9 * 2048
    word(16 << 32 | 9 << 24 | ADDRESS << 16 | 0x7825, 0x078E001C, 8),  # R28 += R9 * 16
    word(16 << 32 | 9 << 24 | SHARED << 16 | 0x7824, 0x078E000D, 8),  # R12 = R9 * 16 + R13
]
for low, high in measured():
    code += [move(register, register) for register in range(8, 12)] + [nop(0, 15)] * 2
    read = 7 if low == 0x7918 else 1
    code += [CLOCK(FIRST), word(low, high, 2, read=read, write=3 if writes(low) else 7), WAITS, CLOCK(SECOND)]
    code += [nop(0x3F, 15), move(8, 1), move(11, 0)]
    code += [word(0xFF << 24 | to << 16 | 0x7224, 0x078E0000 | at) for to, at in ((9, FIRST), (10, SECOND))]
    code += [nop(0, 15), word(8 << 32 | 2 << 24 | 0x7986, 0x0C101D04, 2, read=1)]  # STG.128 [R2]
    code += [word(16 << 32 | 2 << 24 | 2 << 16 | 0x7810, 0x07FFE0FF, wait=2)]  # R2 += 16
code += [word(0x794D, 0x03800000, 5)] + [nop()] * 10
template, target = sys.argv[1:]
open(target, "wb").write(replace_code(open(template, "rb").read(), b"".join(code)))
