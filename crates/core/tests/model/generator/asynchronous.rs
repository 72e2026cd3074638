//! Asynchronous copies and barrier objects in generated programs.
//!
//! A thread has 16 words in `copied`, four for each group of copies, which no other thread reads,
//! and eight in `passed`, which others read after a barrier.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

use super::print::Printer;
use super::program::*;
use super::strategy::{condition, list, single_phase, source};

/// Bytes of each thread in `copied`, and of each group in it.
const COPIED: u32 = 64;
const GROUP: u32 = 16;
/// Bytes of each thread in `passed`, and of each of its two buffers.
const PASSED: u32 = 32;
const BUFFER: u32 = 16;

/// Draws a phase, or several repeated.
pub(super) fn phase() -> BoxedStrategy<Phase> {
    let single = prop_oneof![copies(), pipeline(), meeting().prop_map(Phase::Meeting)].boxed();
    let repeated = (2u32..4, vec(prop_oneof![2 => single.clone(), 1 => single_phase(1)], 1..4));
    prop_oneof![
        5 => single,
        1 => repeated.prop_map(|(rounds, phases)| Phase::Repeat { rounds, phases }),
    ]
    .boxed()
}

fn copies() -> impl Strategy<Value = Phase> {
    let between = prop_oneof![1 => Just(Vec::new()), 2 => list(1, 1)];
    (vec(async_copy(), 1..5), 0u32..6, between, 0..REGISTERS)
        .prop_map(|(groups, left, between, into)| Phase::Copies { groups, left, between, into })
}

fn async_copy() -> impl Strategy<Value = AsyncCopy> {
    let size = select(vec![("ca", 4u32), ("ca", 8), ("ca", 16), ("cg", 16)]);
    let zeros = prop_oneof![
        3 => Just(Zeros::None),
        1 => (0u32..=16).prop_map(Zeros::After),
        1 => condition().prop_map(Zeros::Where),
    ];
    (weighted(0.4, condition()), size, source(), zeros).prop_map(
        |(guard, (cache, bytes), from, zeros)| AsyncCopy { guard, cache, bytes, from, zeros },
    )
}

fn pipeline() -> impl Strategy<Value = Phase> {
    let partner = select(vec![1u32, 2, 5, 16, 32, 63]);
    (1u32..5, select(vec![4u32, 8, 16]), source(), partner, 0..REGISTERS).prop_map(
        |(trips, bytes, from, partner, into)| Phase::Pipeline { trips, bytes, from, partner, into },
    )
}

fn meeting() -> impl Strategy<Value = Meeting> {
    let arrival = select(vec![
        Arrival::Plain,
        Arrival::Twice,
        Arrival::InTwoSteps,
        Arrival::Bytes,
        Arrival::Copy,
        Arrival::CopyArrives,
    ]);
    let wait = (any::<bool>(), any::<bool>()).prop_map(|(tries, parity)| Wait { tries, parity });
    let partner = select(vec![0u32, 1, 3, 16, 32, 63]);
    let how = (1u32..4, arrival, wait, weighted(0.4, condition()));
    (how, source(), partner, 0..REGISTERS).prop_map(
        |((rounds, arrival, wait, drop), value, partner, into)| Meeting {
            rounds,
            arrival,
            wait,
            drop,
            value,
            partner,
            into,
        },
    )
}

impl Printer {
    pub(super) fn asynchronous_variables(&mut self, threads: u32) {
        self.text.push_str(&format!(
            ".shared .align 16 .b8 copied[{}];
.shared .align 16 .b8 passed[{}];
.shared .align 8 .b64 meeting;
.shared .align 4 .b32 chief;
",
            threads * COPIED,
            threads * PASSED
        ));
    }

    pub(super) fn asynchronous_head(&mut self) {
        self.line(".reg .b32 %copied, %passed, %turn, %first;");
        self.line(".reg .b64 %state;");
        for (name, bytes) in [("copied", COPIED), ("passed", PASSED)] {
            self.line(format!("mov.u32 %{name}, {name};"));
            self.line(format!("mad.lo.u32 %{name}, %thread, {bytes}, %{name};"));
            for word in 0..bytes / 4 {
                self.line(format!("st.shared.u32 [%{name}+{}], %thread;", 4 * word));
            }
        }
        self.line("setp.eq.u32 %p, %thread, 0;");
        self.line("@%p st.shared.u32 [chief], 4294967295;");
        self.line("bar.sync 0;");
    }

    /// Prints `%at` = address in the input of an element whose index is aligned to `bytes`.
    fn input(&mut self, index: &str, bytes: u32) {
        self.line(format!("and.b32 %a, {index}, {};", INPUT_WORDS - bytes / 4));
        self.line("mul.wide.u32 %at, %a, 4;");
        self.line("add.u64 %at, %in, %at;");
    }

    /// Prints copies, each in a group of its own, and two waits with reads of what they cover.
    pub(super) fn copies(
        &mut self,
        groups: &[AsyncCopy],
        left: u32,
        between: &[Statement],
        into: u8,
    ) {
        for (n, copy) in groups.iter().enumerate() {
            let to = format!("[%copied+{}]", GROUP * n as u32);
            let (cache, bytes) = (copy.cache, copy.bytes);
            let from = self.operand(copy.from);
            self.line(format!("mov.u32 %b, {from};"));
            self.input("%b", bytes);
            let zeros = match &copy.zeros {
                Zeros::None => String::new(),
                Zeros::After(first) => format!(", {}", first.min(&bytes)),
                // A negated predicate is no operand of a copy.
                Zeros::Where(when) => {
                    let holds = self.condition(when, "%p");
                    if holds.starts_with('!') {
                        self.line("not.pred %p, %p;");
                    }
                    ", %p".to_owned()
                }
            };
            let guard = self.guard(copy.guard.as_ref());
            self.line(format!(
                "{guard}cp.async.{cache}.shared.global {to}, [%at], {bytes}{zeros};"
            ));
            self.line("cp.async.commit_group;");
        }
        self.list(between);
        let covered = groups.len().saturating_sub(left as usize);
        self.line(format!("cp.async.wait_group {left};"));
        self.fold(0..covered, into);
        self.line("cp.async.wait_all;");
        self.fold(covered..groups.len(), into);
    }

    /// Folds the words of some groups into a register.
    fn fold(&mut self, groups: std::ops::Range<usize>, into: u8) {
        for word in groups.start * 4..groups.end * 4 {
            self.line(format!("ld.shared.u32 %a, [%copied+{}];", 4 * word));
            self.line(format!("mad.lo.u32 %r{into}, %r{into}, 5, %a;"));
        }
    }

    /// Prints a loop over two buffers: the copy for the next trip is under way while a thread reads
    /// what its partner copied for this one.
    pub(super) fn pipeline(
        &mut self,
        trips: u32,
        bytes: u32,
        from: Source,
        partner: u32,
        into: u8,
    ) {
        let (head, last) = (self.label("Turn"), BUFFER + bytes - 4);
        let from = self.operand(from);
        self.line(format!("mov.u32 %first, {from};"));
        self.input("%first", bytes);
        self.line(format!("cp.async.ca.shared.global [%passed], [%at], {bytes};"));
        self.line("cp.async.commit_group;");
        self.line("mov.u32 %turn, 1;");
        self.place(&head);
        self.line(format!("setp.lt.u32 %q, %turn, {trips};"));
        self.line("mad.lo.u32 %b, %turn, 13, %first;");
        self.input("%b", bytes);
        self.line("and.b32 %b, %turn, 1;");
        self.line(format!("mad.lo.u32 %b, %b, {BUFFER}, %passed;"));
        self.line(format!("@%q cp.async.ca.shared.global [%b], [%at], {bytes};"));
        self.line("cp.async.commit_group;");
        self.line("cp.async.wait_group 1;");
        self.line("bar.sync 0;");
        self.partner(partner);
        self.line("mov.u32 %b, passed;");
        self.line(format!("mad.lo.u32 %a, %a, {PASSED}, %b;"));
        self.line("and.b32 %b, %turn, 1;");
        self.line("xor.b32 %b, %b, 1;");
        self.line(format!("mad.lo.u32 %a, %b, {BUFFER}, %a;"));
        self.line(format!("ld.shared.u32 %b, [%a+{}];", last - BUFFER));
        self.line(format!("mad.lo.u32 %r{into}, %r{into}, 3, %b;"));
        self.line("bar.sync 0;");
        self.line("add.u32 %turn, %turn, 1;");
        self.line(format!("setp.le.u32 %p, %turn, {trips};"));
        self.line(format!("@%p bra {head};"));
    }

    /// Prints the rounds of a meeting. One thread makes the object for all live threads, and ends
    /// it when they are together again.
    pub(super) fn meeting(&mut self, meeting: &Meeting) {
        let (head, end) = (self.label("Meet"), self.label("Met"));
        let arrivals =
            if matches!(meeting.arrival, Arrival::Twice | Arrival::InTwoSteps) { 2 } else { 1 };
        self.line("red.shared.min.u32 [chief], %thread;");
        self.line("setp.eq.u32 %q, %lane, %lane;");
        self.line("bar.red.popc.u32 %d, 0, %q;");
        self.line("ld.shared.u32 %first, [chief];");
        self.line("bar.sync 0;");
        self.line(format!("mul.lo.u32 %d, %d, {arrivals};"));
        self.line("setp.eq.u32 %p, %thread, %first;");
        self.line("@%p st.shared.u32 [chief], 4294967295;");
        self.line("@%p mbarrier.init.shared.b64 [meeting], %d;");
        self.line("bar.sync 0;");
        let value = self.operand(meeting.value);
        self.line(format!("mov.u32 %b, {value};"));
        if let Some(when) = &meeting.drop {
            self.line("st.shared.u32 [%passed], %b;");
            // Lanes arrive together: before Volta, those that wait first keep the others away.
            let guard = self.guard(Some(when));
            self.line(format!(
                "{guard}mbarrier.arrive_drop.shared.b64 %state, [meeting], {arrivals};"
            ));
            self.line(format!("{guard}bra {end};"));
        }
        self.line("mov.u32 %turn, 0;");
        self.place(&head);
        self.line("mad.lo.u32 %b, %turn, 7, %b;");
        if matches!(meeting.arrival, Arrival::Copy | Arrival::CopyArrives) {
            self.input("%b", 4);
            self.line("cp.async.ca.shared.global [%passed], [%at], 4;");
        } else {
            self.line("st.shared.u32 [%passed], %b;");
        }
        self.arrive(meeting.arrival);
        // Only the state of an arrival by itself is one to wait for.
        let by_copy = meeting.arrival == Arrival::CopyArrives;
        self.wait(Wait { parity: meeting.wait.parity || by_copy, ..meeting.wait }, 0);
        self.line("mov.u32 %limit0, %b;");
        self.partner(meeting.partner);
        self.line("mov.u32 %b, passed;");
        self.line(format!("mad.lo.u32 %a, %a, {PASSED}, %b;"));
        self.line("ld.shared.u32 %a, [%a];");
        self.line(format!("mad.lo.u32 %r{0}, %r{0}, 3, %a;", meeting.into));
        self.line("mov.u32 %b, %limit0;");
        self.arrive(if arrivals == 2 { Arrival::Twice } else { Arrival::Plain });
        self.wait(meeting.wait, 1);
        self.line("add.u32 %turn, %turn, 1;");
        self.line(format!("setp.lt.u32 %p, %turn, {};", meeting.rounds));
        self.line(format!("@%p bra {head};"));
        self.place(&end);
        self.line("bar.sync 0;");
        self.line("setp.eq.u32 %p, %thread, %first;");
        self.line("@%p mbarrier.inval.shared.b64 [meeting];");
        self.line("bar.sync 0;");
    }

    fn arrive(&mut self, arrival: Arrival) {
        let arrive = "mbarrier.arrive.shared.b64 %state, [meeting]";
        match arrival {
            Arrival::Plain => self.line(format!("{arrive};")),
            Arrival::Twice => self.line(format!("{arrive}, 2;")),
            Arrival::InTwoSteps => {
                self.line("mbarrier.arrive.noComplete.shared.b64 %state, [meeting], 1;");
                self.line(format!("{arrive};"));
            }
            Arrival::Bytes => {
                self.line("mbarrier.arrive.expect_tx.shared.b64 %state, [meeting], 8;");
                self.line("mbarrier.complete_tx.shared.b64 [meeting], 8;");
            }
            Arrival::Copy => {
                self.line("cp.async.mbarrier.arrive.shared.b64 [meeting];");
                self.line(format!("{arrive};"));
            }
            Arrival::CopyArrives => {
                self.line("cp.async.mbarrier.arrive.noinc.shared.b64 [meeting];")
            }
        }
    }

    fn wait(&mut self, wait: Wait, parity: u32) {
        let again = self.label("Wait");
        let kind = if wait.tries { "try_wait" } else { "test_wait" };
        self.place(&again);
        if wait.parity {
            self.line(format!("mbarrier.{kind}.parity.shared.b64 %p, [meeting], {parity};"));
        } else {
            self.line(format!("mbarrier.{kind}.shared.b64 %p, [meeting], %state;"));
        }
        self.line(format!("@!%p bra {again};"));
    }
}
