#!/usr/bin/env python3
"""Writes a CUDA program of random kernels that access memory, branch, loop and call.

    fuzz/cuda/accesses.py SEED KERNELS > a.cu

Loads, stores and atomics of 1 to 16 bytes, in global, shared, local and constant memory and through
pointers that choose among them; nested branches, loops, switches, early exits, recursive functions;
barriers, shuffles, votes, matches and reductions. Each thread writes to cells of its own; barriers
give the cells to other threads, so that no kernel has a race. The program prints a hash of each
kernel's results, with the argument N all results of kernel N. fuzz/cuda/compare.sh runs it from
PTX, from machine code, and on a GPU.
"""

import program
from memory import MEMBERS, WORDS, Counter, Memory, Region
from program import BLOCK, GRID
from statements import ALL, PACK, Body, Scope

# Cells of a kernel's constant memory.
CONSTANTS = 4
PARAMETERS = "const unsigned *in, Cell<%d> *p, unsigned a, int e, u64 q, int depth"


def constants(number):
    return Memory(f"co{number}[#]", "constant", "r", CONSTANTS)


class Function(Body):
    """A function that is called, not inlined, with a cell or with a structure. It calls earlier
    ones; a recursive one calls itself, too, while `depth` is positive."""

    def __init__(self, draw, number, size, index, access, earlier):
        super().__init__(draw, number, size)
        self.title, self.is_pack, self.access = f"f{number}_{index}", self.chance(0.25), access
        self.is_recursive = not self.is_pack and self.chance(0.4)
        if self.is_pack:
            self.values |= {"u": ["x.b", "x.w", "a"], "i": ["x.h"], "U": ["x.d"]}
            self.head = f"Pack {self.title}(const unsigned *in, Pack x, unsigned a)"
            self.memories, self.returned = [constants(number)], f"return {PACK};"
            self.sum = "x.d"
        else:
            self.values |= {"u": ["a"], "i": ["e"], "U": ["q"]}
            self.head = f"u64 {self.title}({PARAMETERS % size})"
            self.memories = [Memory("(*p)", "generic", access), constants(number)]
            self.calls = [function for function in earlier if not function.is_recursive]
            self.calls_left = 2
            if self.is_recursive:
                self.calls, self.depth = self.calls + [self] * 3, "depth"
            self.returned, self.sum = "return {U};", "q"
            if self.chance(0.4):
                self.emit(f"Cell<{size}> lo = *p;")
                self.memories.append(Memory("lo", "local", "w"))
        self.define("I", self.fill("(long long){U}"))
        self.block(draw.randint(2, 6), Scope(depth=1))
        if self.is_recursive:
            self.call(Scope(depth=1))
        self.block(draw.randint(1, 4), Scope(depth=1))
        if self.is_recursive:
            self.returned = f"return {{U}} ^ (*p).ul[{self.index(size // 8)}];"
        self.emit(self.fill(self.returned))

    def text(self):
        lines = "\n".join(self.lines)
        return f"__device__ __noinline__ {self.head} {{\n{lines}\n}}\n"


class Kernel(Body):
    """A random kernel, with the variables and functions that it uses."""

    def __init__(self, draw, number):
        super().__init__(draw, number, draw.choice([16, 16, 32, 64]))
        self.cell, self.words = f"Cell<{self.size}>", self.size // 4
        access, self.functions, self.globals = draw.choice("wa"), [], []
        for index in range(draw.randint(0, 3)):
            earlier = list(self.functions)
            self.functions.append(Function(draw, number, self.size, index, access, earlier))
        self.calls, self.calls_left = [f for f in self.functions if not f.is_recursive], 5
        self.pointed = [f.title for f in self.calls if not f.is_pack]
        if len(self.pointed) > 1:
            self.table = f"table{number}", len(self.pointed)
        self.values |= {"u": ["lane", "t", "c", "a"], "i": ["k", "e"], "U": ["q", "s"], "I": ["r"]}
        self.start()
        for _ in range(draw.randint(1, 2)):
            self.block(draw.randint(5, 9), Scope(lanes=ALL, barriers=True))
            draw.choice([self.tickets, self.asynchronous, lambda: None, lambda: None])()
        self.end()

    def declare(self, kind, name, count):
        """Declares `count` numbers or cells for each block, in shared or in global memory."""
        if name.startswith("sh"):
            self.emit(f"__shared__ {kind} {name}[{count}];")
        else:
            self.globals.append(f"__device__ {kind} {name}_{self.number}[{GRID * count}];\n")
            self.emit(f"{kind} *{name} = {name}_{self.number} + blockIdx.x * {count};")

    def repeat(self, count, text):
        self.emit("#pragma unroll 1")
        self.emit(f"for (unsigned j = 0; j < {count}; j++) {text}")

    def start(self):
        """Declares the memory and fills it."""
        draw, words = self.draw, self.words
        local = Memory("lo[#]", "local", "w", draw.choice([1, 2, 4]))
        names = draw.choice([["sh"], ["gl"], ["sh", "gl"], ["gl", "sh"], ["sh0", "sh1", "gl"]])
        regions = [Region(draw, f"{name}[#]", "global" if name == "gl" else "shared")
                   for name in names]
        self.memories = [*regions, local, constants(self.number)]
        self.emit("INPUTS")
        for name, region in zip(names, regions):
            self.declare(self.cell, name, region.count * BLOCK)
        self.emit(f"{self.cell} lo[{local.count}];")
        places = [(region.place("t", f"(j / {words})"), region.count) for region in regions]
        for place, count in [*places, (f"lo[j / {words}]", local.count)]:
            self.repeat(count * words,
                        f"{place}.ui[j % {words}] = in[(tid * 5 + j * 37) % {WORDS}];")
        for index in range(draw.randint(0, 3)):
            name = f"{draw.choice(['sh', 'gl'])}_count{index}"
            counter = Counter(draw, f"{name}[#]", "")
            self.declare(counter.type, name, 8)
            self.emit(f"if (t < 8) {name}[t] = {draw.choice(['0', 'k', '1000', 't'])};")
            self.counters.append(counter)
        if any(counter.type == "u64" for counter in self.counters):
            self.emit(f"__shared__ unsigned locks[{len(self.counters)}];")
            self.emit(f"if (t < {len(self.counters)}) locks[t] = 0;")
        self.synchronize(2)

    def tickets(self):
        """Stores to places that an atomic gives in any order; the sum does not depend on it."""
        tickets, slots, v = self.name(), self.name(), self.name()
        self.emit(f"__shared__ unsigned {tickets};")
        self.emit(f"__shared__ u64 {slots}[{BLOCK}];")
        self.emit(f"if (t == 0) {tickets} = 0;")
        self.synchronize(2)
        self.emit(self.fill(f"if ({{p}}) {slots}[atomicAdd(&{tickets}, 1)] = {{U}};"))
        self.synchronize(2)
        self.emit(f"u64 {v} = {tickets};")
        self.emit(f"for (unsigned j = 0; j < {tickets}; j++) {v} += mix({slots}[j], 1);")
        self.values["U"].append(v)

    def asynchronous(self):
        """Copies to shared memory while other statements run."""
        name, member, size = self.name(), *self.draw.choice([("ui", 4), ("ul", 8), ("w4", 16)])
        self.emit(f"__shared__ Cell<16> {name}[{BLOCK}];")
        for part in range(16 // size):
            index = self.fill("{u} %% %d" % (WORDS * 4 // size))
            zeros = self.draw.choice(["", f", {size // 2}"])
            self.emit(f"__pipeline_memcpy_async(&{name}[t].{member}[{part}], "
                      f"({MEMBERS[member][0]} *)in + {index}, {size}{zeros});")
        self.emit("__pipeline_commit();")
        self.block(4, Scope(lanes=ALL, barriers=True))
        self.emit("__pipeline_wait_prior(0);")
        other = "t"
        if self.chance(0.5):
            self.synchronize(2)
            other = self.fill("{u} & %d" % (BLOCK - 1))
        self.define("U", f"join({name}[{other}].w4[0])")

    def end(self):
        """Mixes values and memory to one number, after statements that may return before it."""
        self.emit("__syncthreads();")
        for region in self.regions():
            region.set("own", self.draw.randrange(BLOCK))
        for counter in self.counters:
            counter.operation = None
        self.pointers = []
        if self.chance(0.5):
            self.returned = "out[tid] = mix({U}, {u}); return;"
        self.block(self.draw.randint(2, 6), Scope())
        for name in [name for t in "uiUI" for name in self.values[t][-3:]]:
            self.emit(f"s = mix(s, {name});")
        doubles = self.size // 8
        places = [(m.place(m.own(), f"(j / {doubles})"), m.count) for m in self.regions()]
        places.append((f"lo[j / {doubles}]", self.memories[-2].count))
        for place, count in places:
            self.repeat(count * doubles, f"s = mix(s, {place}.ul[j % {doubles}]);")
        for counter in self.counters:
            self.emit(f"s = mix(s, bits({counter.text.replace('#', 't & 7')}));")
        # Recursive functions may part lanes for good, on a GPU as well. Afterwards, barriers fail,
        # and so does code that changes a uniform register.
        self.calls = [function for function in self.functions if function.is_recursive]
        if self.calls:
            self.calls_left, self.table = 1, None
            self.call(Scope())
            self.emit(f"s ^= {self.values['U'][-1]};")
        self.emit("out[tid] = s;")

    def text(self):
        numbers = [f"{self.draw.choice([self.draw.getrandbits(32), self.draw.randrange(9)])}u"
                   for _ in range(CONSTANTS * self.words)]
        rows = [numbers[at:at + self.words] for at in range(0, len(numbers), self.words)]
        rows = ",\n  ".join("{{%s}}" % ", ".join(row) for row in rows)
        text = f"__constant__ {self.cell} co{self.number}[] = {{\n  {rows}}};\n"
        text += "".join(self.globals) + "".join(f.text() for f in self.functions)
        lines = "\n".join(self.lines)
        if f"table{self.number}[" in lines:
            text += f"__device__ u64 (*table{self.number}[])({PARAMETERS % self.size}) = "
            text += "{%s};\n" % ", ".join(self.pointed)
        return f"{text}__global__ void k{self.number}(ARGUMENTS) {{\n{lines}\n}}\n"


FUNCTIONS = r"""
template <int B> union alignas(16) Cell {
CELLS
};
struct Pack { unsigned char b; short h; unsigned w; u64 d; };
template <class T> __device__ u64 bits(T v) { u64 all = 0; memcpy(&all, &v, sizeof v); return all; }
template <class T> __device__ u64 join(T v) {
  u64 w[2] = {0, 0};
  memcpy(w, &v, sizeof v);
  return w[0] ^ w[1] * 0x9e3779b97f4a7c15;
}
template <class T> __device__ T spread(u64 v) {
  u64 w[2] = {v, v * 0x9e3779b97f4a7c15};
  T t;
  memcpy(&t, w, sizeof t);
  return t;
}
template <class T> __device__ void add_by_cas(T *p, T v) {
  for (T old, seen = 0; (old = atomicCAS(p, seen, seen + v)) != seen; seen = old) {}
}
__device__ void add_by_lock(unsigned *lock, volatile u64 *p, u64 v) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *p = *p + v;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
__device__ __noinline__ unsigned together(unsigned v, int by) {
  return __shfl_xor_sync(~0u, v, by) + __ballot_sync(~0u, v & 1);
}
"""

INPUTS = r"""
#define INPUTS                                                                                  \
  unsigned tid = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x, lane = t & 31;         \
  unsigned a = in[tid], c = in[tid + n];                                                        \
  int e = in[tid + 2 * n], k = (int)(in[tid + 3 * n] & 0xfff) - 2048;                           \
  u64 q = (u64)a << 32 | in[tid + 4 * n], s = 0; long long r = q * 0x9e3779b97f4a7c15;
"""


def make(draw, seed, count):
    cells = "\n".join(f"  {kind} {member}[B / {size}];"
                      for member, (kind, size, _) in MEMBERS.items())
    kernels = [Kernel(draw, number).text() for number in range(count)]
    functions = FUNCTIONS.replace("CELLS", cells)
    # Recursive functions need more stack than a GPU gives unless asked.
    return program.text(seed, kernels, ["cuda_pipeline.h"], functions, INPUTS, stack=8192)


if __name__ == "__main__":
    program.write(__doc__, make)
