//! Outcomes of a run, exit codes, lane states.

use super::{Example, OtherName, Page, Subject};
use simt_core::observe::LaneState;

/// An exit code of the process.
pub(super) struct Exit {
    pub(super) code: u8,
    name: &'static str,
    alias: &'static str,
    pub(super) meaning: &'static str,
    remedy: &'static str,
    example: &'static str,
}

const fn exit(
    code: u8,
    (name, alias): (&'static str, &'static str),
    meaning: &'static str,
    remedy: &'static str,
    example: &'static str,
) -> Exit {
    Exit { code, name, alias, meaning, remedy, example }
}

pub(super) const EXITS: &[Exit] = &[
    exit(
        0,
        ("exit-0", "0"),
        "ok: the command succeeded, and every expectation holds",
        "Nothing.",
        "simt-sim run programs/small/if_else.ir --quiet",
    ),
    exit(
        1,
        ("exit-1", "1"),
        "an expectation failed: the program finished with a result that an `//! expect` line \
         rejects",
        "Read the line marked FAILED: it has the value found. Run other side orders (--its-order) \
         to see if the program races.",
        "simt-sim run programs/small/side_order.ir --its-order fall-through",
    ),
    exit(
        2,
        ("exit-2", "2"),
        "usage, parse or I/O error: nothing ran",
        "Read the message; the code in brackets after `error` has its own page.",
        "simt-sim run no-such-file.ir",
    ),
    exit(
        3,
        ("exit-3", "3"),
        "deadlock or livelock proved: the program never ends",
        "See `simt-sim explain deadlock` and `simt-sim explain livelock`.",
        "simt-sim run programs/small/spin_lock.ir --mode pre-volta",
    ),
    exit(
        4,
        ("exit-4", "4"),
        "cycle limit reached: nothing is proved",
        "See `simt-sim explain cycle-limit`.",
        "simt-sim run programs/small/vector_add.ir --max-cycles 100",
    ),
    exit(
        5,
        ("exit-5", "5"),
        "the program faulted: an instruction had no defined result",
        "See `simt-sim explain fault`; the report names line, warp and lane.",
        "simt-sim run programs/small/ballot_both_arms.ir",
    ),
    exit(
        6,
        ("exit-6", "6"),
        "nothing to compare with: no GPU and no matching observation",
        "Build with `--features cuda` on a machine that has a GPU, or record an observation there.",
        "simt-sim crosscheck programs/small/if_else.ir --recorded no-such-folder",
    ),
    exit(
        7,
        ("exit-7", "7"),
        "a check found an error: the program finished, but has a race, an uninitialised read, a \
         misused barrier or mask, or a result that depends on the schedule",
        "See the page of the finding's code; warnings do not change the exit code.",
        "simt-sim check --run tests/races/missing_barrier.ir",
    ),
];

/// Verdicts: name, meaning, method of detection, advice, example.
const VERDICTS: &[[&str; 5]] = &[
    [
        "ok",
        "Every thread of the grid exited.",
        "No live warp is left.",
        "Nothing; expectations are now checked.",
        "simt-sim run programs/small/if_else.ir",
    ],
    [
        "deadlock",
        "Every live warp is blocked: at a block barrier, a join or a .sync instruction. Nothing \
         can release any of them.",
        "Proved: no warp can issue, now or later.",
        "Make every lane that a barrier or join waits for reach it, or exit. A common cause is a \
         barrier inside a branch.",
        "simt-sim run programs/small/barrier_one_arm.ir --mode volta",
    ],
    [
        "livelock",
        "The running lanes spin forever without effect: they keep their warp, and the lane they \
         wait for never issues.",
        "Proved: every warp that still issues repeated a state without a memory write in between.",
        "Make the write that the spinning lanes wait for execute before the lanes reconverge: move \
         it inside the loop. With Volta's scheduling, diverged lanes take turns.",
        "simt-sim run programs/small/spin_lock.ir --mode pre-volta",
    ],
    [
        "cycle-limit",
        "The run stopped after --max-cycles cycles or, without that option, after 2,000,000,000 \
         cycles or 500,000,000 issued instructions.",
        "Counted. Nothing is proved: the program may end later. Each SM may issue an equal share \
         of the instructions, so that a run ends the same way on every host; they take about a \
         minute of one host core.",
        "Look for an infinite loop; a loop that writes memory is not proved to hang. If the \
         program needs longer, give --max-cycles: then only cycles count. Or reduce the problem \
         size with --set.",
        "simt-sim run programs/small/vector_add.ir --max-cycles 100",
    ],
    [
        "fault",
        "An instruction had no defined result: an address outside of any buffer or misaligned, a \
         write to read-only memory, a shuffle from an inactive lane, a member mask without the \
         executing lane, a barrier that does not exist, a `.uni` branch that diverges, a call or \
         jump to an invalid target, a stack overflow, or `trap`.",
        "Found when the instruction executes; the first fault ends the run.",
        "Read line, block, warp and lane in the report, and compute the address for that thread. \
         Guard threads past the end of the data.",
        "simt-sim run programs/small/ballot_both_arms.ir",
    ],
];

/// Meaning, method of detection and advice for a lane state.
const fn lane(state: LaneState) -> [&'static str; 3] {
    match state {
        LaneState::Active => [
            "The lane executes the instruction that its warp issues.",
            "The lane is in the active mask and its guard holds.",
            "More is better: average_pred_on_lanes is their mean.",
        ],
        LaneState::PredicatedOff => [
            "The lane is active, but its guard `@%p` is false: the instruction has no effect for \
             it.",
            "The lane is in the active mask and its guard is false. Profilers count it in \
             thread_inst_executed.",
            "Predication is cheap for an instruction or two; for longer code, a branch lets whole \
             warps skip it.",
        ],
        LaneState::MaskedOff => [
            "The lane is ready, but another set of lanes of its warp runs: the warp has diverged.",
            "The lane is not in the active mask and waits only for its turn.",
            "Make neighbouring lanes take the same side: branch by warp, by block, or on sorted \
             data.",
        ],
        LaneState::AtJoin => [
            "The lane has reached a reconvergence point or a .sync instruction and waits for the \
             others.",
            "In pre-volta mode its stack entry is not on top; in volta mode it has reached a join.",
            "Give the sides of a branch equal length, and the lanes of a loop equal trip counts.",
        ],
        LaneState::AtBarrier => [
            "The lane waits at a block barrier.",
            "In volta mode lanes arrive one by one, in pre-volta mode whole warps.",
            "See `simt-sim explain barrier`.",
        ],
        LaneState::Exited => [
            "The lane has exited or never existed: the last warp of a block may have fewer threads \
             than lanes.",
            "The lane executed `ret` or `exit`, or its thread number is outside the block.",
            "Make the block size a multiple of the warp size; handle a ragged end with several \
             elements per thread.",
        ],
    }
}

/// Makes the pages of outcomes: verdicts, exit codes, lane states.
pub(super) fn pages() -> Vec<Page> {
    let page = |name, subject, [meaning, formula, remedy]: [&'static str; 3], example| Page {
        name,
        subject,
        aliases: Vec::new(),
        meaning: meaning.to_owned(),
        formula: formula.to_owned(),
        elsewhere: Vec::new(),
        remedy,
        example: Example::Command(example),
    };
    let verdicts = VERDICTS.iter().map(|&[name, meaning, formula, remedy, example]| {
        let mut page = page(name, Subject::Verdict, [meaning, formula, remedy], example);
        if name == "deadlock" {
            let name = "\"GPGPU-Sim uArch: ERROR ** deadlock detected\", by a count of idle \
                        cycles, without a proof"
                .to_owned();
            page.elsewhere.push(OtherName { tool: "GPGPU-Sim", name });
        }
        page
    });
    let exits = EXITS.iter().map(|exit| {
        let formula = "Returned by the process for scripts; `--quiet` suppresses the output.";
        let mut page =
            page(exit.name, Subject::Exit, [exit.meaning, formula, exit.remedy], exit.example);
        page.aliases.push(exit.alias);
        page
    });
    let lanes = LaneState::ALL.into_iter().map(|state| {
        page(
            state.name(),
            Subject::Lane,
            lane(state),
            "simt-sim timeline programs/small/if_else.ir",
        )
    });
    verdicts.chain(exits).chain(lanes).collect()
}
