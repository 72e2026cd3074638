//! The sections of the report, in reading order.
//! Result, time, divergence, memory, stalls.

use super::layout::{Page, Paint, bar};
use crate::metrics::{Value, find, stall_reason};
use crate::numbers::{duration, grouped, percent, real, tenths_of_percent};
use crate::run::{Ending, Run};

pub(super) fn title(page: &mut Page, run: &Run) {
    let machine = match run.machine_facts.sms {
        1 => format!("{} (1 SM)", run.machine),
        sms => format!("{} ({sms} SMs)", run.machine),
    };
    page.paragraph(
        &format!("{}: {}, {} on {machine}", run.program, run.kernel, run.mode),
        "",
        "  ",
    );
    let mut line = format!(
        "grid {} x block {}, {} {}",
        shape(run.grid),
        shape(run.block),
        grouped(run.warps),
        if run.warps == 1 { "warp" } else { "warps" }
    );
    for (i, (name, value)) in run.constants.0.iter().enumerate() {
        let sign = if *value < 0 { "-" } else { "" };
        line.push_str(if i == 0 { "; " } else { ", " });
        line.push_str(&format!("{name} = {sign}{}", grouped(value.unsigned_abs())));
    }
    page.paragraph(&line, "", "  ");
    for note in &run.notes {
        page.paragraph(note, "note: ", "  ");
    }
}

/// Formats dimensions as `32768`, `64x64` or `8x8x8`.
/// Trailing dimensions of 1 are left out.
fn shape(dim: [u32; 3]) -> String {
    let used = 3 - dim.iter().rev().take_while(|&&d| d == 1).count();
    let parts: Vec<String> = dim.iter().take(used.max(1)).map(u32::to_string).collect();
    parts.join("x")
}

/// Says how a run ended that did not finish, and why.
pub(super) fn verdict(page: &mut Page, run: &Run) {
    if let Some(ending) = run.ending() {
        page.paragraph(&ending, "  ", "    ");
    }
    if let Some(verdict) = &run.verdict {
        for group in &verdict.lanes {
            let place = format!(
                "block {} warp {}, {} ({}): {}; line {}: {}",
                group.block,
                group.warp,
                group.named(),
                group.mask,
                group.state,
                group.line,
                group.text
            );
            page.paragraph(&place, "    ", "      ");
        }
        if let Some(help) = &verdict.help {
            page.paragraph(help, "  help: ", "    ");
        }
    }
}

pub(super) fn result(page: &mut Page, run: &Run) {
    page.heading("Result");
    verdict(page, run);
    for expectation in &run.expectations {
        let mut text = expectation.text.clone();
        if !expectation.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&expectation.detail);
        }
        let (word, paint) =
            if expectation.passed { ("ok", Paint::Good) } else { ("FAILED", Paint::Bad) };
        page.status(word, paint, &text);
    }
    if run.finish == Ending::Ok && run.expectations.is_empty() {
        page.line("  finished; the program has no expectations");
    }
}

pub(super) fn time(page: &mut Page, run: &Run) {
    if !run.is_timed() {
        return;
    }
    page.heading("Time");
    let cycles = run.cycles;
    let mut line = format!("{} cycles", grouped(cycles));
    let clock = run.machine_facts.clock_hz;
    if clock > 0 {
        let mhz = grouped(clock / 1_000_000);
        line.push_str(&format!(" = {} at {mhz} MHz", duration(cycles as f64 / clock as f64)));
    }
    let launch = &run.launch;
    if launch.blocks_per_sm > 0 {
        line.push_str(&format!("; up to {} blocks per SM", launch.blocks_per_sm));
        if !launch.limited_by.is_empty() {
            line.push_str(&format!(" (limited by {})", launch.limited_by));
        }
        let shared = u64::from(launch.static_shared) + u64::from(launch.dynamic_shared);
        line.push_str(&format!(", {} registers per thread", launch.registers_per_thread));
        if shared > 0 {
            line.push_str(&format!(", {} bytes of shared memory per block", grouped(shared)));
        }
    }
    page.paragraph(&line, "  ", "  ");
    let launch_cycles = run.metric("launch_cycles").map_or(0.0, Value::as_f64);
    if clock > 0 && launch_cycles > cycles as f64 {
        let line = format!(
            "The launch takes {} cycles = {} with its overhead; rates per second and sm_efficiency \
             divide by this.",
            grouped(launch_cycles as u64),
            duration(launch_cycles / clock as f64)
        );
        page.paragraph(&line, "  ", "  ");
    }
    page.metrics(run, &["ipc", "achieved_occupancy", "sm_efficiency", "issue_slot_utilization"]);
}

pub(super) fn instructions(page: &mut Page, run: &Run) {
    page.heading("Warp instructions");
    let some = |name| run.metric(name).is_some_and(|v| v.as_f64() > 0.0);
    let mut names = vec!["inst_executed", "inst_per_warp"];
    if run.metric("ptx_inst_executed") != run.metric("inst_executed") {
        names.push("ptx_inst_executed");
    }
    names.extend(["join_instructions", "barriers"].into_iter().filter(|&name| some(name)));
    page.metrics(run, &names);
}

pub(super) fn divergence(page: &mut Page, run: &Run) {
    page.heading("Divergence");
    page.metrics(
        run,
        &[
            // Only machine code has the counts with unconditional branches.
            if run.machine_code.is_some() { "branch" } else { "conditional_branches" },
            "divergent_branch",
            "branch_efficiency",
            "warp_execution_efficiency",
            "warp_nonpred_execution_efficiency",
            "average_active_lanes",
        ],
    );
    let issued: u64 = run.histogram.iter().sum();
    if issued == 0 {
        return;
    }
    page.line("");
    page.paragraph("Warp instructions by number of active lanes (W32: all 32):", "  ", "  ");
    let shares = tenths_of_percent(&run.histogram);
    let counts: Vec<String> = run.histogram.iter().map(|&n| grouped(n)).collect();
    let digits = counts.iter().map(String::len).max().unwrap_or(0);
    let most = run.histogram.iter().copied().max().unwrap_or(0);
    let room = page.width().saturating_sub(2 + 3 + 2 + digits + 2 + 7 + 2).min(50);
    for (lanes, &n) in run.histogram.iter().enumerate().filter(|&(_, &n)| n > 0) {
        let name = format!("W{lanes}");
        let share = percent(shares[lanes]);
        page.line(&format!(
            "  {name:<3}  {:>digits$}  {share:>7}  {}",
            counts[lanes],
            bar(n, most, room)
        ));
    }
}

pub(super) fn branches(page: &mut Page, run: &Run) {
    if run.branches.is_empty() && run.predicated.is_empty() {
        return;
    }
    page.heading("Branches");
    let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), real);
    let line_cell =
        |line: Option<u32>| line.map_or_else(|| "-".to_owned(), |line| line.to_string());
    let share =
        |part: u64, all: u64| percent((part as f64 / all.max(1) as f64 * 1000.0).round() as u32);
    let row = |line: u32,
               text: &str,
               (executed, diverged): (u64, u64),
               lanes: [Option<f64>; 2],
               joined: Option<u32>| {
        let [active, taken] = lanes.map(cell);
        let (count, times) = (grouped(executed), grouped(diverged));
        vec![
            line.to_string(),
            text.to_owned(),
            count,
            times,
            share(diverged, executed),
            active,
            taken,
            line_cell(joined),
        ]
    };
    let branches = run.branches.iter().map(|b| {
        let lanes = [b.average_active_lanes, b.taken_lanes_average];
        row(b.line, &b.text, (b.executed, b.divergent), lanes, b.reconverges_at)
    });
    let header = [
        "line",
        "branch",
        "executed",
        "divergent",
        "share",
        "lanes active",
        "lanes taken",
        "reconv. at",
    ];
    if !run.branches.is_empty() {
        page.table(&header, branches.collect(), &[1], Some(1));
    }
    let predicated = run.predicated.iter().map(|b| {
        let lanes = [b.average_active_lanes, b.taken_lanes_average];
        row(b.line, &b.text, (b.executed, b.mixed), lanes, b.reconverges_at)
    });
    if let Some(note) = run.predication_note() {
        if !run.branches.is_empty() {
            page.line("");
        }
        let header = [
            "line",
            "predicated branch",
            "reached",
            "mixed",
            "share",
            "lanes active",
            "lanes taken",
            "reconv. at",
        ];
        page.table(&header, predicated.collect(), &[1], Some(1));
        page.paragraph(
            "mixed: times a branch would have diverged (some lanes take it, some do not)",
            "  ",
            "  ",
        );
        page.paragraph(&note, "  ", "  ");
    }
}

pub(super) fn memory(page: &mut Page, run: &Run) {
    if run.memory.is_empty() {
        return;
    }
    page.heading("Memory");
    let dash = || "-".to_owned();
    let ratio = |a: u64, b: u64| if b == 0 { "-".to_owned() } else { real(a as f64 / b as f64) };
    let share = |a: u64, b: u64| {
        if b == 0 { "-".to_owned() } else { format!("{:.1} %", a as f64 * 100.0 / b as f64) }
    };
    let rows: Vec<Vec<String>> = run
        .memory
        .iter()
        .map(|m| {
            let name = format!("{} {}", m.memory, m.way);
            if m.memory == "shared" {
                let pieces = [grouped(m.wavefronts), ratio(m.wavefronts, m.requests)];
                let [wavefronts, each] = pieces;
                return vec![
                    name,
                    grouped(m.requests),
                    grouped(m.requested_bytes),
                    wavefronts,
                    each,
                    dash(),
                    dash(),
                ];
            }
            let hits = m.hits.filter(|_| m.way == "load");
            vec![
                name,
                grouped(m.requests),
                grouped(m.requested_bytes),
                grouped(m.sectors),
                ratio(m.sectors, m.requests),
                hits.map_or_else(dash, |hits| share(hits.l1_hits, m.sectors)),
                hits.map_or_else(dash, |hits| share(hits.l2_hits, hits.l2_sectors())),
            ]
        })
        .collect();
    let header =
        ["", "requests", "requested bytes", "sectors", "per request", "L1 hits", "L2 hits"];
    let columns = if run.is_timed() { header.len() } else { header.len() - 2 };
    let rows = rows.into_iter().map(|row| row.into_iter().take(columns).collect()).collect();
    page.table(&header[..columns], rows, &[0], None);
    page.paragraph(
        "A sector is 32 bytes. For shared memory, the sectors column counts wavefronts (passes \
         over the banks).",
        "  ",
        "  ",
    );
    page.line("");
    let names = [
        "gld_requests",
        "gld_transactions",
        "gld_transactions_per_request",
        "gld_efficiency",
        "gld_throughput",
        "gst_requests",
        "gst_transactions",
        "gst_efficiency",
        "gst_throughput",
        "l1_hit_sectors",
        "global_hit_rate",
        "dram_read_bytes",
        "dram_write_bytes",
        "atomic_transactions",
        "shared_load_transactions_per_request",
        "shared_ld_bank_conflict",
        "shared_store_transactions_per_request",
        "shared_st_bank_conflict",
        "shared_atomic_bank_conflict",
        "shared_efficiency",
        "local_load_transactions",
        "local_store_transactions",
    ];
    let used = |prefix: &str| {
        run.memory.iter().any(|m| format!("{} {}", m.memory, m.way).starts_with(prefix))
    };
    let wanted = |name: &&str| match *name {
        n if n.starts_with("gld") || n.starts_with("l1") => used("global load"),
        n if n.starts_with("gst") => used("global store"),
        n if n.starts_with("atomic") => used("global atomic"),
        n if n.starts_with("shared_atomic") => used("shared atomic"),
        n if n.starts_with("shared") => used("shared"),
        n if n.starts_with("local") => used("local"),
        _ => used("global") || used("local"),
    };
    let names: Vec<&str> = names.into_iter().filter(wanted).collect();
    page.metrics(run, &names);
}

pub(super) fn stalls(page: &mut Page, run: &Run) {
    if !run.is_timed() {
        return;
    }
    page.heading("Warp states (cycles in which resident warps did not issue)");
    let cycles: Vec<u64> = run.stalls.0.iter().map(|&(_, cycles)| cycles).collect();
    let total: u64 = cycles.iter().sum();
    if total == 0 {
        page.line("  no warp stalled");
        return;
    }
    let shares = tenths_of_percent(&cycles);
    let mut states: Vec<_> =
        run.stalls.0.iter().zip(shares).filter(|((_, cycles), _)| *cycles > 0).collect();
    states.sort_by_key(|((_, cycles), _)| std::cmp::Reverse(*cycles));
    let per_issue = |cycles: u64| real(cycles as f64 / run.slots.used.max(1) as f64);
    let row = |name: &str, cycles: u64, share: u32, reason: &str| {
        vec![name.to_owned(), grouped(cycles), percent(share), per_issue(cycles), reason.to_owned()]
    };
    let mut rows: Vec<_> =
        states.iter().map(|((n, c), share)| row(n, *c, *share, stall_reason(n))).collect();
    rows.push(row("all", total, 1000, ""));
    page.table(
        &["warp state (Nsight)", "warp cycles", "share", "per issue", "nvprof reason"],
        rows,
        &[0, 4],
        None,
    );
    page.paragraph(
        "per issue: smsp__average_warps_issue_stalled_<state>_per_issue_active.ratio",
        "  ",
        "    ",
    );
}

pub(super) fn slots(page: &mut Page, run: &Run) {
    if !run.is_timed() {
        return;
    }
    page.heading("Issue slots (one per scheduler and cycle)");
    let slots = &run.slots;
    let program = slots.used.saturating_sub(slots.used_by_joins);
    let mut parts =
        vec![("issued".to_owned(), program), ("issued, joins".to_owned(), slots.used_by_joins)];
    let mut lost: Vec<_> = slots.lost.0.clone();
    lost.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    parts.extend(lost.into_iter().map(|(name, n)| {
        (
            format!(
                "lost: {}",
                name.replace("no_warp", "no warp").replace("launch", "warps not launched")
            ),
            n,
        )
    }));
    parts.retain(|&(_, n)| n > 0);
    let counts: Vec<u64> = parts.iter().map(|&(_, n)| n).collect();
    let room = page.width().saturating_sub(60).clamp(8, 40);
    let mut rows: Vec<Vec<String>> = parts
        .iter()
        .zip(tenths_of_percent(&counts))
        .map(|((name, n), share)| {
            vec![name.clone(), grouped(*n), percent(share), bar(*n, slots.total, room)]
        })
        .collect();
    rows.push(vec!["all".to_owned(), grouped(slots.total), percent(1000), String::new()]);
    page.table(&["", "slots", "share", ""], rows, &[0, 3], None);
}

/// Points to `simt-sim explain` for the names above, first the one that matters most.
pub(super) fn further(page: &mut Page, run: &Run) {
    let worst =
        run.stalls.0.iter().max_by_key(|&&(_, cycles)| cycles).filter(|&&(_, cycles)| cycles > 0);
    let name = match (run.finish, worst) {
        (Ending::Ok, Some((state, _))) => state,
        (finish, _) => finish.name(),
    };
    page.line("");
    page.line(&format!("Run `simt-sim explain {name}` for details; every name above has a page."));
    if !run.is_empty() {
        trust(page, run, worst.map(|(state, _)| *state));
    }
}

/// Adds the accuracy of one figure of each kind, and of the longest warp state.
fn trust(page: &mut Page, run: &Run, state: Option<&'static str>) {
    page.line("");
    page.line("Accuracy of these figures (`simt-sim explain NAME` for others):");
    let state = state.map(|state| format!("warp_state_{state}"));
    let names = ["gld_transactions", "inst_executed", "divergent_branch", "elapsed_cycles"];
    let shown = names.into_iter().chain(state.as_deref()).filter_map(find);
    let rows = shown.filter(|metric| run.metrics.get(&metric.name).is_some());
    let rows = rows.map(|metric| vec![metric.name.to_owned(), run.trust_of(metric)]);
    page.table(&["", ""], rows.collect(), &[0, 1], None);
}
