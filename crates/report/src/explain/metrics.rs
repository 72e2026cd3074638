//! What the table of metrics does not say: what to do about a value, which program shows it, GPGPU-Sim's name.

use super::{Example, OtherName, Page, Subject};
use crate::metrics::{Group, Metric};

/// What metrics of one kind have in common.
struct Note {
    /// The metrics, by first name.
    names: &'static [&'static str],
    /// What to do.
    remedy: &'static str,
    /// A program that shows them; empty when no machine here gives them a value.
    program: &'static str,
    /// What GPGPU-Sim's statistics call them, with what differs; empty for nothing.
    gpgpu_sim: &'static str,
}

const fn note(
    names: &'static [&'static str],
    remedy: &'static str,
    program: &'static str,
    gpgpu_sim: &'static str,
) -> Note {
    Note { names, remedy, program, gpgpu_sim }
}

const NEIGHBORED: &str = "programs/reduce_neighbored.ir";
const LESS: &str = "programs/reduce_neighbored_less.ir";
const STRIDED: &str = "programs/small/strided_load.ir";
const ADD: &str = "programs/small/vector_add.ir";
const CONFLICTS: &str = "programs/small/shared_conflicts.ir";
const TICKETS: &str = "programs/small/diamond.ir";
const LOCALS: &str = "programs/cuda/call_struct.ptx";

#[rustfmt::skip] // one note a paragraph: names; remedy; program; GPGPU-Sim
const NOTES: &[Note] = &[
    note(&["elapsed_cycles", "launch_cycles", "duration"],
        "Compare it between versions of a program on one machine; then ask the warp states why. What a launch costs around its blocks is in launch_cycles and duration, and not in elapsed_cycles.",
        NEIGHBORED, "gpu_sim_cycle"),
    note(&["active_cycles"],
        "Divide other counts by it rather than by elapsed_cycles when some SMs have nothing to do.",
        NEIGHBORED, ""),
    note(&["sm_efficiency"],
        "Below 100: some SMs ended earlier, or got nothing. Launch more blocks, or blocks of more equal length.",
        ADD, ""),
    note(&["ipc", "issued_ipc"],
        "The most is the number of schedulers of an SM. Below that, the issue-slot table of the report says what was lost and to what.",
        NEIGHBORED, "gpu_ipc, which counts lanes rather than warps, over the whole GPU"),
    note(&["achieved_occupancy", "active_warps"],
        "Low: use smaller blocks, fewer registers or less shared memory a thread; the report says what limits the blocks of an SM. High is no aim in itself.",
        NEIGHBORED, "gpu_occupancy"),
    note(&["warps_launched", "threads_launched", "sm_cta_launched"],
        "It follows from grid and block; a block that is no multiple of the warp size wastes lanes of its last warp.",
        ADD, "gpu_tot_issued_cta, for blocks"),
    note(&["inst_executed", "inst_per_warp", "ptx_inst_executed"],
        "Divergence raises it: a warp executes both sides. Let whole warps skip work, unroll loops, and compare two versions with `simt-sim compare`.",
        NEIGHBORED, "gpu_sim_insn, which counts every active lane: compare it with thread_inst_executed"),
    note(&["join_instructions"],
        "The price of independent thread scheduling: fewer divergent branches need fewer joins.",
        NEIGHBORED, ""),
    note(&["inst_issued", "issue_slots", "issue_slot_utilization"],
        "Low: warps wait, and too few are there to cover it. Look at the warp states.",
        NEIGHBORED, "the Warp Occupancy Distribution's W1 to W32, summed"),
    note(&["issue_slots_lost"],
        "The issue-slot table of the report says to which state each of them was lost.",
        NEIGHBORED, "the Warp Occupancy Distribution's Stall, W0_Idle and W0_Scoreboard, summed"),
    note(&["barriers"],
        "Each costs the wait for the slowest warp: see `simt-sim explain barrier`.",
        NEIGHBORED, ""),
    note(&["conditional_branches"],
        "A branch costs issue slots also where no warp diverges: unroll, or let a short if be predicated.",
        NEIGHBORED, ""),
    note(&["divergent_branch", "branch_efficiency"],
        "Let neighbouring lanes decide alike: by warp, by block, by sorted data. The report's table of branches names the lines. Predicated code counts no branch, so neither 0 divergent branches nor 100 % mean that no lane idles: look at average_pred_on_lanes. 0 % without any branch is Nsight Compute's rule, too.",
        NEIGHBORED, ""),
    note(&["thread_inst_executed", "not_predicated_off_thread_inst_executed"],
        "It is the work that lanes did; only fewer instructions make it smaller.",
        NEIGHBORED, "gpu_sim_insn"),
    note(&["warp_execution_efficiency", "warp_nonpred_execution_efficiency", "average_active_lanes", "average_pred_on_lanes"],
        "Low: lanes idle while others of their warp run. `simt-sim timeline` shows when, `simt-sim run --annotate` in which lines.",
        NEIGHBORED, "the Warp Occupancy Distribution W1 to W32, of which it is the mean"),
    note(&["gld_requests", "gst_requests"],
        "Use wider accesses (.v2, .v4) for fewer requests.",
        ADD, "gpgpu_n_load_insn and gpgpu_n_store_insn, which count lanes and all memories"),
    note(&["gld_transactions", "gld_transactions_per_request", "gld_efficiency", "gld_segments"],
        "Let neighbouring lanes read neighbouring addresses: 32 lanes reading 32 words need 4 sectors. `--set stride=8` shows the other end.",
        STRIDED, "L1D_total_cache_accesses, which counts lines or sectors as the cache is configured"),
    note(&["gld_throughput", "gld_requested_throughput"],
        "The gap between the two is what was moved and not wanted. Compare with the machine's L1, not with its DRAM: dram_read_throughput is that.",
        ADD, ""),
    note(&["gst_transactions", "gst_transactions_per_request", "gst_efficiency", "gst_segments"],
        "Let neighbouring lanes write neighbouring addresses.",
        NEIGHBORED, "gpgpu_n_mem_write_global, which counts requests to L2"),
    note(&["gst_throughput", "gst_requested_throughput"],
        "The gap between the two is what was moved and not wanted.",
        NEIGHBORED, ""),
    note(&["global_atomic_requests", "atomic_transactions", "atomic_transactions_per_request"],
        "Combine within a warp (shuffles, redux) or a block (shared memory) first, and let one lane do the atomic.",
        TICKETS, ""),
    note(&["l1_hit_sectors", "global_hit_rate"],
        "Low is no fault where every byte is used once. Raise it by working on data while it is there.",
        LESS, "1 - L1D_total_cache_miss_rate"),
    note(&["l2_read_transactions", "l2_global_load_bytes", "l2_write_transactions", "l2_crossed_sectors", "l2_tex_read_hit_rate"],
        "Keep what a block reuses in shared memory or registers; let neighbouring blocks work on neighbouring data.",
        ADD, "L2_total_cache_accesses and 1 - L2_total_cache_miss_rate"),
    note(&["l2_atomic_transactions"],
        "Combine within a warp or block first.",
        TICKETS, ""),
    note(&["dram_read_bytes", "dram_read_throughput"],
        "Near the machine's bandwidth, only fewer bytes help; far from it, have more loads under way: several elements a thread.",
        ADD, "total_dram_reads, in bursts"),
    note(&["dram_write_bytes", "dram_write_throughput"],
        "Write each byte once, and soon after it was read: what is rewritten while it is in L2 reaches DRAM once.",
        ADD, "total_dram_writes, in bursts"),
    note(&["shared_load_requests", "shared_store_requests", "shared_load_transactions", "shared_store_transactions"],
        "Use shuffles within a warp, and wider accesses.",
        CONFLICTS, "gpgpu_n_shmem_insn, which counts lanes"),
    note(&["shared_load_transactions_per_request", "shared_store_transactions_per_request", "shared_ld_bank_conflict",
           "shared_st_bank_conflict", "shared_efficiency", "shared_replay_overhead"],
        "Lanes that touch different words of one bank take turns: pad rows by one word, or let neighbouring lanes touch neighbouring words.",
        CONFLICTS, "gpgpu_n_shmem_bkconflict, in cycles"),
    note(&["shared_atomic_transactions"],
        "Lanes that update one word take turns, which is in the time and not in this count. Give each warp or lane a counter of its own and add these at the end.",
        "programs/small/shared_atomic.ir", ""),
    note(&["local_load_requests", "local_load_transactions", "local_load_transactions_per_request", "local_store_requests",
           "local_store_transactions", "local_store_transactions_per_request", "local_hit_rate"],
        "Local memory is where frames, spilled registers and arrays with computed indices live: unroll so that indices are constants, and avoid recursion.",
        LOCALS, "gpgpu_n_mem_read_local and gpgpu_n_mem_write_local, which count requests to L2"),
    note(&["stall_exec_dependency", "stall_memory_dependency", "stall_sync", "stall_pipe_busy", "stall_memory_throttle",
           "stall_not_selected", "stall_sleeping", "stall_other", "stall_inst_fetch", "stall_constant_memory_dependency"],
        "Begin with the largest share, and only if issue slots are lost; the pages of the states that it is made of say what to do.",
        NEIGHBORED, ""),
    note(&["warp_state_selected", "warp_state_wait", "warp_state_short_scoreboard", "warp_state_long_scoreboard",
           "warp_state_barrier", "warp_state_membar", "warp_state_branch_resolving", "warp_state_math_pipe_throttle",
           "warp_state_mio_throttle", "warp_state_lg_throttle", "warp_state_not_selected", "warp_state_sleeping",
           "warp_state_blocked", "warp_state_drain", "warp_state_no_instruction", "warp_state_imc_miss"],
        "Begin with the largest of them; the page of the state itself (the name without warp_state_) says what to do.",
        NEIGHBORED, ""),
    note(&["warp_latency_per_inst"],
        "A scheduler is busy when it has at least so many warps: have more warps, or shorten the waits.",
        NEIGHBORED, ""),
];

/// The page of a metric; none for one without a note, which a test refuses.
pub(super) fn page(metric: &'static Metric) -> Option<Page> {
    let note = NOTES.iter().find(|note| note.names.contains(&metric.name))?;
    let mut elsewhere = Vec::new();
    let mut other = |tool, name: &str| elsewhere.push(OtherName { tool, name: name.to_owned() });
    if !metric.ours {
        other("nvprof", metric.name);
    }
    metric.ncu.into_iter().for_each(|name| other("Nsight Compute", name));
    if let (Group::Stalls, Some(name)) = (metric.group, stall_metrics(metric.name)) {
        other("Nsight Compute", name);
    }
    if !note.gpgpu_sim.is_empty() {
        other("GPGPU-Sim", note.gpgpu_sim);
    }
    let example = match note.program {
        "" => Example::None("No preset machine follows stores to DRAM, and a figure that is not modelled is left out."),
        program => Example::Run { program, options: options(program) },
    };
    Some(Page {
        name: metric.name,
        subject: Subject::Metric(metric),
        aliases: metric.ncu.into_iter().chain(metric.aliases.iter().copied()).collect(),
        meaning: metric.meaning.to_owned(),
        formula: metric.formula.to_owned(),
        elsewhere,
        remedy: note.remedy,
        example,
    })
}

/// The reductions of 2^24 elements are cut down to what shows the same in a moment.
fn options(program: &str) -> &'static str {
    if program.starts_with("programs/reduce") { "--set n=65536" } else { "" }
}

/// Nsight's metrics that add up to an nvprof reason, after NVIDIA's table; those divide by all cycles of a warp, the
/// issuing ones too.
fn stall_metrics(name: &str) -> Option<&'static str> {
    Some(match name {
        "stall_exec_dependency" => {
            "smsp__warp_issue_stalled_{short_scoreboard,wait}_per_warp_active.pct, of all warp cycles"
        }
        "stall_memory_dependency" => "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct, of all warp cycles",
        "stall_sync" => "smsp__warp_issue_stalled_{barrier,membar}_per_warp_active.pct, of all warp cycles",
        "stall_pipe_busy" => {
            "smsp__warp_issue_stalled_{math_pipe,mio}_throttle_per_warp_active.pct, of all warp cycles"
        }
        "stall_memory_throttle" => {
            "smsp__warp_issue_stalled_{lg_throttle,drain}_per_warp_active.pct, of all warp cycles"
        }
        "stall_not_selected" => "smsp__warp_issue_stalled_not_selected_per_warp_active.pct, of all warp cycles",
        "stall_sleeping" => "smsp__warp_issue_stalled_sleeping_per_warp_active.pct, of all warp cycles",
        "stall_inst_fetch" => "smsp__warp_issue_stalled_no_instruction_per_warp_active.pct, of all warp cycles",
        "stall_constant_memory_dependency" => {
            "smsp__warp_issue_stalled_imc_miss_per_warp_active.pct, of all warp cycles"
        }
        "stall_other" => "smsp__warp_issue_stalled_{branch_resolving,misc}_per_warp_active.pct, of all warp cycles",
        _ => return None,
    })
}
