//! The warp states, and the classes of issue slots that are not warp states.
//!
//! Meanings follow Nsight Compute's warp states; `report::metrics` maps a state to an nvprof
//! reason.

use super::{Example, OtherName, Page, Subject};
use crate::metrics::stall_reason;
use simt_core::observe::Stall;

const fn run(program: &'static str) -> Example {
    Example::Run { program, options: "" }
}

/// Meaning, advice, example.
const fn about(stall: Stall) -> (&'static str, &'static str, Example) {
    match stall {
        Stall::Wait => (
            "The warp waits for the fixed, short latency of its own last instruction, or for its \
             turn to issue again.",
            "Use more warps, or put independent instructions between a result and its use: unroll, \
             or handle two elements per thread.",
            run("programs/small/loop_by.ir"),
        ),
        Stall::ShortScoreboard => (
            "The warp waits for a result of shared memory, a special function or a shuffle: \
             variable but short latency.",
            "Look for bank conflicts (shared_ld_bank_conflict); keep values in registers; load \
             earlier than you use.",
            run("programs/small/shared_conflicts.ir"),
        ),
        Stall::LongScoreboard => (
            "The warp waits for a result of global or local memory: hundreds of cycles if it comes \
             from DRAM.",
            "Keep more warps resident, load several elements before using the first, and coalesce \
             accesses (gld_transactions_per_request); keep reused data in shared memory.",
            run("programs/small/vector_add.ir"),
        ),
        Stall::Barrier => (
            "The warp has arrived at a block barrier and waits for the other warps of its block.",
            "Give all warps of a block the same work; use smaller blocks or fewer barriers; finish \
             a reduction in the last warp without barriers.",
            run("programs/small/barrier_both_arms.ir"),
        ),
        Stall::Membar => (
            "The warp waits until its earlier writes are visible, at a fence (`membar`, `fence`, \
             __threadfence()).",
            "Use the narrowest scope that is correct (.cta), and publish once instead of for every \
             element.",
            run("programs/small/spin_lock.ir"),
        ),
        Stall::BranchResolving => (
            "The warp has issued a branch, and its target is not known yet.",
            "Unroll short loops; replace a short if by predication (a select).",
            run("programs/small/for_tid.ir"),
        ),
        Stall::MathPipeThrottle => (
            "The warp is ready, but the execution unit that its instruction needs is busy.",
            "The execution unit is the limit, not data. Use cheaper instructions, or a mix that \
             spreads over units.",
            run("programs/small/square_wave.ir"),
        ),
        Stall::MioThrottle => (
            "The queue to shared memory, special functions and shuffles is full.",
            "Use wider accesses (.v4), fewer shuffles, and remove bank conflicts.",
            run("programs/small/shared_conflicts.ir"),
        ),
        Stall::LgThrottle => (
            "The queue to global and local memory is full.",
            "Use wider accesses (.v4), coalesce them, and avoid local memory.",
            run("programs/small/vector_add.ir"),
        ),
        Stall::TexThrottle => (
            "The queue of the texture unit is full: it holds four fetches of each scheduler.",
            "Fetch fewer or narrower texels, let the threads of a warp fetch texels that lie close \
             together, or read some of the data by loads.",
            Example::Command(
                "simt-sim run programs/cuda/convolve_texture.ptx --set width=512 --set height=512",
            ),
        ),
        Stall::NotSelected => (
            "The warp is ready, but its scheduler issued another warp.",
            "None needed: there are enough warps. If it is large, fewer warps with more registers \
             each may be as fast.",
            run("programs/small/square_wave.ir"),
        ),
        Stall::Sleeping => (
            "All runnable lanes of the warp executed `nanosleep`.",
            "Sleep for a shorter time, or wait at a barrier instead.",
            run("programs/small/sleep.ir"),
        ),
        Stall::Blocked => (
            "All lanes of the warp wait for lanes of the same warp, at joins or .sync \
             instructions. Not a hardware state: the run ends with the verdict `deadlock`.",
            "Make the lanes that others wait for reach the join, or exit. See `simt-sim explain \
             deadlock`.",
            Example::None(
                "A run ends as soon as every warp is blocked, so cycles are counted only while \
                 another warp runs.",
            ),
        ),
        Stall::Drain => (
            "All lanes of the warp have exited, but its stores are still in flight. Only machine \
             code has this state: from PTX a warp's slot is free as soon as its last lane exits.",
            "Store less at the very end of a kernel.",
            run("programs/sass/reduce_neighbored.sass"),
        ),
        Stall::NoInstruction => (
            "The next instruction of the warp is not fetched yet: the code runs for the first time \
             on this SM, or a taken branch emptied the instruction buffer.",
            "Give a launch more work, so that the cold start is a small part of it; use fewer \
             taken branches and less code (do not unroll code that runs once).",
            run("programs/small/for_tid.ir"),
        ),
        Stall::ImcMiss => (
            "The warp waits for constants, kernel parameters included, that the constant cache \
             does not hold yet: once per SM, at the start of a launch.",
            "Give a launch more work, so that the cold start is a small part of it.",
            run("programs/small/vector_add.ir"),
        ),
        Stall::DispatchStall => (
            "The warp could issue, but the scheduler's dispatch stands still while the register file \
             delivers the operands of earlier instructions: each of its two banks reads one \
             register a cycle. Only machine code has this state.",
            "Three distinct operands of one bank, 64-bit products and double precision take the most \
             reads; the compiler chooses the registers.",
            run("programs/sass/shared_halving.sass"),
        ),
    }
}

/// Makes the pages of every warp state, and of `selected`, `no_warp` and `launch`.
pub(super) fn pages() -> Vec<Page> {
    let states = Stall::ALL.into_iter().map(|stall| {
        let (meaning, remedy, example) = about(stall);
        let name = stall.name();
        let mut elsewhere =
            vec![OtherName { tool: "nvprof", name: format!("part of {}", stall_reason(name)) }];
        if stall != Stall::Blocked {
            elsewhere.push(OtherName {
                tool: "Nsight Compute",
                name: format!(
                    "smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio, in cycles \
                     per issue"
                ),
            });
        }
        elsewhere.push(OtherName { tool: "GPGPU-Sim", name: gpgpu_sim(stall).to_owned() });
        Page {
            name,
            subject: Subject::State(stall),
            aliases: Vec::new(),
            meaning: meaning.to_owned(),
            formula: "Counted: a resident warp is in one state in every cycle, `selected` when it \
                 issues. Lanes that wait at a join while others of their warp run are not a stall."
                .to_owned(),
            elsewhere,
            remedy,
            example,
        }
    });
    states.chain([selected(), no_warp(), launch()]).collect()
}

/// GPGPU-Sim's statistic for a state.
/// It has only the cause of idle issue cycles, in three classes.
const fn gpgpu_sim(stall: Stall) -> &'static str {
    match stall {
        Stall::Wait | Stall::ShortScoreboard | Stall::LongScoreboard => {
            "in W0_Scoreboard, in scheduler cycles instead of warp cycles"
        }
        Stall::MathPipeThrottle | Stall::MioThrottle | Stall::LgThrottle | Stall::TexThrottle => {
            "in Stall, in scheduler cycles instead of warp cycles"
        }
        Stall::Barrier | Stall::Membar | Stall::BranchResolving => {
            "in W0_Idle, in scheduler cycles instead of warp cycles"
        }
        Stall::NoInstruction => "in W0_Idle, in scheduler cycles instead of warp cycles",
        Stall::NotSelected
        | Stall::Sleeping
        | Stall::Blocked
        | Stall::Drain
        | Stall::ImcMiss
        | Stall::DispatchStall => "none",
    }
}

fn selected() -> Page {
    Page {
        name: "selected",
        subject: Subject::Slot,
        aliases: vec!["issued"],
        meaning: "The warp issues an instruction in this cycle; the scheduler's slot is \
                  used."
            .to_owned(),
        formula: "Counted as issue_slots: one for each machine instruction.".to_owned(),
        elsewhere: vec![OtherName {
            tool: "Nsight Compute",
            name: "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio".to_owned(),
        }],
        remedy: "More is better: see issue_slot_utilization.",
        example: run("programs/small/vector_add.ir"),
    }
}

fn no_warp() -> Page {
    Page {
        name: "no_warp",
        subject: Subject::Slot,
        aliases: Vec::new(),
        meaning: "The scheduler has no resident warp, so its slot is lost.".to_owned(),
        formula: "Counted: scheduler cycles, in the table of issue slots.".to_owned(),
        elsewhere: vec![OtherName { tool: "GPGPU-Sim", name: "in W0_Idle".to_owned() }],
        remedy: "Launch more blocks than fit at once, with enough warps for all schedulers; look \
                 for a few blocks that run long.",
        example: run("programs/small/if_else.ir"),
    }
}

fn launch() -> Page {
    Page {
        name: "launch",
        subject: Subject::Slot,
        aliases: Vec::new(),
        meaning: "A block was admitted to the SM, but its warps are not launched yet: the \
                  scheduler has no warp to issue. A warp is resident, and in a warp state, from \
                  its launch on; profilers count it from there, too."
            .to_owned(),
        formula: "Counted: scheduler cycles, in the table of issue slots.".to_owned(),
        elsewhere: vec![OtherName { tool: "GPGPU-Sim", name: "in W0_Idle".to_owned() }],
        remedy: "Use fewer, longer blocks, or keep more blocks resident, so that others issue \
                 meanwhile.",
        example: run("programs/small/vector_add.ir"),
    }
}
