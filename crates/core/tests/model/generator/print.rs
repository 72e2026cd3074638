//! Prints a generated tree as an `.ir` file, including directives.

use std::fmt::Write as _;

use super::program::*;

impl Program {
    /// Returns the file.
    pub(crate) fn print(&self) -> String {
        let mut printer = Printer {
            text: String::new(),
            labels: 0,
            loops: Vec::new(),
            functions: self.functions.bodies.len(),
            registers: self.functions.registers,
            called: false,
            calls: 0,
        };
        printer.directives(self);
        printer.functions(&self.functions);
        printer.head(self);
        for phase in &self.phases {
            printer.phase(phase);
        }
        printer.tail();
        printer.text
    }
}

/// Maximum nesting of loops that the printed registers allow.
pub(super) const LOOPS: usize = 4;

pub(super) struct Printer {
    pub(super) text: String,
    labels: u32,
    /// Number of functions, and whether their parameters are registers.
    pub(super) functions: usize,
    pub(super) registers: bool,
    /// True while a function's body is printed, not the kernel's.
    pub(super) called: bool,
    /// Calls printed so far in this body.
    pub(super) calls: u32,
    /// The surrounding loops, outermost first: labels of the next trip and of the end.
    pub(super) loops: Vec<(String, String)>,
}

impl Printer {
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.text, "    {}", line.as_ref());
    }

    pub(super) fn place(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    pub(super) fn label(&mut self, name: &str) -> String {
        self.labels += 1;
        format!("{name}{}", self.labels)
    }

    fn directives(&mut self, program: &Program) {
        let ([gx, gy], [bx, by]) = (program.grid, program.block);
        let (seed, threads) = (program.seed, program.threads());
        let words = threads * gx * gy * u32::from(SLOTS);
        let shared = threads * u32::from(SLOTS);
        let _ = write!(
            self.text,
            "//! grid = ({gx}, {gy})
//! block = ({bx}, {by})
//! buffer in: u32[{INPUT_WORDS}] = random({seed}, 0..1 << 32)
//! buffer out: u32[{words}] = fill(0)
//! buffer count: u32[{tallies}] = random({seed}, 0..1 << 32)
//! arg in = in
//! arg out = out
//! arg count = count
.shared .align 4 .b32 words[{shared}];
.shared .align 4 .b32 tally[{tallies}];
",
            tallies = TALLIES.len(),
        );
        if program.is_asynchronous() {
            self.asynchronous_variables(threads);
        }
    }

    fn head(&mut self, program: &Program) {
        let threads = program.threads();
        let slot_bytes = 4 * u32::from(SLOTS);
        let _ = write!(
            self.text,
            ".visible .entry generated(.param .u64 in, .param .u64 out, .param .u64 count)
{{
    .reg .b64 %count;
    .reg .b32 %round;
"
        );
        self.declarations();
        let _ = write!(
            self.text,
            "    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    ld.param.u64 %count, [count];
    mad.lo.u32 %a, %block, {threads}, %thread;
    mul.wide.u32 %w, %a, {slot_bytes};
    add.u64 %out, %out, %w;
"
        );
        self.line("setp.eq.u32 %p, %thread, 0;");
        for (n, start) in [0, 0x7fff_ffff, 0, 0xffff_ffff_u32, 0, 1].iter().enumerate() {
            self.line(format!("@%p st.shared.u32 [tally+{}], {start};", 4 * n));
        }
        self.line("bar.sync 0;");
        // Initializes everything, so that the file means the same on a GPU.
        for slot in 0..SLOTS {
            self.line(format!("st.shared.u32 [%sh+{}], %thread;", 4 * slot));
            self.line(format!("st.local.u32 [own+{}], %lane;", 4 * slot));
        }
        if program.is_asynchronous() {
            self.asynchronous_head();
        }
        for r in 0..REGISTERS {
            let value = ["%thread", "%lane", "%block"]
                .get(usize::from(r))
                .map_or(format!("{}", r * 7), |s| s.to_string());
            self.line(format!("mov.u32 %r{r}, {value};"));
        }
    }

    /// Prints the registers and the start of every body.
    pub(super) fn declarations(&mut self) {
        let _ = write!(
            self.text,
            "    .reg .pred %p, %q, %g;
    .reg .b32 %r<{REGISTERS}>, %thread, %lane, %block, %a, %b, %m, %d, %sh, %trip<{LOOPS}>, %limit<{LOOPS}>;
    .reg .b64 %in, %out, %w, %at, %f;
    .local .align 4 .b32 own[{SLOTS}];
    mov.u32 %a, %tid.x;
    mov.u32 %b, %tid.y;
    mov.u32 %m, %ntid.x;
    mad.lo.u32 %thread, %b, %m, %a;
    mov.u32 %lane, %laneid;
    mov.u32 %a, %ctaid.x;
    mov.u32 %b, %ctaid.y;
    mov.u32 %m, %nctaid.x;
    mad.lo.u32 %block, %b, %m, %a;
    mov.u32 %sh, words;
    mad.lo.u32 %sh, %thread, {slot_bytes}, %sh;
",
            slot_bytes = 4 * u32::from(SLOTS),
        );
    }

    fn tail(&mut self) {
        for r in 0..REGISTERS {
            self.line(format!("st.global.u32 [%out+{}], %r{r};", 4 * r));
        }
        self.line("ret;");
        self.text.push_str("}\n");
    }

    fn phase(&mut self, phase: &Phase) {
        match phase {
            Phase::Work(body) => self.list(body),
            Phase::Exchange { value, partner, into } => {
                let bytes = 4 * u32::from(SLOTS);
                self.line(format!("st.shared.u32 [%sh], %r{value};"));
                self.line("bar.sync 0;");
                self.partner(*partner);
                self.line("mov.u32 %b, words;");
                self.line(format!("mad.lo.u32 %a, %a, {bytes}, %b;"));
                self.line(format!("ld.shared.u32 %r{into}, [%a];"));
                self.line("bar.sync 0;");
            }
            Phase::Tally { tally, into } => {
                self.line("bar.sync 0;");
                self.line(format!("ld.shared.u32 %r{into}, [tally+{}];", 4 * tally));
                self.line("bar.sync 0;");
            }
            Phase::Together { how, value, into } => self.together(*how, *value, *into),
            Phase::Partition { spins, by, how, value, into } => {
                self.partition(*spins, *by, *how, *value, *into)
            }
            Phase::Handover { spins, value, into } => self.hand_over(*spins, *value, *into),
            Phase::Copies { groups, left, between, into } => {
                self.copies(groups, *left, between, *into)
            }
            Phase::Pipeline { trips, bytes, from, partner, into } => {
                self.pipeline(*trips, *bytes, *from, *partner, *into)
            }
            Phase::Meeting(meeting) => self.meeting(meeting),
            Phase::Repeat { rounds, phases } => {
                let head = self.label("Round");
                self.line("mov.u32 %round, 0;");
                self.place(&head);
                for phase in phases {
                    self.phase(phase);
                }
                self.line("add.u32 %round, %round, 1;");
                self.line(format!("setp.lt.u32 %p, %round, {rounds};"));
                self.line(format!("@%p bra {head};"));
            }
        }
    }

    /// Prints `%a` = index of the thread whose index differs in the bits of `partner`, or the own
    /// one if there is no such thread.
    pub(super) fn partner(&mut self, partner: u32) {
        self.line(format!("xor.b32 %a, %thread, {partner};"));
        self.line("mov.u32 %b, %ntid.x;");
        self.line("mov.u32 %m, %ntid.y;");
        self.line("mul.lo.u32 %b, %b, %m;");
        self.line("setp.lt.u32 %p, %a, %b;");
        self.line("selp.b32 %a, %a, %thread, %p;");
    }

    pub(super) fn list(&mut self, body: &[Statement]) {
        for statement in body {
            self.statement(statement);
            if let Statement::Leave { how, when: None } = statement
                && self.can(*how)
            {
                return;
            }
        }
    }

    fn can(&self, how: Leave) -> bool {
        matches!(how, Leave::Return | Leave::Exit) || !self.loops.is_empty()
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Assign { guard, to, value } => self.assign(guard.as_ref(), *to, value),
            Statement::Store { guard, memory, slot, value } => {
                let value = self.operand(*value);
                self.line(format!("mov.u32 %a, {value};"));
                let guard = self.guard(guard.as_ref());
                let (space, base) = own(*memory);
                self.line(format!("{guard}st.{space}.u32 [{base}+{}], %a;", 4 * slot));
            }
            Statement::Tally { guard, global, tally, value } => {
                let value = self.operand(*value);
                self.line(format!("mov.u32 %a, {value};"));
                let guard = self.guard(guard.as_ref());
                // A function does not receive the grid's.
                let (space, base) = if *global && !self.called {
                    ("global", "%count")
                } else {
                    ("shared", "tally")
                };
                let op = TALLIES[usize::from(*tally)];
                self.line(format!("{guard}red.{space}.{op} [{base}+{}], %a;", 4 * tally));
            }
            Statement::If { when, then, other, swapped } => {
                self.branch(when, then, other, *swapped)
            }
            Statement::Loop { trips, bottom, body } if self.loops.len() < LOOPS => {
                self.counted(*trips, *bottom, body)
            }
            Statement::Loop { body, .. } => self.list(body),
            Statement::Switch { on, cases, default } => self.switch(*on, cases, default),
            Statement::Leave { how, when } => self.leave(*how, when.as_ref()),
            Statement::Call { guard, callee, arguments, depth, to } => {
                self.call(guard.as_ref(), *callee, *arguments, *depth, *to);
            }
        }
    }

    pub(super) fn operand(&self, source: Source) -> String {
        match source {
            Source::Register(n) => format!("%r{n}"),
            Source::Lane => "%lane".to_string(),
            Source::Block => "%block".to_string(),
            Source::Counter(n) if usize::from(n) < self.loops.len() => {
                format!("%trip{}", self.loops.len() - 1 - usize::from(n))
            }
            Source::Thread | Source::Counter(_) => "%thread".to_string(),
            Source::Constant(value) => value.to_string(),
        }
    }

    /// Returns `@%g ` for a guard whose predicate was computed into `%g`.
    pub(super) fn guard(&mut self, guard: Option<&Condition>) -> String {
        match guard {
            None => String::new(),
            Some(condition) => {
                let holds = self.condition(condition, "%g");
                format!("@{holds} ")
            }
        }
    }

    /// Computes a condition into predicate `p`; returns the predicate operand that is true if the
    /// condition is.
    pub(super) fn condition(&mut self, condition: &Condition, p: &str) -> String {
        if let Some((combine, second)) = &condition.also {
            self.test(second, "%q", "");
            self.test(&condition.test, p, combine);
        } else {
            self.test(&condition.test, p, "");
        }
        if condition.negated { format!("!{p}") } else { p.to_string() }
    }

    fn test(&mut self, test: &Test, p: &str, combine: &str) {
        let source = self.operand(test.source);
        let (dot, with) = if combine.is_empty() { ("", "") } else { (".", ", %q") };
        if test.bits == 0 {
            self.line(format!("setp.{}{dot}{combine}.s32 {p}, {source}, 0{with};", test.compare));
        } else {
            let mask = (1 << test.bits) - 1;
            let constant = test.constant & mask;
            self.line(format!("and.b32 %m, {source}, {mask};"));
            self.line(format!(
                "setp.{}{dot}{combine}.u32 {p}, %m, {constant}{with};",
                test.compare
            ));
        }
    }

    fn assign(&mut self, guard: Option<&Condition>, to: u8, value: &Value) {
        let d = format!("%r{to}");
        let last = match value {
            Value::Binary(op, a, b) => {
                format!("{op} {d}, {}, {}", self.operand(*a), self.operand(*b))
            }
            Value::Unary(op, a) => format!("{op} {d}, {}", self.operand(*a)),
            Value::Divide(op, a, by) => format!("{op} {d}, {}, {by}", self.operand(*a)),
            Value::MulAdd(a, b, c) => {
                format!(
                    "mad.lo.u32 {d}, {}, {}, {}",
                    self.operand(*a),
                    self.operand(*b),
                    self.operand(*c)
                )
            }
            Value::Select(when, a, b) => {
                let holds = self.condition(when, "%p");
                let (a, b) = if when.negated { (b, a) } else { (a, b) };
                format!(
                    "selp.b32 {d}, {}, {}, {}",
                    self.operand(*a),
                    self.operand(*b),
                    holds.trim_start_matches('!')
                )
            }
            Value::Wide { op, a, b, constant, shift } => {
                let (a, b) = (self.operand(*a), self.operand(*b));
                self.line(format!("mul.wide.u32 %w, {a}, {b};"));
                self.line(format!("{op} %w, %w, {constant};"));
                self.line(format!("shr.u64 %w, %w, {shift};"));
                format!("cvt.u32.u64 {d}, %w")
            }
            Value::Input(index) => {
                let index = self.operand(*index);
                self.line(format!("and.b32 %a, {index}, {};", INPUT_WORDS - 1));
                self.line("mul.wide.u32 %at, %a, 4;");
                self.line("add.u64 %at, %in, %at;");
                format!("ld.global.u32 {d}, [%at]")
            }
            Value::Slot(memory, slot) => {
                let (space, base) = own(*memory);
                format!("ld.{space}.u32 {d}, [{base}+{}]", 4 * slot)
            }
        };
        let guard = self.guard(guard);
        self.line(format!("{guard}{last};"));
    }

    fn branch(&mut self, when: &Condition, then: &[Statement], other: &[Statement], swapped: bool) {
        let (side, end) = (self.label("Side"), self.label("End"));
        let (first, second) = if swapped { (other, then) } else { (then, other) };
        let holds = self.condition(when, "%p");
        let jumps = if swapped { holds } else { negate(&holds) };
        if second.is_empty() {
            self.line(format!("@{jumps} bra {end};"));
            self.list(first);
        } else {
            self.line(format!("@{jumps} bra {side};"));
            self.list(first);
            self.line(format!("bra {end};"));
            self.place(&side);
            self.list(second);
        }
        self.place(&end);
    }

    fn counted(&mut self, trips: Trips, bottom: bool, body: &[Statement]) {
        let (head, next, end) = (self.label("Loop"), self.label("Next"), self.label("Done"));
        let depth = self.loops.len();
        match trips {
            Trips::Constant(n) => self.line(format!("mov.u32 %limit{depth}, {n};")),
            Trips::Of { source, bits, more } => {
                let source = self.operand(source);
                self.line(format!("and.b32 %limit{depth}, {source}, {};", (1 << bits) - 1));
                if more > 0 {
                    self.line(format!("add.u32 %limit{depth}, %limit{depth}, {more};"));
                }
            }
        }
        self.line(format!("mov.u32 %trip{depth}, 0;"));
        self.place(&head);
        if !bottom {
            self.line(format!("setp.ge.u32 %p, %trip{depth}, %limit{depth};"));
            self.line(format!("@%p bra {end};"));
        }
        self.loops.push((next.clone(), end.clone()));
        self.list(body);
        self.loops.pop();
        self.place(&next);
        self.line(format!("add.u32 %trip{depth}, %trip{depth}, 1;"));
        if bottom {
            self.line(format!("setp.lt.u32 %p, %trip{depth}, %limit{depth};"));
            self.line(format!("@%p bra {head};"));
        } else {
            self.line(format!("bra.uni {head};"));
        }
        self.place(&end);
    }

    fn switch(&mut self, on: Source, cases: &[(Vec<Statement>, bool)], default: &[Statement]) {
        let (other, end) = (self.label("Default"), self.label("End"));
        let labels: Vec<String> = cases.iter().map(|_| self.label("Case")).collect();
        let on = self.operand(on);
        self.line(format!("rem.u32 %m, {on}, {};", cases.len() + 1));
        for (i, label) in labels.iter().enumerate() {
            self.line(format!("setp.eq.u32 %p, %m, {i};"));
            self.line(format!("@%p bra {label};"));
        }
        self.line(format!("bra {other};"));
        for ((body, runs_on), label) in cases.iter().zip(&labels) {
            self.place(label);
            self.list(body);
            if !runs_on {
                self.line(format!("bra {end};"));
            }
        }
        self.place(&other);
        self.list(default);
        self.place(&end);
    }

    fn leave(&mut self, how: Leave, when: Option<&Condition>) {
        let what = match (how, self.loops.last()) {
            (Leave::Return, _) => "ret".to_string(),
            (Leave::Exit, _) => "exit".to_string(),
            (Leave::Break, Some((_, end))) => format!("bra {end}"),
            (Leave::Continue, Some((next, _))) => format!("bra {next}"),
            (Leave::Break | Leave::Continue, None) => return,
        };
        match when {
            None => self.line(format!("{what};")),
            Some(condition) => {
                let holds = self.condition(condition, "%p");
                self.line(format!("@{holds} {what};"));
            }
        }
    }
}

fn negate(predicate: &str) -> String {
    predicate.strip_prefix('!').map_or_else(|| format!("!{predicate}"), str::to_string)
}

/// Returns the space of the thread's own words, and the address of the first.
fn own(memory: Memory) -> (&'static str, &'static str) {
    match memory {
        Memory::Global => ("global", "%out"),
        Memory::Local => ("local", "own"),
        Memory::Shared => ("shared", "%sh"),
    }
}
