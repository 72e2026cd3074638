"""Assembles programs of a .txt file beside it into one kernel for sm_90: a block runs one program.

    nvcc -arch=sm_90 -cubin kernel.cu -o kernel.cubin
    python3 assemble.py held.txt kernel.cubin programs.cubin

kernel.cu is `extern "C" __global__ void k(uint4 *log, unsigned *in) { log[threadIdx.x].x = in[0]; }`: its
code is replaced. Launched with blocks of 32 threads, as many as there are programs, each lane writes
128 entries of 16 bytes to log[(block * 32 + lane) * 128]: active mask, clock, number of the `log`, 0.
"""

import struct
import sys

ENTRIES = 128
SLOT = 8192  # bytes of a program
FIRST = 16  # R16 is register 0 of a program
RETURN = FIRST + 8


def word(low, high, stall=6, write=7, read=7, wait=0):
    """One instruction with its control word: long stalls, and a wait where a counter is raised."""
    keep = 1 if 0 < stall < 12 else 0
    control = stall | keep << 4 | write << 5 | read << 8 | wait << 11
    return struct.pack("<QQ", low, high & ~(0x1FFFFF << 41) | control << 41)


def move(register, value, opcode=0x7424):
    return word(value << 32 | 0xFF << 24 | register << 16 | opcode, 0x078E00FF)


def is_among(mask):
    """P0 = lane is in the mask; R4 holds the lane's bit."""
    return word(mask << 32 | 4 << 24 | 0xFF << 16 | 0x7812, 0x0780C0FF, 13)


def jump(low, high, at, target):
    relative = (target - at - 16) // 4
    low |= (relative & 0xFF) << 16 | (relative >> 8 & (1 << 30) - 1) << 34
    return word(low, high | relative >> 38 & 0x3FFFF, 5)


def nop(wait=0, stall=0):
    return word(0x7918, 0, stall, wait=wait)


def log(number):
    return [
        word(8 << 16 | 0x7806, 0x038E0100, 13),  # VOTE.ANY R8, PT, PT
        word(9 << 16 | 0x7805, 0x5000, 13),  # CS2R.32 R9, SR_CLOCKLO
        move(10, number),
        move(11, 0),
        word(8 << 32 | 2 << 24 | 0x7986, 0x0C101D04, 2, read=1),  # STG.E.128 [R2.64], R8
        word(16 << 32 | 2 << 24 | 2 << 16 | 0x7810, 0x07FFE0FF, wait=2),  # R2 += 16
    ]


def instructions(operation, at, place):
    """Machine code of an operation at an address; `place` gives the address of an operation."""
    name, *words = operation.split()
    number = lambda i: int(words[i])
    mask = lambda i: int(words[i], 16)
    if name == "log":
        return log(number(0))
    if name == "bra":
        return [is_among(mask(0)), jump(0x947, 0x03800000, at + 16, place(number(1)))]
    if name == "bssy":
        return [word(number(0) << 16 | 0x7945, 0x03800000, 12)]
    if name == "bsync":
        return [word(number(0) << 16 | 0x7941, 0x03800000, 5)]
    if name == "break":
        return [is_among(mask(0)), word(number(1) << 16 | 0x942, 0x03800000, 5)]
    if name == "exit":
        return [is_among(mask(0)), word(0x94D, 0x03800000, 5)] if words else [word(0x794D, 0x03800000, 5)]
    if name == "yield":
        return [word(0x7946, 0x03800000, 5)]
    if name in ("save", "take"):
        clear = 0x00100000 if name == "take" else 0
        return [word(number(1) << 24 | FIRST + number(0) << 16 | 0x7355, clear, 15, write=0), nop(0x3F, 15)]
    if name == "load":
        return [word(FIRST + number(1) << 32 | number(0) << 24 | 0x7356, 0, 15, read=0)]
    if name == "set":
        return [is_among(mask(1)), move(FIRST + number(0), mask(2), 0x0424)]
    if name == "copy":
        return [word(0xFF << 24 | FIRST + number(0) << 16 | 0x7224, 0x078E0000 | FIRST + number(1))]
    if name == "add":
        register = FIRST + number(0)
        return [word(mask(1) << 32 | register << 24 | register << 16 | 0x7810, 0x07FFE0FF)]
    if name == "bit":  # P0 = (register ^ mask) & the lane's bit
        test = word(mask(1) << 32 | FIRST + number(0) << 24 | 0xFF << 16 | 0x7812, 0x07802804, 13)
        return [test, jump(0x947, 0x03800000, at + 16, place(number(2)))]
    if name == "call":
        return [move(RETURN, at + 32), jump(0x7944, 0x03C00000, at + 16, place(number(0)))]
    if name == "return":
        return [jump(RETURN << 24 | 0x7950, 0x03C00000, at, 0)]
    if name == "ret":
        code = [move(RETURN, place(number(0)))]
        for i in (1, 3):
            code += [is_among(mask(i)), move(RETURN, place(number(i + 1)), 0x0424)]
        return code + instructions("return", at + 80, place)
    raise SystemExit(f"`{name}` is no operation")


def program(text, start):
    operations = text.split("; ")
    places = [start]
    for operation in operations:
        places.append(places[-1] + 16 * len(instructions(operation, 0, lambda _: 0)))
    code = []
    for operation, at in zip(operations, places):
        code += instructions(operation, at, lambda i: places[i])
    assert len(code) * 16 <= SLOT, "a program is too long"
    return b"".join(code + [nop()] * (SLOT // 16 - len(code)))


def prologue():
    base = 384
    code = [
        word(9 << 16 | 0x7919, 0x2100, 5, write=0),  # S2R R9, SR_TID.X
        word(10 << 16 | 0x7919, 0x2500, 5, write=0),  # S2R R10, SR_CTAID.X
        word(0x0000820000047AB9, 0x0A00),  # ULDC.64 UR4, c[0x0][0x208]
        word(0x00008400FF027B82, 0x0A00, write=1),  # LDC.64 R2, c[0x0][0x210]
        nop(0x3F, 15),
        move(0, 1),
        word(0x20 << 32 | 10 << 24 | 6 << 16 | 0x7824, 0x078E0009, 8),  # R6 = block * 32 + lane
        word(ENTRIES * 16 << 32 | 6 << 24 | 2 << 16 | 0x7825, 0x078E0002, 8),  # R2 += R6 * 2048
        word(9 << 32 | 4 << 16 | 0x7219, 0x06FF, 8),  # R4 = 1 << lane
        move(12, base),
        word(SLOT << 32 | 10 << 24 | 20 << 16 | 0x7824, 0x078E000C, 8),  # R20 = block * SLOT + base
        move(21, 0),
        *(move(FIRST + i, 0) for i in range(3)),
        move(RETURN + 1, 0),
    ]
    code.append(jump(20 << 24 | 0x7950, 0x03C00000, len(code) * 16, 0))  # RET.REL.NODEC R20 0x0
    return b"".join(code + [nop()] * (base // 16 - len(code)))


def replace_code(cubin, code, registers=64):
    """Puts `code` at the end of the file, as the section .text.k."""
    file = bytearray(cubin)
    sections, = struct.unpack_from("<Q", file, 0x28)
    size, count, names = struct.unpack_from("<HHH", file, 0x3A)
    read = lambda i: list(struct.unpack_from("<IIQQQQIIQQ", file, sections + i * size))
    strings = read(names)[4]
    by_name = {}
    for i in range(count):
        start = strings + read(i)[0]
        by_name[file[start:file.index(0, start)].decode()] = i
    file += bytes(-len(file) % 128)
    text = read(by_name[".text.k"])
    former, text[4], text[5] = text[4], len(file), len(code)
    text[7] = text[7] & 0xFFFFFF | registers << 24
    struct.pack_into("<IIQQQQIIQQ", file, sections + by_name[".text.k"] * size, *text)
    info = read(by_name[".nv.info"])
    at = info[4]
    while at < info[4] + info[5]:
        form, attribute, length = struct.unpack_from("<BBH", file, at)
        if (form, attribute) == (4, 0x2F):
            struct.pack_into("<I", file, at + 8, registers)
        at += 4 + (length if form == 4 else 0)
    symbols = read(by_name[".symtab"])
    for at in range(symbols[4], symbols[4] + symbols[5], 24):
        symbol = list(struct.unpack_from("<IBBHQQ", file, at))
        if symbol[3] == by_name[".text.k"] and symbol[1] & 15 == 2:
            symbol[5] = len(code)
            struct.pack_into("<IBBHQQ", file, at, *symbol)
    headers, = struct.unpack_from("<Q", file, 0x20)
    size, count = struct.unpack_from("<HH", file, 0x36)
    for at in range(headers, headers + size * count, size):
        header = list(struct.unpack_from("<IIQQQQQQ", file, at))
        if header[0] == 1 and header[1] & 1 and header[2] <= former < header[2] + header[5]:
            header[2], header[5], header[6] = len(file), len(code), len(code)
            struct.pack_into("<IIQQQQQQ", file, at, *header)
    return bytes(file) + code


def main():
    source, template, target = sys.argv[1:]
    lines = [line for line in open(source).read().splitlines() if not line.startswith("#")]
    code = prologue()
    for text in lines[::2]:
        code += program(text, len(code))
    open(target, "wb").write(replace_code(open(template, "rb").read(), code))


if __name__ == "__main__":
    main()
