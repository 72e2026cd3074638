//! Tables of the whole run: active lanes, branches, stalls, memory, launch and machine.

use maud::{Markup, html};

use super::{Scope, heading, shape, shown};
use crate::numbers::{grouped, percent, real, tenths_of_percent};
use crate::{MemoryRow, Run};

/// Makes a table of names, counts and shares as bars.
fn bars(caption: &str, head: [&str; 2], rows: &[(String, u64)]) -> Markup {
    let counts: Vec<u64> = rows.iter().map(|row| row.1).collect();
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let shares = tenths_of_percent(&counts);
    html! {
        table.bars {
            caption { (caption) }
            thead { tr { th scope="col" { (head[0]) } th.n scope="col" { (head[1]) } th scope="col" { "share" } } }
            tbody {
                @for ((name, count), share) in rows.iter().zip(shares) {
                    tr {
                        th scope="row" { (name) }
                        td.n { (grouped(*count)) }
                        td.bar style={ "--v:" (u128::from(*count) * 100 / u128::from(most)) "%" } { (percent(share)) }
                    }
                }
            }
        }
    }
}

/// Makes the histogram of active lanes.
pub(super) fn lanes(run: &Run, level: u8) -> Markup {
    let rows: Vec<(String, u64)> = run
        .histogram
        .iter()
        .enumerate()
        .filter(|(_, n)| **n > 0)
        .map(|(i, &n)| (format!("W{i}"), n))
        .collect();
    html! {
        section {
            (heading(level, "Active lanes", Some(Scope::WholeRun)))
            @if rows.is_empty() { p { "No instruction issued." } } @else {
                (bars("Warp instructions by number of active lanes", ["lanes", "instructions"], &rows))
            }
        }
    }
}

/// Makes the table of conditional branches.
pub(super) fn branches(run: &Run, level: u8) -> Markup {
    html! {
        section {
            (heading(level, "Branches", Some(Scope::WholeRun)))
            @if run.branches.is_empty() && run.predicated.is_empty() { p { "No conditional branch." } }
            @if let Some(note) = run.predication_note() { p { (note) } (predicated(run)) }
            @if !run.branches.is_empty() {
                div.scroll tabindex="0" role="region" aria-label="Branches" {
                    table {
                        thead { tr {
                            th.n scope="col" { "line" } th scope="col" { "branch" } th.n scope="col" { "executed" }
                            th.n scope="col" { "divergent" } th.n scope="col" { "active lanes" }
                            th.n scope="col" { "taken lanes" } th.n scope="col" { "reconverges at line" }
                        } }
                        tbody {
                            @for b in &run.branches {
                                tr {
                                    td.n { (b.line) }
                                    td { code { (shown(&b.text)) } }
                                    td.n { (grouped(b.executed)) }
                                    td.n { (grouped(b.divergent)) }
                                    td.n { (b.average_active_lanes.map(real).unwrap_or_default()) }
                                    td.n { (b.taken_lanes_average.map(real).unwrap_or_default()) }
                                    td.n { (b.reconverges_at.map(|line| line.to_string()).unwrap_or_default()) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Makes the table of predicated branches.
fn predicated(run: &Run) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Predicated branches" {
            table {
                thead { tr {
                    th.n scope="col" { "line" } th scope="col" { "predicated branch" } th.n scope="col" { "reached" }
                    th.n scope="col" title="times a branch would have diverged" { "mixed" }
                    th.n scope="col" { "active lanes" } th.n scope="col" { "lanes that would take it" }
                    th.n scope="col" { "reconverges at line" }
                } }
                tbody {
                    @for b in &run.predicated {
                        tr {
                            td.n { (b.line) }
                            td { code { (shown(&b.text)) } }
                            td.n { (grouped(b.executed)) }
                            td.n { (grouped(b.mixed)) }
                            td.n { (b.average_active_lanes.map(real).unwrap_or_default()) }
                            td.n { (b.taken_lanes_average.map(real).unwrap_or_default()) }
                            td.n { (b.reconverges_at.map(|line| line.to_string()).unwrap_or_default()) }
                        }
                    }
                }
            }
        }
    }
}

/// Makes the tables of warp states and issue slots.
pub(super) fn waits(run: &Run, level: u8) -> Markup {
    let named = |name: &str, n: u64| (name.to_owned(), n);
    let mut stalls: Vec<_> =
        run.stalls.0.iter().filter(|(_, n)| *n > 0).map(|(name, n)| named(name, *n)).collect();
    stalls.sort_by_key(|row| std::cmp::Reverse(row.1));
    let mut slots: Vec<_> =
        run.slots.lost.0.iter().filter(|(_, n)| *n > 0).map(|(name, n)| named(name, *n)).collect();
    slots.sort_by_key(|row| std::cmp::Reverse(row.1));
    slots.insert(0, named("issued", run.slots.used));
    html! {
        section {
            (heading(level, "Stalls and issue slots", Some(Scope::WholeRun)))
            div.pair {
                @if stalls.is_empty() { p { "No warp stalled." } } @else {
                    (bars("Stall cycles of resident warps, by warp state", ["warp state", "warp cycles"], &stalls))
                }
                (bars("Issue slots, by use", ["slot", "slots"], &slots))
            }
        }
    }
}

/// Makes the table of memory accesses.
pub(super) fn memory(run: &Run, level: u8) -> Markup {
    const HEAD: [&str; 5] = ["requests", "requested bytes", "sectors", "lines", "transactions"];
    let caches: &[&str] = if run.is_timed() { &["in L1", "in L2", "from DRAM"] } else { &[] };
    let head = || HEAD.iter().chain(caches).chain(&["wavefronts", "ideal"]);
    let figures = |m: &MemoryRow| {
        let first = [m.requests, m.requested_bytes, m.sectors, m.lines, m.transactions];
        let hits = m.hits.map(|hits| [hits.l1_hits, hits.l2_hits, hits.dram_sectors]);
        let last = [m.wavefronts, m.ideal_wavefronts];
        first.into_iter().chain(hits.into_iter().flatten()).chain(last).collect::<Vec<u64>>()
    };
    html! {
        section {
            (heading(level, "Memory", Some(Scope::WholeRun)))
            @if run.memory.is_empty() { p { "No memory access." } } @else {
                div.scroll tabindex="0" role="region" aria-label="Memory" {
                    table {
                        thead { tr {
                            th scope="col" { "access" } @for name in head() { th.n scope="col" { (name) } }
                        } }
                        tbody {
                            @for m in &run.memory {
                                tr {
                                    th scope="row" { (m.memory) " " (m.way) }
                                    @for n in figures(m) { td.n { (grouped(n)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Makes the tables of launch and machine.
pub(super) fn launch_and_machine(run: &Run, level: u8) -> Markup {
    let (launch, machine) = (&run.launch, &run.machine_facts);
    let bytes = |n: u32| format!("{} bytes", grouped(n.into()));
    let count = |n: u32| grouped(n.into());
    let launched: Vec<(&str, String)> = vec![
        ("kernel", shown(&run.kernel)),
        ("grid", shape(run.grid)),
        ("block", shape(run.block)),
        ("warps", grouped(run.warps)),
        ("registers per thread", count(launch.registers_per_thread)),
        ("static shared memory per block", bytes(launch.static_shared)),
        ("dynamic shared memory per block", bytes(launch.dynamic_shared)),
        ("resident blocks per SM", count(launch.blocks_per_sm)),
        ("limited by", launch.limited_by.clone()),
    ];
    let facts: Vec<(&str, String)> = vec![
        ("machine", shown(&machine.name)),
        ("mode", run.mode.clone()),
        ("SMs", count(machine.sms)),
        ("schedulers per SM", count(machine.schedulers_per_sm)),
        ("maximum warps per SM", count(machine.max_warps_per_sm)),
        ("lanes per warp", count(machine.warp_size)),
        ("clock", format!("{} MHz", grouped(machine.clock_hz / 1_000_000))),
        ("shared-memory banks", count(machine.shared_banks)),
    ];
    let constants = run.constants.0.iter().map(|(name, value)| (shown(name), value.to_string()));
    html! {
        section {
            (heading(level, "Launch and machine", None))
            div.pair {
                (names("Launch", launched.into_iter().filter(|(_, v)| !v.is_empty())))
                (names("Machine", facts.into_iter()))
                @if !run.constants.0.is_empty() { (names("Constants", constants)) }
            }
        }
    }
}

fn names(caption: &str, rows: impl Iterator<Item = (impl AsRef<str>, String)>) -> Markup {
    html! {
        table {
            caption { (caption) }
            tbody { @for (name, value) in rows { tr { th scope="row" { (name.as_ref()) } td { (value) } } } }
        }
    }
}
