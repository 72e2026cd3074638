"""Assembles loads.cubin: a read of the clock, loads of constants (LDC), another read, an IADD3 that
waits for the results, and a third. As ../reads/reads.py otherwise, with the kernel of ../turns.

    python3 loads.py kernel.cubin loads.cubin
"""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent / "parting"))
from assemble import ENTRIES, move, nop, replace_code, word

FIRST, SECOND, THIRD = 30, 31, 17  # registers of the clocks
RESULT, LANE, ADDRESS = 14, 9, 40
CLOCK = lambda register: word(register << 16 | 0x7805, 0x5000, 13)  # CS2R.32
WAITS = word(RESULT << 24 | RESULT << 16 | 0x7810, 0x07FFE0FF, 6, wait=8)  # IADD3 R14, R14, 0
RZ = 0xFF


def load(address, offset=0, result=RESULT, counter=3, stall=2):
    low = 3 << 54 | offset << 38 | address << 24 | result << 16 | 0x7B82
    return word(low, 0x800, stall, write=counter)


code = [
    word(LANE << 16 | 0x7919, 0x2100, 5, write=0),  # S2R R9, SR_TID.X
    word(0x0000820000047AB9, 0x0A00),  # ULDC.64 UR4, c[0x0][0x208]
    word(0x00008400FF027B82, 0x0A00, write=1),  # LDC.64 R2, c[0x0][0x210]
    nop(0x3F, 15),
    word(ENTRIES * 16 << 32 | LANE << 24 | 2 << 16 | 0x7825, 0x078E0002, 8),  # R2 += R9 * 2048
]
# Registers with as many addresses, so many bytes apart.
registers = {}
for addresses in (1, 2, 8, 32):
    for apart in (4, 64):
        register = registers[addresses, apart] = ADDRESS + len(registers)
        code += [word(addresses - 1 << 32 | LANE << 24 | register << 16 | 0x7812, 0x078EC0FF, 8)]
        code += [word(apart << 32 | register << 24 | register << 16 | 0x7824, 0x078E00FF, 8)]
code += [load(RZ, line) for line in range(0, 8192, 64)] + [nop(0x3F, 15)]

rows = {}
for addresses in (1, 2, 8, 32):
    for count in (1, 4, 6, 8):
        rows[f"{count} of {addresses}"] = [load(registers[addresses, 4])] * count, []
for count in (1, 2, 4, 8):
    rows[f"{count} fixed"] = [load(RZ, 4 * i) for i in range(count)], []
for addresses in (2, 8, 32):
    rows[f"1 of {addresses} lines"] = [load(registers[addresses, 64], 2048)], []
    rows[f"1 of {addresses} lines again"] = [load(registers[addresses, 64], 2048)], []
for count in (1, 5, 6, 8):
    before = [load(registers[32, 4], result=16, counter=4)] * count
    rows[f"1 fixed after {count} of 32"] = before, [load(RZ)]

for before, after in rows.values():
    code += [nop(0, 15)] * 6 + [move(register, 5) for register in (14, 15, 16, 17, 18)]
    code += [word(0x7B1D, 0x00010000, 5), nop(0, 15), nop(0, 15)]  # BAR.SYNC
    code += [CLOCK(FIRST)] + before + [CLOCK(SECOND)] + after
    code += [WAITS, CLOCK(THIRD), nop(0x3F, 15), move(8, 1)]
    clocks = ((9, FIRST), (10, SECOND), (11, THIRD))
    code += [word(0xFF << 24 | to << 16 | 0x7224, 0x078E0000 | at) for to, at in clocks]
    code += [nop(0, 15), word(8 << 32 | 2 << 24 | 0x7986, 0x0C101D04, 2, read=1)]  # STG.128
    code += [word(16 << 32 | 2 << 24 | 2 << 16 | 0x7810, 0x07FFE0FF, wait=2), nop(0x3F, 15)]
code += [word(0x794D, 0x03800000, 5)] + [nop()] * 10
template, target = sys.argv[1:]
open(target, "wb").write(replace_code(open(template, "rb").read(), b"".join(code)))
print("\n".join(rows))
