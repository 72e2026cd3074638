#!/usr/bin/env python3
"""Writes a CUDA program of random kernels that compute with most of CUDA's arithmetic.

    fuzz/cuda/expressions.py SEED KERNELS > e.cu

Integers of 32 and 64 bits, f32, f64, f16, bf16 and pairs of them: operators, intrinsics, functions
of the math library, conversions, video instructions, shuffles, votes and reductions, in branches
and loops. The program prints a hash of each kernel's results, with the argument N all results of
kernel N. fuzz/cuda/compare.sh runs it from PTX, from machine code, and on a GPU.
"""

import re

import program

TYPES = {
    "u": "unsigned", "i": "int", "U": "unsigned long long", "I": "long long", "f": "float",
    "d": "double", "h": "__half", "H": "__half2", "b": "__nv_bfloat16", "B": "__nv_bfloat162",
    "p": "bool",
}
# Kinds of values that a kernel computes with.
KINDS = ["uuuiiiUIp", "ffffiup", "dddiIp", "hhHHffup", "bbBBffup", "uiUIfdhHbBp"]
# Directions of rounding, and the integers of conversions.
ROUNDS = ["rn", "rz", "ru", "rd"]
INTEGERS = {"i": "int", "u": "uint", "I": "ll", "U": "ull"}


def calls(result, arguments, names):
    """Returns calls of functions with arguments of the given types, as (result, text)."""
    parameters = ", ".join("{%s}" % a for a in arguments)
    return [(result, f"{name}({parameters})") for name in names.split()]


def integer_operations():
    for t in "uiUI":
        for o in "+-*&|^":
            yield t, "({%s} %s {%s})" % (t, o, t)
        bits = 63 if t in "UI" else 31
        for o in ["<<", ">>"]:
            yield t, "({%s} %s ({u} & %d))" % (t, o, bits)
            for by in [1, 5, 16, bits]:
                yield t, "({%s} %s %d)" % (t, o, by)
        # Divisors are positive: no overflow.
        divisor = "(({%s} & 0xffff) | 1)" % t
        for o in "/%":
            yield t, "({%s} %s %s)" % (t, o, divisor)
            for by in [3, 7, 10, 641, 1000003]:
                yield t, "({%s} %s %d)" % (t, o, by)
        for form in ["~{0}", "-{0}", "({0} * {0} + {0})", "min({0}, {0})", "max({0}, {0})",
                     "min(max({0}, {0}), {0})", "max({0} + {0}, {0})", "(({0} & {0}) ^ ~{0})",
                     "({p} ? {0} : {0})", "({0} * 9)", "({0} * 100)"]:
            yield t, form.replace("{0}", "{%s}" % t)
        for other in "uiUI".replace(t, ""):
            yield t, "(%s){%s}" % (TYPES[t], other)
    yield "U", "((unsigned long long){u} * {u} + {U})"
    yield "I", "((long long){i} * {i} + {I})"
    for t, cast in [("i", "signed char"), ("i", "short"), ("u", "unsigned char")]:
        yield t, "(%s)(%s)({%s} >> 8)" % (TYPES[t], cast, t)


def intrinsics():
    yield from calls("u", "uu", "__umulhi __uhadd __urhadd __umul24")
    yield from calls("i", "ii", "__mulhi __hadd __rhadd __mul24 __vimax_s32_relu")
    yield from calls("u", "u", "__brev __popc __clz __vabs4 __vneg2 __vabsss2 __vnegss4")
    yield from calls("i", "i", "__ffs abs __clz")
    yield from calls("u", "uuu", "__byte_perm __funnelshift_l __funnelshift_r __funnelshift_lc "
                     "__funnelshift_rc __dp4a __dp2a_lo __dp2a_hi __usad __viaddmax_u32 "
                     "__viaddmin_u32 __vimax3_u32 __viaddmax_s16x2 __viaddmin_u16x2 "
                     "__vimax3_s16x2 __vimin3_u16x2 __viaddmax_s16x2_relu")
    yield from calls("i", "iii", "__dp4a __dp2a_lo __viaddmax_s32 __viaddmin_s32 __vimax3_s32 "
                     "__viaddmax_s32_relu __vimin3_s32 __vimax3_s32_relu")
    yield from calls("u", "uu", "__vadd2 __vadd4 __vsub2 __vsub4 __vmaxs2 __vmaxs4 __vmaxu4 "
                     "__vminu2 __vminu4 __vabsdiffu4 __vabsdiffs2 __vcmpgtu4 __vcmpeq4 __vcmplts2 "
                     "__vavgu4 __vavgs2 __vsadu4 __vsads2 __vsetgtu4 __vhaddu4 __vaddss2 "
                     "__vaddus4 __vsubss4 __vseteq2")
    yield from calls("U", "UU", "__umul64hi")
    yield from calls("I", "II", "__mul64hi")
    yield from calls("i", "I", "__popcll __clzll __ffsll")
    yield from calls("U", "U", "__brevll")
    for row in ["3 bfe.u32 u", "3 bfe.s32 i", "3 prmt.b32.f4e u", "3 prmt.b32.rc8 u",
                "3 prmt.b32.ecl u", "2 bmsk.clamp.b32 u", "2 bmsk.wrap.b32 u",
                "2 szext.wrap.s32 i", "2 szext.clamp.u32 u", "1 bfind.u32 u",
                "1 bfind.shiftamt.s32 u", "3 mad.hi.s32 i", "3 mad.hi.sat.s32 i", "2 add.sat.s32 i",
                "2 sub.sat.s32 i", "3 mad24.hi.u32 u", "2 mul24.hi.u32 u"]:
        count, name, t = row.split()
        yield t, "ASM%s(%s%s)" % (count, name, ", {u}" * int(count))
    for t, text in [("u", "__shfl_xor_sync(~0u, {u}, 5)"),
                    ("i", "__shfl_down_sync(~0u, {i}, 3, 16)"),
                    ("f", "__shfl_sync(~0u, {f}, {u} & 31)"), ("U", "__shfl_xor_sync(~0u, {U}, 4)"),
                    ("u", "__ballot_sync(~0u, {p})"), ("u", "__match_any_sync(~0u, {u} & 3)"),
                    ("u", "__reduce_add_sync(~0u, {u})"), ("i", "__reduce_min_sync(~0u, {i})")]:
        yield "warp", (t, text)


def comparisons():
    for t in "uiUIfd":
        for o in ["<", "<=", "==", "!=", ">", ">="]:
            yield "p", "({%s} %s {%s})" % (t, o, t)
    for form in ["(({u} & 1) != 0)", "({p} && {p})", "({p} || {p})", "({p} ^ {p})", "!{p}"]:
        yield "p", form


def float_operations():
    for t, end in [("f", "f"), ("d", "")]:
        for o in "+-*/":
            yield t, "({%s} %s {%s})" % (t, o, t)
        for form in ["fma{e}({0}, {0}, {0})", "fma{e}({0}, {0}, -{0})", "-{0}", "({p} ? {0} : {0})",
                     "ldexp{e}({0}, {i} % 40)", "fmin{e}(fmax{e}({0}, {0}), {0})"]:
            yield t, form.replace("{0}", "{%s}" % t).replace("{e}", end)
        names = "fmin fmax copysign fdim nextafter fmod remainder pow atan2 hypot"
        yield from calls(t, t * 2, " ".join(n + end for n in names.split()))
        names = ("sqrt rsqrt fabs floor ceil trunc rint round logb exp2 log2 exp log sin cos tan "
                 "atan asin acos tanh sinh cosh cbrt erf rcbrt exp10 log1p expm1 sinpi cospi erfc "
                 "erfinv normcdf")
        yield from calls(t, t, " ".join(n + end for n in names.split()))
        yield from calls("p", t, "isnan isinf isfinite")
    yield from calls("f", "f", "__sinf __cosf __expf __logf __log2f __exp10f __tanf __saturatef "
                     "__frsqrt_rn")
    yield from calls("f", "ff", "__fdividef __powf")
    for r in ROUNDS:
        for name in ["add", "sub", "mul", "div"]:
            yield from calls("f", "ff", f"__f{name}_{r}")
            yield from calls("d", "dd", f"__d{name}_{r}")
        yield from calls("f", "fff", f"__fmaf_{r}")
        yield from calls("d", "ddd", f"__fma_{r}")
        yield from calls("f", "f", f"__frcp_{r} __fsqrt_{r}")
        yield from calls("d", "d", f"__drcp_{r} __dsqrt_{r}")
        yield from calls("f", "d", f"__double2float_{r}")
        yield from calls("h", "f", f"__float2half_{r}")
        yield from calls("b", "f", f"__float2bfloat16_{r}")
        for t, name in INTEGERS.items():
            yield from calls(t, "f", f"__float2{name}_{r}")
            yield from calls(t, "d", f"__double2{name}_{r}")
            yield from calls(t, "h", f"__half2{name}_{r}")
            yield from calls("f", t, f"__{name}2float_{r}")
            yield from calls("h", t, f"__{name}2half_{r}")
    yield "d", "(double){i}"
    yield "d", "(double){f}"
    yield "f", "((float)({i} & 0xffff) * 0.0625f)"
    yield "d", "((double)({i} % 1000) * 0.01)"
    yield from calls("i", "f", "__float_as_int")
    yield from calls("f", "i", "__int_as_float")
    yield from calls("I", "d", "bits_of")
    yield from calls("d", "I", "__longlong_as_double")


def half_operations():
    for h, H, name in [("h", "H", "half"), ("b", "B", "bfloat16")]:
        yield from calls(h, h * 2, "__hadd __hsub __hmul __hmin __hmax __hmin_nan __hadd_sat")
        yield from calls(h, h * 2, "__hdiv __hmul_sat __hmax_nan")
        yield from calls(h, h, "__hneg __habs hsqrt hrsqrt hrcp hexp2 hlog2 hexp hlog hfloor hrint")
        yield from calls(h, h * 3, "__hfma __hfma_relu __hfma_sat")
        yield from calls(H, H * 2, "__hadd2 __hsub2 __hmul2 __hmin2 __hmax2 __h2div __heq2 __hlt2")
        yield from calls(H, H * 3, "__hfma2 __hfma2_relu")
        yield from calls(H, H, f"__hneg2 h2sqrt h2exp2 __lowhigh2highlow __high2{name}2")
        yield from calls("u", H * 2, "__hgt2_mask")
        yield from calls("p", h * 2, "__hlt __hgeu")
        yield from calls("f", h, f"__{name}2float")
        yield from calls(h, "f", f"__float2{name}")
        yield from calls(H, "ff", f"__floats2{name}2_rn")
        yield from calls(h, H, f"__low2{name}")
        yield from calls(H, h * 2, f"__halves2{name}2")
    yield from calls("h", "d", "__double2half")


def table():
    """Returns the operations by type of result."""
    rows = {}
    for part in [integer_operations, intrinsics, comparisons, float_operations, half_operations]:
        for result, text in part():
            rows.setdefault(result, []).append(text)
    return rows


class Kernel:
    """A random kernel: statements, and the values that later ones may use."""

    def __init__(self, draw, rows):
        self.draw, self.rows, self.lines, self.count = draw, rows, [], 0
        self.kinds = draw.choice(KINDS)
        self.values = {"u": ["a", "c", "tid"], "i": ["e", "k"], "U": ["q"], "I": ["r"],
                       "f": ["x", "y"], "d": ["z", "w"], "h": ["g"], "b": ["m"], "p": ["l"],
                       "H": ["g2"], "B": ["m2"]}
        self.block(draw.randint(10, 28), 0)

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def pick(self, t):
        if t in "ui" and self.draw.random() < 0.08:
            number = self.draw.choice("0x7fffffff 1 -1 0x80000000u 12345 0xff00ff".split())
            return f"(({TYPES[t]}){number})"
        values = self.values[t]
        return values[-1 - min(int(self.draw.expovariate(0.35)), len(values) - 1)]

    def fill(self, text):
        return re.sub(r"\{(\w)\}", lambda m: self.pick(m.group(1)), text)

    def define(self, t, text):
        name = self.name()
        self.lines.append(f"{TYPES[t]} {name} = {text};")
        return name

    def inner(self, result, t):
        """Adds statements of a block that sets `result`; their values end with it."""
        outside = {key: list(names) for key, names in self.values.items()}
        self.block(self.draw.randint(1, 5), 1)
        self.lines.append(f"{result} = {self.pick(t)};")
        self.values = outside

    def block(self, count, depth):
        for _ in range(count):
            chance = self.draw.random()
            t = self.draw.choice(self.kinds)
            if chance < 0.15 and depth == 0 and t != "p":
                self.nested(t, is_loop=chance > 0.10)
            elif chance > 0.95 and depth == 0:
                t, text = self.draw.choice(self.rows["warp"])
                self.values[t].append(self.define(t, self.fill(text)))
            else:
                text = self.fill(self.draw.choice(self.rows[t]))
                self.values[t].append(self.define(t, text))

    def nested(self, t, is_loop):
        result = self.define(t, self.pick(t))
        if is_loop:
            counter = self.name()
            limit = self.draw.choice([str(self.draw.randint(2, 6)), "(int)(tid & 3) + 1"])
            self.lines.append(f"for (int {counter} = 0; {counter} < {limit}; {counter}++) {{")
        else:
            self.lines.append(f"if ({self.pick('p')}) {{")
        self.inner(result, t)
        if not is_loop and self.draw.random() < 0.5:
            self.lines.append("} else {")
            self.inner(result, t)
        self.lines.append("}")
        self.values[t].append(result)

    def text(self, number):
        last = [name for names in self.values.values() for name in names[-3:]]
        sums = "\n".join(f"  s = mix(s, bits({name}));" for name in last)
        body = "\n".join("  " + line for line in self.lines)
        head = f"__global__ void k{number}(ARGUMENTS) {{\n  INPUTS\n"
        return f"{head}{body}\n{sums}\n  out[tid] = s;\n}}\n"


FUNCTIONS = r"""
#define ASM(o, args, ...) ([&] { unsigned d; asm(o args : "=r"(d) : __VA_ARGS__); return d; }())
#define ASM1(o, x) ASM(#o, " %0, %1;", "r"(x))
#define ASM2(o, x, y) ASM(#o, " %0, %1, %2;", "r"(x), "r"(y))
#define ASM3(o, x, y, z) ASM(#o, " %0, %1, %2, %3;", "r"(x), "r"(y), "r"(z))
template <class T> __device__ u64 bits(T v) { u64 all = 0; memcpy(&all, &v, sizeof v); return all; }
// Which of two NaN operands a double result has depends on their order, which ptxas chooses.
__device__ u64 bits(double v) { return isnan(v) ? 1 : (u64)__double_as_longlong(v); }
__device__ long long bits_of(double v) { return (long long)bits(v); }
"""

INPUTS = r"""
#define INPUTS                                                                                   \
  unsigned tid = blockIdx.x * blockDim.x + threadIdx.x, a = in[tid], c = in[tid + n];            \
  int e = in[tid + 2 * n], k = (int)(in[tid + 3 * n] & 0xfff) - 2048;                            \
  u64 q = (u64)a << 32 | in[tid + 4 * n], s = 0; long long r = q * 0x9e3779b97f4a7c15;           \
  float x = k * 0.03125f, y = __int_as_float(in[tid + 5 * n]);                                   \
  double z = e * 0.001, w = __longlong_as_double(q);                                             \
  __half g = __float2half(x); __half2 g2 = __halves2half2(g, __ushort_as_half(c));               \
  __nv_bfloat16 m = __float2bfloat16(x);                                                         \
  __nv_bfloat162 m2 = __halves2bfloat162(m, __ushort_as_bfloat16(c)); bool l = (a ^ c) & 4;
"""


def make(draw, seed, count):
    rows = table()
    kernels = [Kernel(draw, rows).text(k) for k in range(count)]
    return program.text(seed, kernels, ["cuda_bf16.h", "cuda_fp16.h"], FUNCTIONS, INPUTS)


if __name__ == "__main__":
    program.write(__doc__, make)
