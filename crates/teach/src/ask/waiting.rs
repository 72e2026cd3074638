//! Lanes that wait for each other: locks, flags, block barriers.

use super::lab::{Done, MODES, Trial, each};
use super::programs::*;
use super::{AskError, Bundled, Experiment, Findings, Source, draw};
use simt_core::base::LaneMask;
use simt_core::divergence::SideOrder;
use simt_core::spec::Mode;
use simt_report::{FigureTable, Picture, numbers::grouped};

pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "spin-lock",
        question: "while (atomicCAS(&lock, 0, 1) != 0); hangs my kernel when threads of one warp \
                   compete. Why?",
        programs: &[SPIN_LOCK],
        sources: &[
            Source {
                says: "Spin lock inside a warp",
                place: "https://coderapp.vercel.app/answer/45723726",
            },
            Source {
                says: "Understanding a spinlock implementation",
                place: "https://forums.developer.nvidia.com/t/understanding-a-spinlock-implementation-by-robert-crovella/267535",
            },
            Source {
                says: "SIMT-stack deadlock with a mutex",
                place: "https://github.com/vortexgpgpu/vortex/issues/62",
            },
        ],
        on_h200: Some(
            "It finishes: 32 critical sections, lanes served in order, lane k after k failed \
             attempts. The machine code has a YIELD at the head of the loop.",
        ),
        find: spin_lock,
    },
    Experiment {
        name: "spin-lock-done",
        question: "How do I write a lock that works within a warp on every GPU?",
        programs: &[SPIN_LOCK_DONE],
        sources: &[Source {
            says: "Understanding a spinlock implementation",
            place: "https://forums.developer.nvidia.com/t/understanding-a-spinlock-implementation-by-robert-crovella/267535",
        }],
        on_h200: Some("It finishes; lane k needs k + 1 attempts."),
        find: spin_lock_done,
    },
    Experiment {
        name: "two-locks",
        question: "Each thread takes two locks, its own and its neighbour's: does such a warp ever \
                   finish?",
        programs: &[TWO_LOCKS],
        sources: &[Source {
            says: "NVIDIA Tesla V100 white paper: insertion into a doubly linked list with one \
                   lock per node",
            place: "https://images.nvidia.com/content/volta-architecture/pdf/volta-architecture-whitepaper.pdf",
        }],
        on_h200: None,
        find: two_locks,
    },
    Experiment {
        name: "flag-wait",
        question: "One thread sets a flag and the others of its warp wait for it: does that work?",
        programs: &[FLAG_WAIT, HOISTED_LOAD],
        sources: &[Source {
            says: "SIMT-induced deadlock: a loop whose exit depends on a store by another lane",
            place: "ElTantawy, Aamodt: MIMD Synchronization on SIMT Architectures, MICRO 2016",
        }],
        on_h200: Some(
            "It finishes at once, either way round: the single lane is the smaller side and runs \
             first, so no lane spins.",
        ),
        find: flag_wait,
    },
    Experiment {
        name: "taking-turns",
        question: "Do the two sides of a branch alternate since Volta?",
        programs: &[NANOSLEEP],
        sources: &[Source {
            says: "When do threads reconverge on Volta, and what runs in between?",
            place: "https://stackoverflow.com/questions/54055195/activemask-vs-ballot-sync",
        }],
        on_h200: Some(
            "Not by themselves: one side ran to its end, then the other. With nanosleep(0) in both \
             loops the sides alternate.",
        ),
        find: taking_turns,
    },
    Experiment {
        name: "barrier-after-return",
        question: "May I call __syncthreads() after some threads have returned?",
        programs: &[BARRIER_AFTER_EXIT],
        sources: &[
            Source {
                says: "No, it can hang",
                place: "http://stackoverflow.com/questions/6666382/can-i-use-syncthreads-after-having-dropped-threads",
            },
            Source {
                says: "It works on most GPUs",
                place: "https://stackoverflow.com/questions/15146886",
            },
        ],
        on_h200: Some("With half the lanes of each warp exited it finishes."),
        find: barrier_after_return,
    },
    Experiment {
        name: "barrier-in-if",
        question: "__syncthreads() inside an if that only some threads enter: what happens?",
        programs: &[BARRIER_ONE_ARM],
        sources: &[
            Source {
                says: "syncthreads inside if statements",
                place: "https://codehunter.cc/a/c/cuda-syncthreads-inside-if-statements",
            },
            Source {
                says: "A kernel that hangs on some GPUs only",
                place: "https://github.com/numba/numba/issues/2655",
            },
        ],
        on_h200: Some(
            "It finishes: a BAR.SYNC arrives for the whole warp. Where the arms have more to do, the \
             compiler puts a WARPSYNC.ALL in front, at which lanes wait for all others of their \
             warp: the H200 hangs if those wait at another barrier, and goes on if they end.",
        ),
        find: barrier_in_if,
    },
    Experiment {
        name: "barrier-both-arms",
        question: "__syncthreads() in both the if and the else: do the two match?",
        programs: &[BARRIER_BOTH_ARMS],
        sources: &[Source {
            says: "syncthreads inside if statements",
            place: "https://codehunter.cc/a/c/cuda-syncthreads-inside-if-statements",
        }],
        on_h200: Some(
            "It finishes, and 32 threads see their partner, as before Volta: each BAR.SYNC arrives \
             for the whole warp. After it the two halves are still split (masks 0x55555555 and \
             0xaaaaaaaa). With more work in the arms it hangs (`simt-sim ask barrier-in-if`).",
        ),
        find: barrier_both_arms,
    },
];

/// Draws the final positions of the lanes of a hung run.
fn stuck(mode: Mode, done: &Done) -> Picture {
    Picture { title: format!("Final lane positions ({})", mode.name()), lines: done.stuck() }
}

/// Runs one program in both modes.
fn both(program: &'static Bundled) -> Result<[Done; 2], AskError> {
    each(MODES, |mode| Trial::new(program, mode).run())
}

fn spin_lock() -> Result<Findings, AskError> {
    let [before, since] = both(&SPIN_LOCK)?;
    let unyielding = Trial::new(&SPIN_LOCK, Mode::Volta).without_yields().run()?;
    let watched = Trial::new(&SPIN_LOCK, Mode::Volta).watch()?;
    let columns = ["how", "it ends", "critical sections", "failed tries of lane 31", "cycles"];
    let mut table = FigureTable::new("32 lanes, one lock", &columns);
    for (name, done) in
        [("pre-volta", &before), ("volta", &since), ("volta, no yield", &unyielding)]
    {
        let cycles =
            if done.finish() == "ok" { grouped(done.cycles()) } else { "never ends".to_owned() };
        let ended = done.finish() == "ok";
        let failed = if ended { done.word("failed", 31)?.into() } else { "-".into() };
        table.row(
            name,
            [done.finish().into(), done.word("counter", 0)?.into(), failed, cycles.into()],
        );
    }
    Ok(Findings {
        short: format!(
            "Before Volta the winner waits after the loop for the losers, who wait for its unlock: \
             {}. Since Volta: {}.",
            before.finish(),
            since.finish()
        ),
        pictures: vec![
            stuck(Mode::PreVolta, &before),
            draw::only(
                "Attempts (volta): one lane after another succeeds and leaves",
                &watched,
                0,
                "atom.global.cas",
            ),
        ],
        tables: vec![table],
        sentences: vec![
            "The unlock comes after the loop, and that is where the warp reconverges first. The \
             lanes cannot reconverge there because the program makes the losers wait for the \
             unlock; the hardware is not at fault."
                .to_owned(),
            format!(
                "Since Volta the losers yield at the head of the loop, which counts as arrival at \
                 the convergence barrier, so the winner proceeds alone; lane 31 fails {} times. \
                 The compiler inserts the yield: without it the same machine ends in {}.",
                since.word("failed", 31)?,
                unyielding.finish()
            ),
            "A lock per warp or block, taken by one elected thread, is both safe and much faster."
                .to_owned(),
        ],
    })
}

fn spin_lock_done() -> Result<Findings, AskError> {
    let [before, since] = both(&SPIN_LOCK_DONE)?;
    let columns =
        ["mode", "it ends", "critical sections", "tries of lane 0", "tries of lane 31", "cycles"];
    let mut table = FigureTable::new(
        "do { if (CAS succeeds) { critical; unlock; done = 1; } } while (!done);",
        &columns,
    );
    for (mode, done) in [(Mode::PreVolta, &before), (Mode::Volta, &since)] {
        let tries = [done.word("tries", 0)?, done.word("tries", 31)?];
        table.row(
            mode.name(),
            [
                done.finish().into(),
                done.word("counter", 0)?.into(),
                tries[0].into(),
                tries[1].into(),
                done.cycles().into(),
            ],
        );
    }
    let watched = Trial::new(&SPIN_LOCK_DONE, Mode::PreVolta).watch()?;
    Ok(Findings {
        short: format!(
            "Put the critical section inside the loop: {} and {} in the two modes.",
            before.finish(),
            since.finish()
        ),
        pictures: vec![draw::only(
            "Lanes in the critical section, in order of time (pre-volta)",
            &watched,
            0,
            "ld.volatile.global.u32",
        )],
        tables: vec![table],
        sentences: vec![
            "The winner unlocks before any lane has to wait for it, so the reconvergence point \
             does not matter."
                .to_owned(),
            format!(
                "The lanes are served one by one, and all remaining lanes retry each round: lane \
                 31 tries {} times.",
                since.word("tries", 31)?
            ),
        ],
    })
}

fn two_locks() -> Result<Findings, AskError> {
    let [before, since] = both(&TWO_LOCKS)?;
    let mut table = FigureTable::new(
        "Lane k locks node k, then node k + 1",
        &["mode", "it ends", "nodes changed", "first lane through", "last lane"],
    );
    for (mode, done) in [(Mode::PreVolta, &before), (Mode::Volta, &since)] {
        let order = done.words("order")?;
        let through = |place: u32| {
            order.iter().position(|&o| o == place).map_or("-".to_owned(), |lane| lane.to_string())
        };
        let changed: u64 = done.words("nodes")?.iter().map(|&n| u64::from(n)).sum();
        table.row(
            mode.name(),
            [done.finish().into(), changed.into(), through(0).into(), through(31).into()],
        );
    }
    Ok(Findings {
        short: format!(
            "Before Volta {}, since Volta {}: lane 31 can go first, then each lane frees the one \
             below it.",
            before.finish(),
            since.finish(),
        ),
        pictures: vec![stuck(Mode::PreVolta, &before)],
        tables: vec![table],
        sentences: vec![
            "All lanes get their first lock at once, and only lane 31 its second. With a \
             reconvergence stack it has to wait after the second loop for the lanes that wait for \
             it."
            .to_owned(),
            "NVIDIA introduced independent thread scheduling with this list as the example."
                .to_owned(),
        ],
    })
}

fn flag_wait() -> Result<Findings, AskError> {
    let columns = ["--its-order", "pre-volta", "volta", "volta, no yield", "load hoisted, volta"];
    let mut table = FigureTable::new("Lane 0 sets the flag, lanes 1 to 31 spin: outcome", &columns);
    let orders = [
        ("fewer", SideOrder::Fewer),
        ("fall-through", SideOrder::FallThrough),
        ("taken", SideOrder::Taken),
        ("more", SideOrder::More),
    ];
    let ends = each(orders, |(name, order)| {
        let end = |trial: Trial| Ok::<_, AskError>(trial.order(order).run()?.finish());
        let before = end(Trial::new(&FLAG_WAIT, Mode::PreVolta))?;
        let since = end(Trial::new(&FLAG_WAIT, Mode::Volta))?;
        let unyielding = end(Trial::new(&FLAG_WAIT, Mode::Volta).without_yields())?;
        let hoisted = end(Trial::new(&HOISTED_LOAD, Mode::Volta))?;
        table.row(name, [before.into(), since.into(), unyielding.into(), hoisted.into()]);
        Ok((before, since))
    })?;
    let hangs = ends.iter().filter(|e| e.0 != "ok").count();
    let late = ends.iter().filter(|e| e.1 != "ok").count();
    let watched = Trial::new(&FLAG_WAIT, Mode::Volta).watch()?;
    Ok(Findings {
        short: format!(
            "Before Volta it depends on the side that runs first: {hangs} of {} orders hang. Since \
             Volta {late} do.",
            ends.len()
        ),
        pictures: vec![draw::lanes(
            "The single lane runs first and no lane has to spin (volta)",
            &watched,
            0,
            "@%wait",
        )],
        tables: vec![table],
        sentences: vec![
            "With a reconvergence stack one side runs to its end before the other begins. If the \
             waiting side is first, the flag is never set."
                .to_owned(),
            "Since Volta a spin loop on a volatile load yields, so the setter gets its turn. \
             Without volatile the compiler may hoist the load out of the loop: then the program \
             hangs everywhere, and no scheduler can help."
                .to_owned(),
        ],
    })
}

fn taking_turns() -> Result<Findings, AskError> {
    let columns = ["mode", "changes of side", "rounds a side", "first", "last"];
    let mut table =
        FigureTable::new("Both sides loop; each round ends with nanosleep(0)", &columns);
    let [before, since] = each(MODES, |mode| {
        let done = Trial::new(&NANOSLEEP, mode).run()?;
        // `who` holds the active mask of the lanes that drew each ticket, ticket by ticket.
        let who = done.words("who")?;
        let changes = who.windows(2).filter(|w| w[0] != w[1]).count() as u64;
        let rounds = who.len() as u64 / 32;
        let end = |w: Option<&u32>| LaneMask(w.copied().unwrap_or_default()).to_string();
        table.row(
            mode.name(),
            [changes.into(), rounds.into(), end(who.first()).into(), end(who.last()).into()],
        );
        Ok(changes)
    })?;
    let watched = Trial::new(&NANOSLEEP, Mode::Volta).watch()?;
    Ok(Findings {
        short: format!(
            "Only if the program yields: {since} side changes with one nanosleep per round, \
             {before} with a reconvergence stack.",
        ),
        pictures: vec![draw::only(
            "Odd and even lanes alternate (volta)",
            &watched,
            0,
            "nanosleep",
        )],
        tables: vec![table],
        sentences: vec![
            "Independent does not mean alternating: a side runs until it waits for other lanes, \
             ends, yields or sleeps. Waiting for memory is not enough (`simt-sim ask \
             divergent-latency`)."
                .to_owned(),
        ],
    })
}

fn barrier_after_return() -> Result<Findings, AskError> {
    let [before, since] = both(&BARRIER_AFTER_EXIT)?;
    let mut table = FigureTable::new(
        "Odd threads of two warps return, the others reach the barrier",
        &["mode", "it ends", "threads that read their partner"],
    );
    for (mode, done) in [(Mode::PreVolta, &before), (Mode::Volta, &since)] {
        let met = done
            .words("out")?
            .iter()
            .enumerate()
            .filter(|&(t, &w)| t % 2 == 0 && w as usize == t ^ 32)
            .count() as u64;
        table.row(mode.name(), [done.finish().into(), met.into()]);
    }
    let watched = Trial::new(&BARRIER_AFTER_EXIT, Mode::Volta).watch()?;
    Ok(Findings {
        short: format!(
            "It works in both models ({}, {}): a barrier does not wait for exited threads.",
            before.finish(),
            since.finish(),
        ),
        pictures: vec![draw::lanes(
            "Warp 0: half of the lanes return (x) before the barrier",
            &watched,
            0,
            "@%odd ret",
        )],
        tables: vec![table],
        sentences: vec![
            "Before Volta a barrier counts warps, and a warp with any lane left arrives as a \
             whole. Since Volta it counts the threads that have not exited."
                .to_owned(),
            "Both forum answers follow the manuals of their time. A thread that skips a barrier \
             without exiting is a different case (`simt-sim ask barrier-in-if`)."
                .to_owned(),
        ],
    })
}

fn barrier_in_if() -> Result<Findings, AskError> {
    let [before, since] = both(&BARRIER_ONE_ARM)?;
    let mut table = FigureTable::new(
        "Odd threads of two warps enter the if with the barrier",
        &["mode", "it ends", "threads that got past it"],
    );
    for (mode, done) in [(Mode::PreVolta, &before), (Mode::Volta, &since)] {
        let past = done.words("out")?.iter().filter(|&&w| w == 1).count() as u64;
        table.row(mode.name(), [done.finish().into(), past.into()]);
    }
    Ok(Findings {
        short: format!(
            "CUDA leaves it undefined. By the rule of before Volta: {}. By the rule since: {}.",
            before.finish(),
            since.finish(),
        ),
        pictures: vec![stuck(Mode::Volta, &since)],
        tables: vec![table],
        sentences: vec![
            "Before Volta any thread that executes the barrier makes its whole warp arrive, so the \
             program passes by accident."
                .to_owned(),
            "Since Volta the barrier waits for every thread that has not exited, and those outside \
             the if wait at its end for the ones inside. So says CUDA; what a GPU does depends on \
             the compiler's code, and a program that works on one card can hang on another."
                .to_owned(),
        ],
    })
}

fn barrier_both_arms() -> Result<Findings, AskError> {
    let [before, since] = both(&BARRIER_BOTH_ARMS)?;
    let columns = [
        "mode",
        "it ends",
        "threads that saw their partner",
        "mask behind the barrier, thread 0",
        "thread 1",
    ];
    let mut table =
        FigureTable::new("64 threads, a barrier in each side of a branch on parity", &columns);
    let mut seen = Vec::new();
    for (mode, done) in [(Mode::PreVolta, &before), (Mode::Volta, &since)] {
        let saw: u64 = done.words("seen")?.iter().map(|&w| u64::from(w)).sum();
        seen.push(saw);
        let mask = |t| Ok::<_, AskError>(LaneMask(done.word("mask", t)?).to_string());
        table
            .row(mode.name(), [done.finish().into(), saw.into(), mask(0)?.into(), mask(1)?.into()]);
    }
    let watched = Trial::new(&BARRIER_BOTH_ARMS, Mode::Volta).watch()?;
    Ok(Findings {
        short: format!(
            "By the rule since Volta yes: all {} threads see their partner. Before, only {} do: the \
             first side makes the whole warp arrive.",
            seen[1], seen[0]
        ),
        pictures: vec![draw::lanes(
            "Warp 0: both sides reach the barrier before either continues (volta)",
            &watched,
            0,
            "@%even",
        )],
        tables: vec![table],
        sentences: vec![
            "Neither machine hangs, but the results differ: before Volta the half that runs first \
             passes the barrier before the other half has done its work."
                .to_owned(),
            "After the barrier the halves are still diverged; a block barrier synchronises threads \
             but does not reconverge them."
                .to_owned(),
        ],
    })
}
