//! Additions to the table of metrics: advice, an example program, GPGPU-Sim's name.

use super::{Example, OtherName, Page, Subject};
use crate::metrics::{Group, Metric};

/// Advice and example shared by several metrics.
struct Note {
    /// First names of the metrics.
    names: &'static [&'static str],
    /// Advice.
    remedy: &'static str,
    /// Example program; empty if no preset machine gives the metrics a value.
    program: &'static str,
    /// GPGPU-Sim's name with the differences in counting; empty if it has none.
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
const MACHINE: &str = "programs/sass/shared_doubling.sass";
const LOCALS: &str = "programs/cuda/call_struct.ptx";

#[rustfmt::skip] // per note: names; remedy; program; GPGPU-Sim
const NOTES: &[Note] = &[
    note(&["elapsed_cycles", "launch_cycles", "duration"],
        "Compare it between versions of a program on one machine, then look at the warp states for \
         the reason. The fixed cost of a launch is in launch_cycles and duration, not in \
         elapsed_cycles.",
        NEIGHBORED, "gpu_sim_cycle"),
    note(&["active_cycles"],
        "Divide other counts by it instead of elapsed_cycles if some SMs have no work.",
        NEIGHBORED, ""),
    note(&["sm_efficiency"],
        "Below 100, some SMs finished early or got no block. Launch more blocks, or blocks of \
         equal length.",
        ADD, ""),
    note(&["ipc", "issued_ipc"],
        "The maximum is the number of schedulers per SM. Below that, the report's issue-slot table \
         shows the lost slots by reason.",
        NEIGHBORED, "gpu_ipc, which counts lanes instead of warps, over the whole GPU"),
    note(&["achieved_occupancy", "active_warps"],
        "If low, use smaller blocks, fewer registers or less shared memory per thread; the report \
         names the limit. High occupancy alone does not make a kernel fast.",
        NEIGHBORED, "gpu_occupancy"),
    note(&["warps_launched", "threads_launched", "sm_cta_launched"],
        "It follows from grid and block. A block size that is not a multiple of the warp size \
         wastes lanes of the last warp.",
        ADD, "gpu_tot_issued_cta, for blocks"),
    note(&["inst_executed", "inst_per_warp", "ptx_inst_executed"],
        "Divergence raises it because a warp executes both sides. Let whole warps skip work, \
         unroll loops, and compare two versions with `simt-sim compare`.",
        NEIGHBORED, "gpu_sim_insn, which counts every active lane: compare it with \
                     thread_inst_executed"),
    note(&["join_instructions"],
        "It is the cost of independent thread scheduling: fewer divergent branches need fewer \
         joins.",
        NEIGHBORED, ""),
    note(&["inst_issued", "issue_slots", "issue_slot_utilization"],
        "If low, too few warps are ready to hide the stalls. Look at the warp states.",
        NEIGHBORED, "the Warp Occupancy Distribution's W1 to W32, summed"),
    note(&["issue_slots_lost"],
        "The report's issue-slot table shows the lost slots by warp state.",
        NEIGHBORED, "the Warp Occupancy Distribution's Stall, W0_Idle and W0_Scoreboard, summed"),
    note(&["barriers"],
        "Each barrier costs the wait for the slowest warp: see `simt-sim explain barrier`.",
        NEIGHBORED, ""),
    note(&["conditional_branches"],
        "A branch costs issue slots even if no warp diverges: unroll loops, or let a short if be \
         predicated.",
        NEIGHBORED, ""),
    note(&["branch", "inst_executed_op_branch"],
        "Fewer branches: unroll loops, or let short arms be predicated. A count far above \
         conditional_branches shows calls or slow paths of division and square root.",
        MACHINE, ""),
    note(&["inst_executed_shared_loads", "inst_executed_shared_stores"],
        "Keep values in registers, or exchange them with shuffles. Predicated accesses count even \
         if no lane executes them.",
        MACHINE, ""),
    note(&["divergent_branch", "branch_efficiency"],
        "Make neighbouring lanes take the same side: branch by warp, by block, or on sorted data. \
         The report's branch table gives the lines. Predicated code counts no branch, so 0 \
         divergent branches or 100 % do not mean that no lane idles: look at \
         average_pred_on_lanes. Nsight Compute reports 0 % without any branch, too.",
        NEIGHBORED, ""),
    note(&["thread_inst_executed", "not_predicated_off_thread_inst_executed"],
        "It is the work done by lanes; only fewer instructions reduce it.",
        NEIGHBORED, "gpu_sim_insn"),
    note(&["warp_execution_efficiency", "warp_nonpred_execution_efficiency", "average_active_lanes", "average_pred_on_lanes"],
        "If low, lanes idle while others of their warp run. `simt-sim timeline` shows when, \
         `simt-sim run --annotate` at which lines.",
        NEIGHBORED, "the Warp Occupancy Distribution W1 to W32, of which it is the mean"),
    note(&["gld_requests", "gst_requests"],
        "Use wider accesses (.v2, .v4) for fewer requests.",
        ADD, "gpgpu_n_load_insn and gpgpu_n_store_insn, which count lanes and all memories"),
    note(&["gld_transactions", "gld_transactions_per_request", "gld_efficiency", "gld_segments"],
        "Make neighbouring lanes read neighbouring addresses: 32 lanes that read 32 words need 4 \
         sectors. `--set stride=8` shows the opposite.",
        STRIDED, "L1D_total_cache_accesses, which counts lines or sectors as the cache is \
                  configured"),
    note(&["gld_throughput", "gld_requested_throughput"],
        "The gap between the two is data that was moved but not requested. Compare with the \
         machine's L1 bandwidth, not its DRAM bandwidth; for that, use dram_read_throughput.",
        ADD, ""),
    note(&["gst_transactions", "gst_transactions_per_request", "gst_efficiency", "gst_segments"],
        "Make neighbouring lanes write neighbouring addresses.",
        NEIGHBORED, "gpgpu_n_mem_write_global, which counts requests to L2"),
    note(&["gst_throughput", "gst_requested_throughput"],
        "The gap between the two is data that was moved but not requested.",
        NEIGHBORED, ""),
    note(&["global_atomic_requests", "atomic_transactions", "atomic_transactions_per_request"],
        "Combine values within a warp (shuffles, redux) or a block (shared memory) first, and let \
         one lane execute the atomic.",
        TICKETS, ""),
    note(&["l1_hit_sectors", "global_hit_rate"],
        "A low rate is normal if every byte is used once. Raise it by reusing data while it is in \
         L1.",
        LESS, "1 - L1D_total_cache_miss_rate"),
    note(&["l2_read_transactions", "l2_global_load_bytes", "l2_write_transactions", "l2_crossed_sectors", "l2_tex_read_hit_rate"],
        "Keep reused data in shared memory or registers; make neighbouring blocks work on \
         neighbouring data.",
        ADD, "L2_total_cache_accesses and 1 - L2_total_cache_miss_rate"),
    note(&["l2_atomic_transactions"],
        "Combine values within a warp or block first.",
        TICKETS, ""),
    note(&["dram_read_bytes", "dram_read_throughput"],
        "Near the machine's bandwidth, only fewer bytes help. Far below it, keep more loads in \
         flight: several elements per thread.",
        ADD, "total_dram_reads, in bursts"),
    note(&["dram_write_bytes", "dram_write_throughput"],
        "Write each byte once, soon after reading it: data rewritten while it is in L2 reaches \
         DRAM once.",
        ADD, "total_dram_writes, in bursts"),
    note(&["shared_load_requests", "shared_store_requests", "shared_load_transactions", "shared_store_transactions"],
        "Use shuffles within a warp, and wider accesses.",
        CONFLICTS, "gpgpu_n_shmem_insn, which counts lanes"),
    note(&["shared_load_transactions_per_request", "shared_store_transactions_per_request", "shared_ld_bank_conflict",
           "shared_st_bank_conflict", "shared_efficiency", "shared_replay_overhead"],
        "Lanes that access different words of one bank are serialized: pad rows by one word, or \
         make neighbouring lanes access neighbouring words.",
        CONFLICTS, "gpgpu_n_shmem_bkconflict, in cycles"),
    note(&["bulk_read_bytes", "bulk_write_bytes"],
        "Copy whole sectors, from addresses that are multiples of 32.",
        "programs/sass/matmul_async.sass", ""),
    note(&["shared_copy_transactions"],
        "Copy 16 bytes at a time, to neighbouring addresses.",
        "programs/sass/matmul_async.sass", ""),
    note(&["shared_atomic_transactions", "shared_atomic_bank_conflict"],
        "Lanes that update words of one bank are served one after another, on one word, too. Give \
         each warp or lane its own counter and add the counters at the end.",
        "programs/small/shared_atomic.ir", ""),
    note(&["local_load_requests", "local_load_transactions", "local_load_transactions_per_request", "local_store_requests",
           "local_store_transactions", "local_store_transactions_per_request", "local_hit_rate"],
        "Local memory holds stack frames, spilled registers and arrays with computed indices. \
         Unroll loops so that indices are constants, and avoid recursion.",
        LOCALS, "gpgpu_n_mem_read_local and gpgpu_n_mem_write_local, which count requests to L2"),
    note(&["tex_cache_requests", "tex_cache_transactions", "tex_cache_transactions_per_request", "tex_cache_hit_rate"],
        "Let the threads of a warp fetch texels that lie close together in two dimensions.",
        "programs/cuda/convolve_texture.ptx", ""),
    note(&["surface_load_requests", "surface_load_transactions", "surface_store_requests", "surface_store_transactions",
           "surface_reduction_requests"],
        "Let the threads of a warp access elements that lie close together.",
        "programs/cuda/convolve_texture.ptx", ""),
    note(&["stall_exec_dependency", "stall_memory_dependency", "stall_sync", "stall_pipe_busy", "stall_memory_throttle",
           "stall_texture", "stall_not_selected", "stall_sleeping", "stall_other", "stall_inst_fetch", "stall_constant_memory_dependency"],
        "Start with the largest share, and only if issue slots are lost; the pages of its warp \
         states have advice.",
        NEIGHBORED, ""),
    note(&["warp_state_selected", "warp_state_wait", "warp_state_short_scoreboard", "warp_state_long_scoreboard",
           "warp_state_barrier", "warp_state_membar", "warp_state_branch_resolving", "warp_state_math_pipe_throttle",
           "warp_state_mio_throttle", "warp_state_lg_throttle", "warp_state_tex_throttle", "warp_state_not_selected", "warp_state_sleeping",
           "warp_state_blocked", "warp_state_drain", "warp_state_no_instruction", "warp_state_imc_miss",
           "warp_state_dispatch_stall"],
        "Start with the largest; the page of the state itself (the name without warp_state_) has \
         advice.",
        NEIGHBORED, ""),
    note(&["warp_latency_per_inst"],
        "A scheduler is busy if it has at least this many warps: use more warps, or shorten the \
         waits.",
        NEIGHBORED, ""),
];

/// Makes the page of a metric; `None` for one without a note, which a test refuses.
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
        "" => Example::None(
            "No preset machine models stores to DRAM, and figures that are not modelled are left \
             out.",
        ),
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

/// Options that shrink the reductions of 2^24 elements to a size that runs in a moment.
fn options(program: &str) -> &'static str {
    if program.starts_with("programs/reduce") || program == MACHINE { "--set n=65536" } else { "" }
}

/// Nsight's metrics that add up to an nvprof reason, from NVIDIA's table. They divide by all cycles
/// of a warp, issuing ones included.
fn stall_metrics(name: &str) -> Option<&'static str> {
    Some(match name {
        "stall_exec_dependency" => {
            "smsp__warp_issue_stalled_{short_scoreboard,wait}_per_warp_active.pct, of all warp \
             cycles"
        }
        "stall_memory_dependency" => {
            "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct, of all warp cycles"
        }
        "stall_sync" => {
            "smsp__warp_issue_stalled_{barrier,membar}_per_warp_active.pct, of all warp cycles"
        }
        "stall_pipe_busy" => {
            "smsp__warp_issue_stalled_{math_pipe,mio}_throttle_per_warp_active.pct, of all warp \
             cycles"
        }
        "stall_memory_throttle" => {
            "smsp__warp_issue_stalled_{lg_throttle,drain}_per_warp_active.pct, of all warp cycles"
        }
        "stall_texture" => {
            "smsp__warp_issue_stalled_tex_throttle_per_warp_active.pct, of all warp cycles"
        }
        "stall_not_selected" => {
            "smsp__warp_issue_stalled_not_selected_per_warp_active.pct, of all warp cycles"
        }
        "stall_sleeping" => {
            "smsp__warp_issue_stalled_sleeping_per_warp_active.pct, of all warp cycles"
        }
        "stall_inst_fetch" => {
            "smsp__warp_issue_stalled_no_instruction_per_warp_active.pct, of all warp cycles"
        }
        "stall_constant_memory_dependency" => {
            "smsp__warp_issue_stalled_imc_miss_per_warp_active.pct, of all warp cycles"
        }
        "stall_other" => {
            "smsp__warp_issue_stalled_{branch_resolving,misc}_per_warp_active.pct, of all warp \
             cycles"
        }
        _ => return None,
    })
}
