//! Test of the race checker against the definition of happens-before.
//!
//! On random traces the checker reports a race exactly when two accesses are unordered. The
//! reference computes happens-before edge by edge for every lane.

mod graph;
mod rows;

use graph::Graph;

use proptest::prelude::*;

use super::{Checker, Checkers, Checks};
use crate::Program;
use crate::base::{BlockId, LaneMask, MAX_LANES, Pc, SmId, WarpId};
use crate::code::Code;
use crate::event::{AccessWay, Cells, Event, LaneAccess, MemoryKind, Observer};
use crate::kernel::layout::BUFFER_BASE;
use crate::kernel::{Kernel, Op};
use crate::launch::{Launch, Overrides};
use crate::ptxas;
use crate::spec::{Machine, Mode, Target};

const BLOCKS: u32 = 2;
const WARPS: u32 = 3;
const LANES: u32 = 4;
const THREADS: u32 = BLOCKS * WARPS * LANES;
/// Offset of the flags.
const FLAGS: u64 = 16;

/// Features of the generated traces.
#[derive(Clone, Copy, Debug)]
struct Setting {
    /// Includes atomics, flags and fences.
    strong: bool,
    lock_step: bool,
    /// Uses shared instead of global memory.
    shared: bool,
    /// Includes barriers with a thread count.
    counted: bool,
}

/// Action of a trace. Warps and threads are numbered through the grid.
#[derive(Clone, Debug)]
enum Act {
    Access {
        thread: u32,
        /// For a load: lanes of the warp that read the same address.
        also: u32,
        first: u64,
        bytes: u32,
        way: AccessWay,
        /// Volatile, or an atomic that returns the old value.
        strong: bool,
    },
    WarpBarrier {
        warp: u32,
        lanes: u32,
    },
    BlockBarrier {
        block: u32,
    },
    /// Counted barrier: each warp of the block waits (1), arrives without waiting (2) or skips it
    /// (0).
    Counted {
        block: u32,
        parts: [u8; WARPS as usize],
    },
    Fence {
        warp: u32,
        lanes: u32,
    },
    /// Strong access to one of two flags.
    Flag {
        thread: u32,
        flag: u64,
        way: AccessWay,
    },
}

fn way() -> impl Strategy<Value = AccessWay> {
    prop_oneof![3 => Just(AccessWay::Load), 3 => Just(AccessWay::Store), 1 => Just(AccessWay::Atomic)]
}

fn act(Setting { strong, counted, .. }: Setting) -> impl Strategy<Value = Act> {
    let bytes = (0..2u64, 0..4u64, any::<bool>());
    let plain = (0..THREADS, 0..1u32 << LANES, bytes, way(), 0..4u8).prop_map(
        move |(thread, also, (word, byte, small), way, kind)| {
            let is_atomic = strong && way == AccessWay::Atomic;
            let way = match way {
                AccessWay::Atomic if !strong => AccessWay::Store,
                way => way,
            };
            let strong = strong && (kind == 0 || is_atomic && kind != 1);
            let small = small && !strong && !is_atomic;
            let (first, bytes) = if small { (word * 4 + byte, 1) } else { (word * 4, 4) };
            let also = if way == AccessWay::Load { also } else { 0 };
            Act::Access { thread, also, first, bytes, way, strong }
        },
    );
    let lanes = 1..1u32 << LANES;
    let warp = 0..BLOCKS * WARPS;
    let sync = prop_oneof![
        (warp.clone(), lanes.clone()).prop_map(|(warp, lanes)| Act::WarpBarrier { warp, lanes }),
        warp.clone().prop_map(|warp| Act::WarpBarrier { warp, lanes: (1 << LANES) - 1 }),
        (0..BLOCKS).prop_map(|block| Act::BlockBarrier { block }),
        (0..BLOCKS, any::<[u8; WARPS as usize]>()).prop_map(move |(block, parts)| match counted {
            true => Act::Counted { block, parts: parts.map(|p| p % 3) },
            false => Act::BlockBarrier { block },
        }),
    ];
    let flags = prop_oneof![
        (warp, lanes).prop_map(|(warp, lanes)| Act::Fence { warp, lanes }),
        (0..THREADS, 0..2u64, way()).prop_map(|(thread, flag, way)| Act::Flag {
            thread,
            flag,
            way
        }),
    ];
    let flags = if strong { flags.boxed() } else { Just(Act::BlockBarrier { block: 0 }).boxed() };
    prop_oneof![6 => plain, 4 => sync, 3 => flags]
}

/// Kernel with one step per kind of action.
const TEXT: &str = "
//! grid = 2
//! block = 96
//! buffer b: u32[8]
//! arg b = b
.entry k(.param .u64 b)
{
    .reg .u32 %x;
    .reg .u64 %b;
    ld.param.u64 %b, [b];
    mov.u32 %x, 0;
    STRONG
    red.global.add.u32 [%b], %x;
    ld.SPACE.u32 %x, [%b];
    st.SPACE.u32 [%b], %x;
    bar.warp.sync 0xffffffff;
    bar.sync 0;
    COUNTED
    ret;
}";
const STRONG: &str = "atom.global.add.u32 %x, [%b], 1;
    ld.volatile.global.u32 %x, [%b];
    st.volatile.global.u32 [%b], %x;
    membar.gl;";

/// A machine that issues instructions as written.
fn teaching() -> Machine {
    Machine::parse(Machine::preset_text("teaching").expect("a preset")).expect("sound")
}

struct Driver {
    shared: bool,
    /// Lanes of each warp.
    lanes: LaneMask,
    code: Code,
    checker: Checker,
}

impl Driver {
    fn new(
        kernel: &Kernel,
        launch: &Launch,
        Setting { lock_step, shared, .. }: Setting,
        lanes: LaneMask,
    ) -> Driver {
        let mode = if lock_step { Mode::PreVolta } else { Mode::Volta };
        let code = ptxas::compile(kernel, &Target::new(&teaching(), true), mode);
        let on = Checks { races: true, ..Checks::default() };
        let mut checker = Checkers::new(&code, launch, 32, on).observer();
        let (cycle, sm) = (0, SmId(0));
        for block in 0..BLOCKS {
            checker.on(Event::BlockStart { cycle, sm, block: BlockId(block), warps: WARPS });
            for index in 0..WARPS {
                let warp = WarpId(block * WARPS + index);
                checker.on(Event::WarpStart {
                    cycle,
                    sm,
                    warp,
                    block: BlockId(block),
                    index,
                    lanes,
                });
            }
        }

        Driver { shared, lanes, code, checker }
    }

    fn pc(&self, wanted: impl Fn(&Op) -> bool) -> Pc {
        let at = self.code.ops().iter().position(|step| wanted(&step.inst.op));
        Pc(at.expect("the kernel has one of each") as u32)
    }

    fn access(
        &mut self,
        thread: u32,
        also: u32,
        offset: u64,
        bytes: u32,
        way: AccessWay,
        strong: bool,
    ) {
        let pc = self.step_of(way, strong);
        let addresses = [if self.shared { 0 } else { BUFFER_BASE } + offset; MAX_LANES];
        let lanes = LaneMask::lane(thread % LANES) | LaneMask(also);
        self.tell(pc, (thread / LANES, lanes), (&addresses, bytes), way, &[thread; MAX_LANES]);
    }

    /// Tells the checker of an access. A store stores `row` to each of its words.
    fn tell(
        &mut self,
        pc: Pc,
        (warp, lanes): (u32, LaneMask),
        (addresses, bytes): (&[u64; MAX_LANES], u32),
        way: AccessWay,
        row: &[u32; MAX_LANES],
    ) {
        let mut stored = [None; 4];
        if way == AccessWay::Store {
            stored[..(bytes as usize / 4).max(1)].fill(Some(Cells::Narrow(row)));
        }
        let memory = if self.shared { MemoryKind::Shared } else { MemoryKind::Global };
        let access = LaneAccess { memory, way, lanes, bytes, addresses, stored };
        self.checker.access(WarpId(warp), pc, &access);
    }

    /// Returns the step of an access.
    fn step_of(&self, way: AccessWay, strong: bool) -> Pc {
        self.pc(|op| match (op, way) {
            (Op::Load(load), AccessWay::Load) => {
                load.access.strong() == strong
                    && !load.d.is_empty()
                    && load.access.space != crate::isa::Space::Param
            }
            (Op::Store(store), AccessWay::Store) => store.access.strong() == strong,
            (Op::Atomic(atomic), AccessWay::Atomic) => atomic.d.is_some() == strong,
            _ => false,
        })
    }

    fn barrier(&mut self, block: u32, parts: [u8; WARPS as usize], id: u8, count: Option<u32>) {
        let (cycle, sm, lanes) = (0, SmId(0), self.lanes);
        let pc = self.pc(|op| matches!(op, Op::Barrier(_)));
        for index in (0..WARPS).filter(|w| parts[*w as usize] != 0) {
            let warp = WarpId(block * WARPS + index);
            let wait = parts[index as usize] == 1;
            self.checker.on(Event::Barrier {
                cycle,
                sm,
                warp,
                pc,
                lanes,
                arriving: lanes,
                id,
                count,
                wait,
            });
        }
        self.checker.on(Event::BarrierOpen { cycle, sm, block: BlockId(block), id });
    }

    fn act(&mut self, act: &Act) {
        let (cycle, sm) = (0, SmId(0));
        match *act {
            Act::Access { thread, also, first, bytes, way, strong } => {
                self.access(thread, also, first, bytes, way, strong)
            }
            Act::WarpBarrier { warp, lanes } => {
                let pc = self.pc(|op| matches!(op, Op::WarpSync { .. }));
                let (warp, lanes) = (WarpId(warp), LaneMask(lanes));
                self.checker.on(Event::Collective { sm, warp, pc, lanes, members: lanes });
            }
            Act::BlockBarrier { block } => self.barrier(block, [1; WARPS as usize], 0, None),
            Act::Counted { parts, .. } if !parts.contains(&1) => {}
            Act::Counted { block, parts } => self.barrier(block, parts, 1, Some(64)),
            Act::Fence { warp, lanes } => {
                let pc = self.pc(|op| matches!(op, Op::Fence(_)));
                let (warp, lanes) = (WarpId(warp), LaneMask(lanes));
                self.checker.on(Event::Issue {
                    cycle,
                    sm,
                    warp,
                    pc,
                    active: lanes,
                    lanes,
                    slots: 1,
                });
            }
            Act::Flag { thread, flag, way } => {
                self.access(thread, 0, FLAGS + 4 * flag, 4, way, true)
            }
        }
    }
}

/// Creates a driver of a kernel that contains the `strong` instructions.
fn driver(setting: Setting, strong: &str, lanes: u32) -> Driver {
    let text = TEXT
        .replace("STRONG", strong)
        .replace("COUNTED", if setting.counted { "bar.sync 1, 64;" } else { "" })
        .replace("SPACE", if setting.shared { "shared" } else { "global" });
    let program = Program::parse("k.ir", &text);
    let kernel = program.kernel(None).expect("one kernel");
    let launch = program
        .launch(kernel, &Overrides::default(), &|_, _| Err(String::new()))
        .expect("sound directives");
    Driver::new(kernel, &launch, setting, LaneMask::first_n(lanes))
}

fn compare(setting: Setting, acts: &[Act]) -> Result<(), TestCaseError> {
    let mut driver = driver(setting, if setting.strong { STRONG } else { "" }, LANES);
    let mut graph = Graph::new(setting);
    for (i, act) in acts.iter().enumerate() {
        let expected = graph.act(act);
        driver.act(act);
        let found = driver.checker.has_found();
        prop_assert_eq!(found, expected, "after act {}: {:?}", i, act);
        if expected {
            break; // behavior after the first race is undefined
        }
    }
    Ok(())
}

fn acts() -> impl Strategy<Value = (Setting, Vec<Act>)> {
    // Flags are in global memory.
    let settings = any::<[bool; 4]>().prop_map(|[strong, lock_step, shared, counted]| Setting {
        strong: strong && !shared,
        lock_step,
        shared,
        counted,
    });
    settings.prop_flat_map(|setting| {
        let acts = prop::collection::vec((act(setting), 0..3u8), 1..40);
        (Just(setting), acts.prop_map(follow))
    })
}

/// Accesses of few threads to a counter, mostly atomic.
fn counter() -> impl Strategy<Value = (Setting, Vec<Act>)> {
    let threads = prop_oneof![Just(0), Just(1), Just(LANES), Just(WARPS * LANES)];
    let ways = prop_oneof![
        8 => Just((AccessWay::Atomic, true)),
        1 => Just((AccessWay::Atomic, false)),
        1 => Just((AccessWay::Load, true)),
        1 => Just((AccessWay::Store, true)),
        1 => Just((AccessWay::Load, false)),
        2 => Just((AccessWay::Store, false)),
    ];
    let access = (threads, ways, 0..8u64).prop_map(|(thread, (way, strong), byte)| {
        let is_byte = byte < 4 && (way, strong) == (AccessWay::Store, false);
        let (first, bytes) = if is_byte { (byte, 1) } else { (0, 4) };
        Act::Access { thread, also: 0, first, bytes, way, strong }
    });
    let setting = |lock_step| Setting { strong: true, lock_step, shared: false, counted: false };
    any::<bool>().prop_map(setting).prop_flat_map(move |setting| {
        let act = prop_oneof![6 => access.clone(), 1 => act(setting)];
        let acts = prop::collection::vec((act, 0..2u8), 1..16);
        (Just(setting), acts.prop_map(follow))
    })
}

/// Lets the thread of the latest atomic do each access that comes with a zero.
fn follow(acts: Vec<(Act, u8)>) -> Vec<Act> {
    let mut latest = None;
    let mut each = |(mut act, by): (Act, u8)| {
        if let Act::Access { thread, way, .. } = &mut act {
            match way {
                AccessWay::Atomic => latest = Some(*thread),
                _ => *thread = latest.filter(|_| by == 0).unwrap_or(*thread),
            }
        }
        act
    };
    acts.into_iter().map(&mut each).collect()
}

/// Returns the findings with lanes' atomics executed together or one by one. The second of a pair:
/// lanes that join in an atomic.
fn found_of_atomics(setting: Setting, acts: &[(Act, u32)], together: bool) -> String {
    let mut driver = driver(
        setting,
        "atom.global.add.u32 %x, [%b], 1; ld.volatile.global.u32 %x, [%b];
    st.volatile.global.u32 [%b], %x;",
        LANES,
    );
    for (act, also) in acts {
        match *act {
            Act::Access { thread, first, bytes, way: way @ AccessWay::Atomic, strong, .. } => {
                let (warp, lanes) =
                    (thread / LANES * LANES, LaneMask::lane(thread % LANES) | LaneMask(*also));
                if together {
                    driver.access(thread, *also, first, bytes, way, strong);
                } else {
                    lanes
                        .lanes()
                        .for_each(|lane| driver.access(warp + lane, 0, first, bytes, way, strong));
                }
            }
            Act::Fence { .. } | Act::Flag { .. } => {}
            _ => driver.act(act),
        }
    }
    format!("{:#?}", driver.checker.finish())
}

#[test]
fn atomics_together_are_found_as_one_by_one() {
    let mut config = ProptestConfig::with_cases(3000);
    config.rng_seed = proptest::test_runner::RngSeed::Fixed(0xa70);
    config.failure_persistence = None;
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let settings = any::<[bool; 2]>().prop_map(|[shared, counted]| Setting {
        strong: true,
        lock_step: false,
        shared,
        counted,
    });
    let acts = settings.prop_flat_map(|setting| {
        let each = (act(setting), 0..1u32 << LANES);
        (Just(setting), prop::collection::vec(each, 1..40))
    });
    let same = |(setting, acts): (Setting, Vec<(Act, u32)>)| {
        prop_assert_eq!(
            found_of_atomics(setting, &acts, true),
            found_of_atomics(setting, &acts, false)
        );
        Ok(())
    };
    runner.run(&acts, same).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn a_race_is_found_exactly_when_two_accesses_are_not_ordered() {
    let mut config = ProptestConfig::with_cases(12000);
    config.rng_seed = proptest::test_runner::RngSeed::Fixed(0x7ace);
    config.failure_persistence = None;
    let mut runner = proptest::test_runner::TestRunner::new(config);
    runner
        .run(&prop_oneof![acts(), counter()], |(setting, acts)| compare(setting, &acts))
        .unwrap_or_else(|e| panic!("{e}"));
}
