//! How a run ends, what the process returns, what a lane is doing.

use super::{Example, OtherName, Page, Subject};
use simt_core::observe::LaneState;

/// What a process can return.
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
        "ok: everything asked for was done, and every expectation held",
        "Nothing.",
        "simt-sim run programs/small/if_else.ir --quiet",
    ),
    exit(
        1,
        ("exit-1", "1"),
        "an expectation failed: the program ended, and `//! expect` says something else",
        "Read the line marked FAIL: it has the value found. Other side orders (--its-order) show whether the program races.",
        "simt-sim run programs/small/side_order.ir --its-order fall-through",
    ),
    exit(
        2,
        ("exit-2", "2"),
        "usage, parse or I/O error: nothing ran",
        "Read the message; what stands in brackets behind `error` has a page of its own.",
        "simt-sim run no-such-file.ir",
    ),
    exit(
        3,
        ("exit-3", "3"),
        "deadlock or livelock proved: the program would never end",
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
        "the program faulted: it did something that has no meaning",
        "See `simt-sim explain fault`; the report names line, warp and lane.",
        "simt-sim run programs/small/ballot_both_arms.ir",
    ),
    exit(
        6,
        ("exit-6", "6"),
        "nothing to compare with: there is no GPU, and no observation that fits",
        "Build with `--features cuda` on a machine that has a GPU, or record an observation there.",
        "simt-sim crosscheck programs/small/if_else.ir --recorded no-such-folder",
    ),
    exit(
        7,
        ("exit-7", "7"),
        "a check found an error: the program ran to its end, with a race, an uninitialised read, a misused barrier or mask, or a \
         result that depends on the schedule",
        "See the page of the finding's code; warnings do not change the exit code.",
        "simt-sim check --run tests/races/missing_barrier.ir",
    ),
];

/// Verdicts: name, meaning, how it is found out, what to do, an example.
const VERDICTS: &[[&str; 5]] = &[
    [
        "ok",
        "Every thread of the grid ended.",
        "Counted: no live warp is left.",
        "Nothing; expectations are judged now.",
        "simt-sim run programs/small/if_else.ir",
    ],
    [
        "deadlock",
        "Every live warp is blocked: at a block barrier, a join or a .sync instruction. Nothing is left that could release one.",
        "Proved: no warp can issue, and no time will change that.",
        "Let every lane that a barrier or join waits for reach it, or exit. Often a barrier stands in a branch.",
        "simt-sim run programs/small/barrier_one_arm.ir --mode volta",
    ],
    [
        "livelock",
        "What runs will run for ever without effect: a spinning side keeps its warp, and the lane it waits for never gets a turn.",
        "Proved: while memory did not change, every warp that still issues came back to a state it had before.",
        "Let the lanes that spin see the write they wait for: move it inside the loop, before the lanes reconverge. From Volta \
         on, lanes take turns.",
        "simt-sim run programs/small/spin_lock.ir --mode pre-volta",
    ],
    [
        "cycle-limit",
        "The run was given up: after --max-cycles cycles, or, without that option, after 2,000,000,000 cycles or \
         500,000,000 instructions issued.",
        "Counted. Nothing is proved: the program may end later. Each SM may issue an equal share of the instructions, so \
         that a run ends alike on every host; they take about a minute of one host core.",
        "Look for a loop that does not end: one that writes memory is not proved to hang. If the program needs longer, give \
         --max-cycles: then only cycles count. Or make the problem smaller with --set.",
        "simt-sim run programs/small/vector_add.ir --max-cycles 100",
    ],
    [
        "fault",
        "An instruction had no meaning: an address outside of any buffer or not aligned, a write to read-only memory, a \
         shuffle from a lane that takes no part, a member mask without its lane, a barrier that does not exist, a `.uni` branch \
         that diverges, a call or jump to nowhere, a stack overflow, or `trap`.",
        "Found when the instruction executes; the first fault ends the run.",
        "Read line, block, warp and lane in the report, and compute the address for that thread. Guard threads behind the end of \
         the data.",
        "simt-sim run programs/small/ballot_both_arms.ir",
    ],
];

/// What a lane state means, how it is found out, what to do.
const fn lane(state: LaneState) -> [&'static str; 3] {
    match state {
        LaneState::Active => [
            "The lane executes the instruction that its warp issues.",
            "The lane is in the active mask and its guard holds.",
            "The more of these, the better: average_pred_on_lanes is their mean.",
        ],
        LaneState::PredicatedOff => [
            "The lane is active, and its guard `@%p` does not hold: the instruction does nothing for it.",
            "The lane is in the active mask and its guard does not hold. Profilers count it in thread_inst_executed.",
            "Predication is cheap for an instruction or two; for more, a branch lets whole warps skip them.",
        ],
        LaneState::MaskedOff => [
            "The lane could run, but another set of lanes of its warp does: this is divergence.",
            "The lane is not in the active mask, and waits for nothing but its turn.",
            "Let neighbouring lanes take the same side: branch by warp, by block, or by sorted data.",
        ],
        LaneState::AtJoin => [
            "The lane has arrived where the sides of a branch meet, or at a .sync instruction, and waits for the others.",
            "In pre-volta mode its stack entry is not on top; in volta mode it has arrived at a join.",
            "Make the sides of a branch, and the trips of a loop, of equal length.",
        ],
        LaneState::AtBarrier => [
            "The lane waits at a block barrier.",
            "In volta mode lanes arrive one by one, before that whole warps.",
            "See `simt-sim explain barrier`.",
        ],
        LaneState::Exited => [
            "The lane has ended, or never was: the last warp of a block may have fewer threads than lanes.",
            "The lane executed `ret` or `exit`, or its number is not below that of the block's threads.",
            "Make blocks a multiple of the warp size; handle several elements a thread at the ragged end.",
        ],
    }
}

/// The pages of outcomes: verdicts, exit codes, lane states.
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
            let name = "\"GPGPU-Sim uArch: ERROR ** deadlock detected\", by a count of idle cycles, without a proof"
                .to_owned();
            page.elsewhere.push(OtherName { tool: "GPGPU-Sim", name });
        }
        page
    });
    let exits = EXITS.iter().map(|exit| {
        let formula = "Returned by the process, for scripts; `--quiet` prints nothing else.";
        let mut page = page(exit.name, Subject::Exit, [exit.meaning, formula, exit.remedy], exit.example);
        page.aliases.push(exit.alias);
        page
    });
    let lanes = LaneState::ALL
        .into_iter()
        .map(|state| page(state.name(), Subject::Lane, lane(state), "simt-sim timeline programs/small/if_else.ir"));
    verdicts.chain(exits).chain(lanes).collect()
}
