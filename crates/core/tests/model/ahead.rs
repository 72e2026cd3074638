//! SMs that run ahead of each other give the figures of those that run in the order of cycles.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

use simt_core::event::{Event, Observer};
use simt_core::exec::Lent;
use simt_core::launch::{Buffer, Launch, Overrides};
use simt_core::machine::{Host, Options, Outcome};
use simt_core::observe::{Counts, Totals};
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};

use super::support;

/// Cycles of a run.
const MOST: u64 = 400_000;
/// Threads of a launch.
const MOST_THREADS: u32 = 1 << 15;

/// Words of programs whose blocks may communicate; others need not run to find out.
const WORDS: [&str; 8] =
    ["atom.global", "atom.add", " red.", "\tred.", "volatile", "STRONG", "REDG", "ATOMG"];

/// Threads on which free SMs run.
struct Threads;

impl Host for Threads {
    fn each(&self, n: u32, task: &(dyn Fn(u32) + Sync)) {
        let next = AtomicU32::new(0);
        let work = || {
            loop {
                match next.fetch_add(1, Relaxed) {
                    i if i < n => task(i),
                    _ => break,
                }
            }
        };
        thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(work))));
    }
}

/// Observer of all SMs in the order of cycles.
struct InOrder;

impl Observer for InOrder {
    fn on(&mut self, _: Event) {}
    fn merge(&mut self, _: InOrder) {}
}

/// Figures of a run and the memory that it leaves.
#[derive(Debug, PartialEq)]
struct Ran {
    finish: &'static str,
    totals: Totals,
    memory: Vec<Vec<u32>>,
}

fn ran<O>(outcome: Outcome<O>, counts: impl FnOnce(O) -> Counts) -> Ran {
    let Outcome { finish, launch, observer, .. } = outcome;
    let memory = launch.buffers.iter().map(Buffer::content).collect();
    Ran { finish: finish.name(), totals: counts(observer).finish(), memory }
}

/// Lends the launch its content.
fn lend(launch: &mut Launch) {
    for buffer in launch.buffers.iter_mut().filter(|buffer| buffer.mapped) {
        let words: Vec<AtomicU32> =
            std::mem::take(&mut buffer.words).into_iter().map(AtomicU32::new).collect();
        buffer.lent = Some(Lent::new(Arc::new(words)));
    }
}

/// Runs a launch ahead, in memory that is lent, and in order; `None` if its blocks do not
/// communicate.
fn both(program: &Program, launch: &Launch, mode: Mode, machine: &Machine) -> Option<[Ran; 2]> {
    let kernel = program.kernel(None).ok()?;
    let options = Options { max_cycles: MOST, ..Options::of(machine, mode) };
    let job = Job::new(program, kernel, launch.clone(), machine, options);
    let mut lent = job.clone();
    lend(&mut lent.launch);
    let ahead = lent.count(&Threads).ok().filter(|outcome| outcome.interleaved)?;
    let counts = Counts::of_code(&job.code, machine.warp_size);
    let in_order = job.run(&(), || (counts.clone(), InOrder)).ok()?;
    Some([ran(ahead, |counts| counts), ran(in_order, |(counts, _)| counts)])
}

#[test]
fn programs_of_the_repository() {
    super::enter_repository();
    let mut compared = 0;
    let folders = ["programs", "tests/regressions"];
    for path in folders.iter().flat_map(|folder| support::files(folder, &["ir", "ptx", "sass"])) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if !WORDS.iter().any(|word| text.contains(word)) {
            continue;
        }
        let program = Program::parse(&path.display().to_string(), &text);
        for set in [vec![("n".to_owned(), "1 << 14".to_owned())], Vec::new()] {
            let small = Overrides { set, ..Overrides::default() };
            let Ok((_, launch)) = support::launch(&program, &small) else { continue };
            let threads: u32 = launch.grid.iter().chain(&launch.block).product();
            if threads > MOST_THREADS {
                break;
            }
            for mode in support::MODES {
                let machine = support::machine(mode.default_machine());
                let Some([ahead, in_order]) = both(&program, &launch, mode, &machine) else {
                    continue;
                };
                compared += 1;
                let place = format!("{} [{}]", path.display(), mode.name());
                assert!(ahead == in_order, "{place}: {ahead:?}\n    is {in_order:?}");
            }
            break;
        }
    }
    assert!(compared > 20, "{compared} runs were compared");
}

/// A kernel of eight blocks of one warp. Lane 0 of block `%block` runs `body`; `%a` .. `%c` are
/// addresses of words, a line apart.
fn kernel(body: &str) -> String {
    format!(
        "//! grid = 8
//! block = 32
//! buffer a: u32[32] = fill(0)
//! buffer b: u32[32] = fill(0)
//! buffer c: u32[32] = fill(0)
//! arg a = a
//! arg b = b
//! arg c = c
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{{
    .reg .pred %p, %first;
    .reg .u32 %lane, %block, %x, %i, %tries;
    .reg .u64 %a, %b, %c, %own;
    mov.u32 %lane, %tid.x;
    mov.u32 %block, %ctaid.x;
    ld.param.u64 %a, [a];
    ld.param.u64 %b, [b];
    ld.param.u64 %c, [c];
    cvta.to.global.u64 %a, %a;
    cvta.to.global.u64 %b, %b;
    cvta.to.global.u64 %c, %c;
    mad.wide.u32 %own, %block, 4, %c;
    mov.u32 %tries, 0;
    setp.eq.u32 %first, %block, 0;
    setp.ne.u32 %p, %lane, 0;
    @%p bra Done;
{body}
Done:
    ret;
}}
"
    )
}

/// A loop of three instructions, `times` times.
fn work(times: u32) -> String {
    format!(
        "
    mov.u32 %i, 0;
Work:
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, {times};
    @%p bra Work;
"
    )
}

/// Some hundred cycles.
const SHORT: u32 = 50;
/// More issues than an SM has in its turn.
const LONG: u32 = 3000;

/// Asserts equal figures of a kernel on machines of both modes.
fn hold(name: &str, body: &str) {
    let text = kernel(body);
    let program = Program::parse(name, &text);
    let (_, launch) = support::launch(&program, &Overrides::default()).expect(name);
    for mode in support::MODES {
        let machine = support::machine(mode.default_machine());
        let [ahead, in_order] = both(&program, &launch, mode, &machine).expect("communicates");
        assert_eq!(in_order.finish, "ok", "{name}");
        assert!(ahead == in_order, "{name} [{}]: {ahead:?}\n    is {in_order:?}", mode.name());
    }
}

#[test]
fn a_lock_that_a_plain_store_opens() {
    let work = work(SHORT);
    hold(
        "lock",
        &format!(
            "Spin:
    add.u32 %tries, %tries, 1;
    atom.global.cas.b32 %x, [%a], 0, 1;
    setp.ne.u32 %p, %x, 0;
    @%p bra Spin;
    {work}
    ld.global.u32 %x, [%b];
    add.u32 %x, %x, 1;
    st.global.u32 [%b], %x;
    st.global.u32 [%a], 0;
    st.global.u32 [%own], %tries;"
        ),
    );
}

#[test]
fn a_flag_that_a_plain_store_sets() {
    let work = work(SHORT);
    hold(
        "flag",
        &format!(
            "    @%first bra Set;
Spin:
    add.u32 %tries, %tries, 1;
    ld.volatile.global.u32 %x, [%a];
    setp.eq.u32 %p, %x, 0;
    @%p bra Spin;
    st.global.u32 [%own], %tries;
    bra Done;
Set:
    {work}
    st.global.u32 [%a], 1;"
        ),
    );
}

#[test]
fn volatile_words_of_each_block_and_one_of_all() {
    let (short, long) = (work(SHORT), work(LONG));
    let own = "
    ld.volatile.global.u32 %x, [%own];
    add.u32 %x, %x, 7;
    st.volatile.global.u32 [%own], %x;";
    hold("own words", &format!("{own}{long}{own}"));
    // Blocks on the same cycle, of which the last one's value stays.
    hold("one word", &format!("{own}{short}    st.volatile.global.u32 [%a], %block;{own}"));
    // Block 0 has long run when the others store what it reads.
    hold(
        "late word",
        &format!(
            "    @%first bra Read;
    st.volatile.global.u32 [%b], %block;
    bra Done;
Read:
    {long}
    ld.volatile.global.u32 %x, [%b];
    st.global.u32 [%own], %x;"
        ),
    );
}

#[test]
fn a_flag_that_a_plain_load_reads() {
    let work = work(SHORT);
    hold(
        "plain flag",
        &format!(
            "    @%first bra Set;
Spin:
    add.u32 %tries, %tries, 1;
    ld.global.u32 %x, [%a];
    setp.eq.u32 %p, %x, 0;
    @%p bra Spin;
    st.global.u32 [%own], %tries;
    bra Done;
Set:
    {work}
    atom.global.exch.b32 %x, [%a], 1;"
        ),
    );
}

#[test]
fn a_sum_that_a_block_watches() {
    let work = work(SHORT);
    hold(
        "sum",
        &format!(
            "    @%first bra Spin;
    {work}
    red.global.add.u32 [%a], %block;
    bra Done;
Spin:
    add.u32 %tries, %tries, 1;
    ld.volatile.global.u32 %x, [%a];
    setp.ne.u32 %p, %x, 28;
    @%p bra Spin;
    st.global.u32 [%own], %tries;"
        ),
    );
}

#[test]
fn a_sum_of_the_last_block() {
    hold(
        "last block",
        "    add.u32 %x, %block, 1;
    st.global.u32 [%own], %x;
    membar.gl;
    atom.global.add.u32 %x, [%a], 1;
    setp.ne.u32 %p, %x, 7;
    @%p bra Done;
    mov.u32 %i, 0;
Sum:
    ld.global.u32 %x, [%c];
    add.u32 %tries, %tries, %x;
    add.u64 %c, %c, 4;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 8;
    @%p bra Sum;
    st.global.u32 [%b], %tries;",
    );
}

#[test]
fn a_sum_that_a_block_reads_while_others_run() {
    let work = work(LONG);
    hold(
        "long sum",
        &format!(
            "    @%first bra Watch;
    {work}
    red.global.add.u32 [%a], 1;
    st.global.u32 [%own], %i;
    bra Done;
Watch:
    ld.global.cg.u32 %x, [%a];
    add.u32 %tries, %tries, 1;
    setp.lt.u32 %p, %x, 7;
    @%p bra Watch;
    st.global.u32 [%own], %tries;"
        ),
    );
}

#[test]
fn sums_of_blocks_that_run_at_the_same_time() {
    let sums = "
    mov.u32 %tries, 0;
Again:
    red.global.add.u32 [%a], %block;
    red.global.add.u32 [%own], 1;
    ld.global.u32 %x, [%b];
    add.u32 %tries, %tries, 1;
    setp.lt.u32 %p, %tries, 5000;
    @%p bra Again;";
    hold("sums", sums);
}
