"""Random statements of CUDA code that access memory, branch and call, for accesses.py."""

import re
from dataclasses import dataclass, replace

from memory import (ACCESSES, ATOMICS, COUNTED, FROM, INTO, MEMBERS, SCALARS, VECTORS, WORDS,
                    Memory, Region)
from program import BLOCK

ALL = frozenset(range(32))
TYPES = {"u": "unsigned", "i": "int", "U": "u64", "I": "long long", "p": "bool"}
OPERATIONS = {
    "u": ["({u} + {u})", "({u} - {u})", "({u} * {u})", "({u} ^ {u})", "({u} & {u})", "({u} | {u})",
          "({u} << ({u} & 31))", "({u} >> 5)", "(unsigned){i}", "(unsigned)({U} >> 32)",
          "(unsigned){U}", "__popc({u})", "({p} ? {u} : {u})", "(unsigned char){u}", "({u} % 100)"],
    "i": ["(int)({u} + {u})", "({i} >> 3)", "min({i}, {i})", "max({i}, {i})", "({i} & {i})",
          "(int){I}", "(signed char)({i} >> 8)", "(short){i}", "({i} % 7)", "({p} ? {i} : {i})"],
    "U": ["({U} + {U})", "({U} * {U})", "({U} ^ {U})", "((u64){u} * {u})", "(u64){i}",
          "mix({U}, {U})", "({U} >> 17)", "({U} << ({u} & 63))", "((u64){u} << 32 | {u})"],
    "I": ["(long long){U}", "(long long){i}", "({I} >> 5)", "min({I}, {I})", "({I} & {I})"],
    "p": ["({u} < {u})", "({i} <= {i})", "(({u} & 1) != 0)", "(({u} & 3) == 2)", "({U} == {U})",
          "({I} > {I})", "(({i} & 8) == 0)", "!{p}", "({p} && {p})", "({p} || {p})"],
}
PACK = "Pack{(unsigned char){u}, (short){i}, {u}, {U}}"
# Weights of statements, methods of Body.
STATEMENTS = {
    "compute": 14, "load": 22, "store": 18, "change": 6, "atomic": 10, "update": 8, "point": 7,
    "assign": 6, "copy": 3, "call": 8, "branch": 11, "loop": 8, "switch": 4, "leave": 8, "warp": 9,
    "barrier": 6, "uniform": 5, "part": 5,
}


@dataclass(frozen=True)
class Scope:
    """Where a statement is: the lanes of each warp that run it (None: unknown), and what it may do.
    `trips` bounds how often the loops around it run it."""
    depth: int = 0
    lanes: frozenset = None
    barriers: bool = False
    breaks: bool = False
    continues: bool = False
    labels: tuple = ()
    trips: int = 1


def mask_of(lanes):
    return "0x%xu" % sum(1 << lane for lane in lanes)


class Body:
    """Statements of a function or kernel, and the values and memory that later ones may use."""

    def __init__(self, draw, number, size):
        self.draw, self.number, self.size = draw, number, size
        self.lines, self.count, self.indent = [], 0, 1
        self.values = {t: [] for t in TYPES}
        self.assigned, self.memories, self.pointers, self.counters = set(), [], [], []
        self.calls, self.calls_left, self.table, self.depth = [], 0, None, ""
        self.returned, self.strongest, self.sum = None, 0, "s"

    def emit(self, text):
        self.lines.append("  " * self.indent + text)

    def chance(self, share):
        return self.draw.random() < share

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def pick(self, t):
        if t in "ui" and self.chance(0.06):
            number = self.draw.choice("0x7fffffff 1 -1 0x80000000u 12345 0xff00ff".split())
            return f"(({TYPES[t]}){number})"
        values = self.values[t]
        if t == "p" and (not values or self.chance(0.5)):
            return self.fill(self.draw.choice(OPERATIONS["p"][:7]))
        return values[-1 - min(int(self.draw.expovariate(0.3)), len(values) - 1)]

    def fill(self, text):
        """Replaces types by values, by different ones if it finds some."""
        used = set()

        def pick(found):
            tries = [self.pick(found.group(1)) for _ in range(3)]
            name = next((name for name in tries if name not in used), tries[0])
            used.add(name)
            return name

        return re.sub(r"\{(\w)\}", pick, text)

    def index(self, count):
        """Returns an index below `count`."""
        if count == 1 or self.chance(0.2):
            return str(self.draw.randrange(count))
        if count & count - 1:
            return self.fill("{u} %% %d" % count)
        form = self.draw.choice(["({u} & %d)", "({i} & %d)", "({u} >> 3 & %d)", "((int){U} & %d)"])
        return self.fill(form % (count - 1))

    def define(self, t, text):
        name = self.name()
        self.emit(f"{TYPES[t]} {name} = {text};")
        self.values[t].append(name)
        if t != "p":
            self.assigned.add(name)
            if self.chance(0.4):
                self.emit(f"{self.sum} = {self.sum} * 3 + {name};")
        return name

    def memory(self, access):
        """Returns memory of at least the access, preferring pointers."""
        allowed = ACCESSES[ACCESSES.index(access):]
        rows = [m for m in self.memories if m.access in allowed]
        rows += [m for m in self.pointers if m.access in allowed][-3:] * 2
        return self.draw.choice(rows) if rows else None

    # Statements.

    def block(self, count, scope):
        names, weights = list(STATEMENTS), list(STATEMENTS.values())
        for _ in range(count):
            getattr(self, self.draw.choices(names, weights)[0])(scope)

    def inner(self, count, scope, result):
        """Adds statements of a block, whose values end with it, and changes `result` at its end."""
        values = {t: list(names) for t, names in self.values.items()}
        pointers, self.indent = list(self.pointers), self.indent + 1
        self.block(count, replace(scope, depth=scope.depth + 1))
        new = [name for t in "uiUI" for name in self.values[t][len(values[t]):]]
        value = self.draw.choice(new) if new else self.pick("U")
        self.emit(f"{result} = {result} * 5 + {value};" if self.chance(0.7) else
                  f"{result} = {value};")
        self.values, self.pointers, self.indent = values, pointers, self.indent - 1

    def compute(self, _scope):
        t = self.draw.choice("uuuiiUUIp")
        self.define(t, self.fill(self.draw.choice(OPERATIONS[t])))

    def assign(self, _scope):
        t = self.draw.choice("uiUI")
        names = [name for name in self.values[t] if name in self.assigned]
        if names:
            operation = self.fill(self.draw.choice(OPERATIONS[t]))
            self.emit(f"{self.draw.choice(names[-4:])} = {operation};")

    def member(self, memory, members):
        """Returns a member, and the text of one in a cell of the memory."""
        member = self.draw.choice([m for m in members if MEMBERS[m][1] <= self.size])
        index = self.index(self.size // MEMBERS[member][1])
        return member, f"{memory.cell(self)}.{member}[{index}]"

    def load(self, _scope):
        if self.chance(0.12):
            return self.input()
        memory = self.memory("r")
        member, text = self.member(memory, SCALARS if self.chance(0.6) else VECTORS)
        kind, _, t = MEMBERS[member]
        if memory.space == "global" and member[1:] != "3" and self.chance(0.2):
            text = f"{self.draw.choice('__ldcg __ldca __ldcs __ldlu __ldcv'.split())}(&{text})"
        elif member in SCALARS and self.chance(0.12):
            text = f"*(volatile {kind} *)&{text}"
        if member in FROM:
            text = FROM[member] % text
        elif member in VECTORS:
            part = self.draw.choice("xyzw"[:int(member[1])])
            text, t = (f"join({text})", "U") if self.chance(0.6) else (f"{text}.{part}", t)
            text, t = (FROM[t] % text, {"f": "u", "d": "U"}[t]) if t in "fd" else (text, t)
        self.define(t, text)

    def input(self):
        t, text = self.draw.choice([("u", "in[{}]"), ("u", "__ldg(&in[{}])"), ("i", "(int)in[{}]"),
                                    ("U", "join(((const uint4 *)in)[{} / 4])"),
                                    ("U", "__ldg((const u64 *)in + {} / 2)"),
                                    ("i", "__ldg((const short *)in + {})"),
                                    ("i", "((const signed char *)in)[{} + 1]"),
                                    ("U", "join(__ldg((const uchar4 *)in + {}))")])
        self.define(t, text.replace("{}", self.fill("{u} %% %d" % WORDS)))

    def store(self, _scope):
        memory = self.memory("w")
        if not memory:
            return
        member, text = self.member(memory, SCALARS if self.chance(0.6) else VECTORS)
        kind, _, t = MEMBERS[member]
        value = f"({kind}){{{t}}}" if member in SCALARS else f"spread<{kind}>({{U}})"
        if member in VECTORS and t in "uiU" and self.chance(0.3):
            text += "." + self.draw.choice("xyzw"[:int(member[1])])
            value = "{%s}" % t
        value, is_cached = self.fill(INTO.get(member, value)), memory.space == "global"
        if is_cached and text.endswith("]") and member[1:] != "3" and self.chance(0.2):
            name = self.draw.choice("__stwb __stcg __stcs __stwt".split())
            self.emit(f"{name}(&{text}, {value});")
        elif member in SCALARS and self.chance(0.12):
            self.emit(f"*(volatile {kind} *)&{text} = {value};")
        else:
            self.emit(f"{text} = {value};")

    def change(self, _scope):
        memory = self.memory("w")
        if memory:
            member, text = self.member(memory, "uc sc us ss ui si ul sl".split())
            t = MEMBERS[member][2]
            operator = self.draw.choice(["+=", "-=", "^=", "|="] if t in "uU" else ["^=", "&="])
            self.emit(self.fill(f"{text} {operator} {{{t}}};"))

    def atomic(self, _scope):
        memory = self.memory("a")
        if not memory:
            return
        member, text = self.member(memory, ATOMICS)
        kind, _, t = MEMBERS[member]
        operation = self.draw.choice(ATOMICS[member].split())
        value = INTO.get(member, "spread<uint4>({U})" if member == "w4" else f"({kind}){{{t}}}")
        values = self.fill(value)
        if operation == "CAS":
            values = f"{self.pick('p')} ? {text} : {values}, {self.fill(value)}"
        scope = self.draw.choice(["", "", "_block", "_system"]) if member != "us" else ""
        call = f"atomic{operation}{scope}(&{text}, {values})"
        if self.chance(0.3):
            self.emit(f"{call};")
        else:
            call = FROM.get(member, "join(%s)" if member == "w4" else "%s") % call
            self.define("U" if member == "w4" else t, call)

    def update(self, _scope):
        """Changes a counter, or reads it."""
        if not self.counters:
            return
        counter = self.draw.choice(self.counters)
        place, value = counter.cell(self), self.fill(COUNTED[counter.type])
        if not counter.operation:
            self.define("U", f"bits({place})")
        elif counter.operation == "cas":
            self.emit(f"add_by_cas(&{place}, ({counter.type}){value});")
        elif counter.operation == "lock":
            self.emit(f"add_by_lock(&locks[{self.counters.index(counter)}], &{place}, {value});")
        else:
            value = "0xffff" if counter.operation in ["Inc", "Dec"] else value
            scope = self.draw.choice(["", "", "", "_block"])
            self.emit(f"atomic{counter.operation}{scope}(&{place}, {value});")

    def point(self, _scope):
        """Defines a pointer to one of two or more cells."""
        access = self.draw.choice("raa")
        targets = [self.memory(access) for _ in range(2)]
        if not all(targets):
            return
        access = min((m.access for m in targets), key=ACCESSES.index)
        cells, name = [f"&{m.cell(self)}" for m in targets], self.name()
        kind = f"{'const ' * (access == 'r')}Cell<{self.size}> *"
        if self.chance(0.25):
            self.emit(f"{kind}{name}[2] = {{{', '.join(cells)}}};")
            memory = Memory(f"(*{name}[#])", "generic", access, 2)
        else:
            self.emit(f"{kind}{name} = {self.pick('p')} ? {' : '.join(cells)};")
            memory = Memory(f"(*{name})", "generic", access)
        self.pointers.append(memory)
        if self.chance(0.2):
            test = self.draw.choice(["__isShared", "__isGlobal", "__isLocal"])
            pointer = memory.cell(self)[2:-1]
            self.define("p", f"{test}({pointer})")

    def copy(self, _scope):
        to, source = self.memory("w"), self.memory("r")
        if to:
            self.emit(f"{to.cell(self)} = {source.cell(self)};")

    def call(self, scope):
        if not self.calls or not self.calls_left or scope.trips > (1 if self.depth else 8):
            return
        function, name = self.draw.choice(self.calls), self.name()
        self.calls_left -= 1
        if function.is_pack:
            self.emit(self.fill(f"Pack {name} = {function.title}(in, {PACK}, {{u}});"))
            for t, part in zip("uiuU", "bhwd"):
                self.values[t].append(f"{name}.{part}")
            return
        memory = self.memory(function.access)
        if not memory:
            return
        title = function.title
        if self.table and self.chance(0.4):
            title = f"{self.table[0]}[{self.index(self.table[1])}]"
        depth = self.draw.choice(["2", "3", "(int)({u} & 3)"])
        depth = f"{self.depth} - 1" if self.depth else depth
        text = self.fill(f"{title}(in, &{memory.cell(self)}, {{u}}, {{i}}, {{U}}, {depth})")
        self.define("U", self.fill(f"{self.depth} > 0 ? {text} : {{U}}") if self.depth else text)

    def leave(self, scope):
        """Leaves a loop, a switch or the function on a condition."""
        ways = ["break;"] * scope.breaks + ["continue;"] * scope.continues
        ways += [f"goto {scope.labels[0]};"] if len(scope.labels) > 1 else []
        if self.returned and self.chance(0.4):
            ways.append(self.fill(self.returned))
        if ways:
            way = self.draw.choice(ways)
            braces = "{ %s }" if ";" in way[:-1] else "%s"
            self.emit(f"if ({self.pick('p')}) " + braces % way)

    def apart(self, scope, **changes):
        """Returns the scope of statements that an unknown set of lanes runs."""
        return replace(scope, lanes=None, barriers=False, **changes)

    def branch(self, scope):
        if scope.depth > 2:
            return
        result, scope = self.define("U", self.pick("U")), self.apart(scope)
        self.emit(f"if ({self.pick('p')}) {{")
        self.inner(self.draw.randint(1, 5), scope, result)
        while self.chance(0.35):
            test = f" if ({self.pick('p')})" if self.chance(0.4) else ""
            self.emit("} else%s {" % test)
            self.inner(self.draw.randint(1, 5), scope, result)
            if not test:
                break
        self.emit("}")

    def switch(self, scope):
        if scope.depth > 1:
            return
        result, scope = self.define("U", self.pick("U")), self.apart(scope, breaks=True)
        cases = self.draw.randint(3, 9)
        self.emit(self.fill("switch ({u} %% %d) {" % cases))
        for case in self.draw.sample(range(cases), cases - 2):
            self.emit(f"case {case}: {{")
            self.inner(self.draw.randint(1, 3), scope, result)
            self.emit("}" if self.chance(0.25) else "} break;")
        if self.chance(0.6):
            self.emit("default: {")
            self.inner(self.draw.randint(1, 3), scope, result)
            self.emit("}")
        self.emit("}")

    def loop(self, scope):
        if scope.depth > 2 or scope.trips > 24:
            return
        most = 8 if scope.trips < 4 else 3
        result, v, label = self.define("U", self.pick("U")), self.name(), f"l{self.count}"
        limit = self.draw.choice([self.fill("(int)({u} %% %d)" % most), str(most - 1)])
        form = self.draw.randrange(6)
        head, tail, t = [
            (f"for (int {v} = 0; {v} < {limit}; {v}++) {{", "}", "i"),
            (f"for (int {v} = {limit}; {v} > 0; {v}--) {{", "}", "i"),
            (f"for (int {v} = 0; {v} < {limit} && {self.pick('p')}; {v}++) {{", "}", "i"),
            (f"int {v} = 0;\ndo {{", f"}} while (++{v} < {limit});", "i"),
            (f"int {v} = 0;\nwhile (true) {{\n  if ({v}++ >= {limit}) break;", "}", "i"),
            (self.fill(f"for (unsigned {v} = {{u}} & {2 ** most - 1}; {v}; {v} &= {v} - 1) {{"),
             "}", "u"),
        ][form]
        if self.chance(0.9):
            head = re.sub("(for|do|while)", r"#pragma unroll 1\n\1", head, count=1)
        for line in head.split("\n"):
            self.emit(line)
        values = list(self.values[t])
        self.values[t].append(v)
        self.inner(self.draw.randint(1, 6), self.apart(
            scope, breaks=True, continues=True, labels=scope.labels + (label,),
            trips=scope.trips * most), result)
        self.values[t] = values
        self.emit(tail)
        if any(f"goto {label};" in line for line in self.lines):
            self.emit(f"{label}:;")

    def warp(self, scope):
        """Exchanges values among the lanes that run the statement."""
        lanes = scope.lanes
        if not lanes:
            return
        mask = mask_of(lanes)
        one, width = self.draw.choice(sorted(lanes)), self.draw.choice([8, 16, 32, 32])
        by = self.draw.randint(1, 9)
        rows = [("u", f"__ballot_sync({mask}, {{p}})"), ("p", f"__any_sync({mask}, {{p}})"),
                ("p", f"__all_sync({mask}, {{p}})"), ("u", f"__match_any_sync({mask}, {{u}} & 3)"),
                ("u", f"__match_any_sync({mask}, {{U}} & 1)"), ("i", None)]
        rows += [("u", f"__reduce_{name}_sync({mask}, {{u}})")
                 for name in "add min max and or xor".split()]
        rows += [("i", f"__reduce_{name}_sync({mask}, {{i}})") for name in "add min max".split()]
        # Shuffles read lanes that take part.
        ways = [f"__shfl_sync({mask}, {{}}, {one})"]
        ways += [f"__shfl_xor_sync({mask}, {{}}, {by})"] * all(x ^ by in lanes for x in lanes)
        for name, to in [("down", by), ("up", -by)]:
            if all(x // width != (x + to) // width or x + to in lanes for x in lanes):
                ways.append(f"__shfl_{name}_sync({mask}, {{}}, {by}, {width})")
        if lanes == ALL:
            ways += [f"__shfl_sync({mask}, {{}}, {{u}} & 31, {width})"] * 2
            rows += [("u", f"together({{u}}, {by})")] * 2
        rows += [(t, way.replace("{}", "{%s}" % t)) for way in ways for t in "uiUI"]
        t, text = self.draw.choice(rows)
        if text:
            self.define(t, self.fill(text))
            return
        name = self.name()
        self.emit(f"int {name};")
        self.define("u", self.fill(f"__match_all_sync({mask}, {{u}} & 1, &{name})"))
        self.values["i"].append(name)

    def barrier(self, scope):
        """Synchronizes and gives cells to other threads."""
        if scope.barriers and self.chance(0.6):
            self.synchronize(2)
        elif scope.lanes == ALL:
            self.synchronize(1)
        elif scope.lanes:
            self.emit(f"__syncwarp({mask_of(scope.lanes)});")

    def synchronize(self, strength):
        """Waits for the warp (1) or the block (2), and draws who may access what afterwards."""
        self.strongest, self.pointers = max(self.strongest, strength), []
        if strength == 2 and self.chance(0.3):
            t, name = self.draw.choice([("i", "count"), ("p", "and"), ("p", "or")])
            # ptxas repeats such a barrier if its predicate is constant, even where lanes are apart.
            self.define(t, self.fill(f"__syncthreads_{name}(((c + {{u}}) & 4) != 0)"))
        else:
            self.emit("__syncthreads();" if strength == 2 else "__syncwarp();")
        for region in self.regions():
            if strength == 2:
                region.set(self.draw.choice(["own", "own", "all"]), self.draw.randrange(BLOCK))
            elif region.mode != "all":
                turn = region.turn ^ self.draw.randrange(32)
                region.set(self.draw.choice(["own", "own", "warp"]), turn)
        if strength == 2:
            for counter in self.counters:
                counter.start(self.draw)

    def regions(self):
        return [m for m in self.memories if isinstance(m, Region)]

    def uniform(self, scope):
        """Branches or loops as all lanes that are here do, or as all threads of the block do."""
        if not scope.lanes or scope.depth > 1 or scope.trips > 8:
            return
        scope = replace(scope, breaks=False, continues=False, labels=())
        constant, form = f"co{self.number}[0].ui[{self.draw.randrange(4)}]", self.draw.randrange(4)
        if form < 2:
            v = self.name()
            limit = self.draw.choice(["2", "3", f"(int)({constant} & 3)"])
            heads, trips = [f"for (int {v} = 0; {v} < {limit}; {v}++) {{"], 3
        else:
            test = self.draw.choice(["blockIdx.x == 0", f"{constant} & 1", "t < 32", "t & 32"])
            heads, trips = [f"if ({test}) {{", "} else {"][:self.draw.randint(1, 2)], 1
            scope = replace(scope, barriers=scope.barriers and not test.startswith("t "))
        outer, result = self.strongest, self.define("U", self.pick("U"))
        regions = [(region, region.mode, region.turn) for region in self.regions()]
        operations = [(counter, counter.operation) for counter in self.counters]
        for head in heads:
            self.emit(head)
            self.strongest = 0
            count = self.draw.randint(2, 6)
            self.inner(count, replace(scope, trips=scope.trips * trips), result)
            if self.strongest:
                self.emit(f"  {'__syncthreads' if self.strongest == 2 else '__syncwarp'}();")
            for region, mode, turn in regions:
                region.set(mode, turn)
            for counter, operation in operations:
                counter.operation = operation
            outer = max(outer, self.strongest)
        self.emit("}")
        self.strongest = outer

    def part(self, scope):
        """Branches on the lane's number, so that the lanes of both sides are known."""
        if not scope.lanes or scope.depth > 2:
            return
        number, bit = self.draw.randint(1, 31), 1 << self.draw.randrange(5)
        text, test = self.draw.choice([
            (f"lane & {bit}", lambda x: x & bit), (f"!(lane & {bit})", lambda x: not x & bit),
            (f"lane < {number}", lambda x: x < number), (f"lane == {number}", number.__eq__),
            ("lane % 3 == 1", lambda x: x % 3 == 1)])
        taken = frozenset(x for x in scope.lanes if test(x))
        if not taken or taken == scope.lanes:
            return
        result = self.define("U", self.pick("U"))
        scope = replace(scope, barriers=False)
        self.emit(f"if ({text}) {{")
        self.inner(self.draw.randint(1, 5), replace(scope, lanes=taken), result)
        if self.chance(0.5):
            self.emit("} else {")
            self.inner(self.draw.randint(1, 5), replace(scope, lanes=scope.lanes - taken), result)
        self.emit("}")
