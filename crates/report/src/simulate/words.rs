//! Steps, verdict and lanes of a run in terms of source lines.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::base_name;
use crate::{self as report, LaneGroup, MachinePlace, Origin, ReplacedBranch, StepInfo, Verdict};
use simt_core::base::LaneMask;
use simt_core::checks;
use simt_core::code::{Code, MicroOp};
use simt_core::diag::{Span, printable};
use simt_core::exec::FaultKind;
use simt_core::kernel::{ConvergenceOp, INSTRUCTION_BYTES, Inst, Kernel, Op};
use simt_core::launch::Launch;
use simt_core::machine::{FaultReport, Finish, Hang, Limit, StuckLanes};
use simt_core::ptx::{Location, Locations};
use simt_core::{Compiled, Program};

/// Describes each micro-op of a code in terms of the program's lines.
pub fn step_infos(program: &Program, code: &Code) -> Vec<StepInfo> {
    let lines = SourceLines::new(program);
    code.ops().iter().map(|op| step_info(op, code, &lines)).collect()
}

/// Explains a run that did not end `ok`.
pub fn why(program: &Program, code: &Code, finish: &Finish) -> Option<Verdict> {
    verdict(finish, code, &SourceLines::new(program), None)
}

/// Maximum number of characters shown of a line or an instruction.
///
/// Each step has a text of its own, and handwritten lines are shorter.
const MOST_TEXT: usize = 240;

/// The source text by line number.
pub(super) struct SourceLines<'a> {
    source: &'a str,
    /// Text of each line, with the byte offset after it.
    lines: Vec<(&'a str, usize)>,
    locations: Locations<'a>,
    /// Machine instructions by line; none if the text is CUDA C++.
    machine: BTreeMap<u32, MachinePlace>,
    /// Code that a compiler made of the text, if that is CUDA C++.
    compiled: Option<&'a Compiled>,
    /// File name of the text without folders.
    file: &'a str,
}

impl<'a> SourceLines<'a> {
    pub(super) fn new(program: &'a Program) -> SourceLines<'a> {
        let mut end = 0;
        let lines = program.text.split_inclusive('\n').map(|line| {
            end += line.len();
            (line, end)
        });
        SourceLines {
            source: &program.text,
            lines: lines.collect(),
            locations: program.locations(),
            machine: if program.compiled.is_none() {
                machine_places(program)
            } else {
                BTreeMap::new()
            },
            compiled: program.compiled.as_ref(),
            file: base_name(&program.name),
        }
    }

    /// Returns the text of a line (from 1) without its indentation and comment.
    ///
    /// A line of a compiler's output is preceded by its source line. The text is cut after
    /// [`MOST_TEXT`] characters.
    fn text(&self, line: u32) -> String {
        let (text, _) =
            self.lines.get((line as usize).wrapping_sub(1)).copied().unwrap_or_default();
        if self.machine.contains_key(&line) {
            return self.shown(line, Self::machine_text(text));
        }
        self.shown(line, text.split("//").next().unwrap_or_default())
    }

    /// Returns the text of an instruction that a compiler made of a CUDA line, after its place.
    fn compiled_text(&self, inst: &Inst, machine: Option<&MachinePlace>) -> Option<String> {
        let (compiled, span) = (self.compiled?, inst.compiled?);
        let (place, text) = match machine {
            Some(place) => (place.to_string(), Self::machine_text(compiled.slice(span))),
            None => (format!("ptx:{}", compiled.line(span)), compiled.slice(span)),
        };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(printable(&format!("{place} {}", cut(&text))))
    }

    /// Returns the text of an instruction: its line, unless the line has other instructions.
    fn text_of(&self, line: u32, span: Span) -> String {
        let (start, end) = (span.start as usize, span.end as usize);
        let (text, behind) =
            self.lines.get((line as usize).wrapping_sub(1)).copied().unwrap_or_default();
        let before = self.source.get(behind.saturating_sub(text.len())..start).unwrap_or_default();
        let after = self.source.get(end..behind).unwrap_or_default();
        // Stops at the next statement, so that a long line is not read once per instruction.
        let shared = before.contains(';')
            || after.trim_start().starts_with(|c: char| !matches!(c, '}' | '/'));
        if shared {
            self.shown(line, self.source.get(start..end).unwrap_or_default())
        } else {
            self.text(line)
        }
    }

    /// Formats text from a line (from 1) for display.
    fn shown(&self, line: u32, text: &str) -> String {
        let text = cut(text.trim());
        let place = self.machine.get(&line).map(ToString::to_string);
        printable(&match (self.origin(line), place) {
            // A kernel has one CUDA file; its ending says that the line is not PTX.
            (Some(from), Some(place)) => {
                let ending = from.file.rsplit('.').next().unwrap_or_default();
                format!("{ending}:{} {place} {text}", from.line)
            }
            (None, Some(place)) => format!("{place} {text}"),
            (Some(from), None) => {
                format!("{}:{}  {}", from.file, from.line, text.replace('\t', ""))
            }
            (None, None) => text.to_string(),
        })
    }

    /// Returns the text of a line with a machine instruction, without address and encoding.
    fn machine_text(line: &str) -> &str {
        let text = line.split_once("*/").map_or(line, |(_, text)| text);
        text.split_once(';').map_or(text, |(text, _)| text)
    }

    /// Returns the source line that a line (from 1) was compiled from.
    fn origin(&self, line: u32) -> Option<Location<'a>> {
        let &(_, end) = self.lines.get((line as usize).wrapping_sub(1))?;
        self.locations.at(u32::try_from(end).unwrap_or(u32::MAX).saturating_sub(1))
    }
}

/// Cuts a text after [`MOST_TEXT`] characters.
fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST_TEXT) {
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default()).into(),
        None => text.into(),
    }
}

/// Returns the places of a program's machine instructions, by line.
fn machine_places(program: &Program) -> BTreeMap<u32, MachinePlace> {
    let mut places = BTreeMap::new();
    for kernel in &program.kernels {
        for (i, inst) in kernel.insts.iter().enumerate() {
            places.extend(machine_place(kernel, i).map(|place| (inst.line, place)));
        }
    }
    places
}

/// Returns the place of an instruction of machine code; `None` for PTX.
fn machine_place(kernel: &Kernel, inst: usize) -> Option<MachinePlace> {
    let native = kernel.native.as_ref()?;
    let address = (inst as u64 * INSTRUCTION_BYTES) as u32;
    let ptx_line = native.ptx_lines.get(inst).copied().filter(|&line| line > 0);
    Some(MachinePlace { address, ptx_line })
}

pub(super) fn step_info(step: &MicroOp, code: &Code, lines: &SourceLines<'_>) -> StepInfo {
    let machine = step.source.and_then(|inst| machine_place(code.kernel(), inst as usize));
    let compiled = || lines.compiled_text(&step.inst, machine.as_ref());
    let text = match step.inst.op {
        Op::Join(op) if machine.is_none() => format!("({op})"),
        Op::Spill(spill) => format!("({spill})"),
        _ => compiled().unwrap_or_else(|| lines.text_of(step.inst.line, step.inst.span)),
    };
    StepInfo {
        source: step.source,
        line: step.inst.line,
        text,
        is_branch: step.inst.guard.is_some() && matches!(step.inst.op, Op::Branch { .. }),
        reconverge_line: step.source.and_then(|source| reconvergence_line(code.kernel(), source)),
        origin: origin(step.inst.line, lines),
        machine,
        replaces: step.source.and_then(|source| replaced(code, source, lines)),
    }
}

fn origin(line: u32, lines: &SourceLines<'_>) -> Option<Origin> {
    if lines.compiled.is_some() {
        return Some(Origin { file: lines.file.to_owned(), line });
    }
    lines.origin(line).map(|at| Origin { file: at.file.to_string(), line: at.line })
}

/// Returns the branch that the predicated instruction `source` replaces.
fn replaced(code: &Code, source: u32, lines: &SourceLines<'_>) -> Option<ReplacedBranch> {
    let at = code.predicated().binary_search_by_key(&source, |branch| branch.inst).ok()?;
    let branch = code.predicated().get(at)?;
    Some(ReplacedBranch {
        line: branch.line,
        text: lines.text(branch.line),
        reconverge_line: branch.meets,
        origin: origin(branch.line, lines),
        executes_taken: branch.executes_taken,
    })
}

/// Returns the source line at which the two sides of a branch reconverge.
fn reconvergence_line(kernel: &Kernel, inst: u32) -> Option<u32> {
    let join = kernel.flow.branch_at(inst as usize)?.reconverge?;
    let first = kernel.flow.blocks().get(join.index())?.first as usize;
    kernel.insts.get(first).map(|inst| inst.line)
}

pub(super) fn finish_word(finish: &Finish) -> report::Ending {
    match finish {
        Finish::Ok => report::Ending::Ok,
        Finish::Deadlock(_) => report::Ending::Deadlock,
        Finish::Livelock(_) => report::Ending::Livelock,
        Finish::CycleLimit(_) => report::Ending::CycleLimit,
        Finish::Fault(_) => report::Ending::Fault,
    }
}

/// Explains a run that did not end `ok`, in sentences.
///
/// `launch` names the buffer nearest to a bad address.
pub(super) fn verdict(
    finish: &Finish,
    code: &Code,
    lines: &SourceLines<'_>,
    launch: Option<&Launch>,
) -> Option<Verdict> {
    let kernel = code.kernel();
    match finish {
        Finish::Ok => None,
        Finish::Deadlock(hang) => {
            let message = match hang.warps {
                1 => format!("the one live warp on {} is deadlocked", hang.sm),
                n => format!("all {n} live warps on {} are deadlocked", hang.sm),
            };
            let (message, help) = match hang.lanes.iter().find(|stuck| !stuck.missing.is_empty()) {
                Some(at) => {
                    let line = at.lines.first().copied().unwrap_or(0);
                    let lanes = at.missing.list();
                    let (why, help) = if at.aligned {
                        (
                            format!("lanes {lanes} do not come to the barrier after line {line}"),
                            "move the barrier out of the branch so that all threads of the block \
                             reach it",
                        )
                    } else {
                        (
                            format!(
                                "the mask on line {line} names lanes {lanes}, which do not reach it"
                            ),
                            "name only lanes that reach it: compute the mask before the branch \
                             with `__ballot_sync`",
                        )
                    };
                    (format!("{message}: {why}"), help)
                }
                None => {
                    (message, "let every lane that a barrier or join waits for reach it or exit")
                }
            };
            Some(Verdict { message, lanes: stuck(hang, code, lines), help: Some(help.to_string()) })
        }
        Finish::Livelock(hang) => Some(Verdict {
            message: format!(
                "{} repeated a state without a memory write in between",
                match hang.warps {
                    1 => format!("the one live warp on {}", hang.sm),
                    n => format!("all {n} live warps on {}", hang.sm),
                }
            ),
            lanes: stuck(hang, code, lines),
            help: Some(
                if hang.lanes.iter().any(|stuck| stuck.fixed) {
                    "no lane can leave this loop: its condition never changes; update what the \
                     branch tests inside the loop"
                } else if !is_parted(hang) {
                    "no warp that still runs makes the write that these loops wait for; let one \
                     make it before it waits, or launch the block that makes it: a cooperative \
                     launch makes sure that all blocks fit the GPU together"
                } else {
                    "move the write that the spinning lanes wait for inside the loop, before the \
                     lanes reconverge"
                }
                .to_string(),
            ),
        }),
        Finish::CycleLimit(limit) => Some(gave_up(*limit)),
        Finish::Fault(report) => Some(Verdict {
            message: fault(report, kernel, launch),
            lanes: vec![LaneGroup::new(
                report.block.0,
                report.warp,
                LaneMask::lane(report.fault.lane),
                report.inst.line,
                lines.text(report.inst.line),
                format!("executing{}", within(kernel, report.inst.line)),
            )],
            help: None,
        }),
    }
}

/// Returns the verdict on a run that reached a limit.
fn gave_up(limit: Limit) -> Verdict {
    let (message, help) = match limit {
        Limit::Cycles(cycles) => (
            format!("gave up after {cycles} cycles; the program might still end"),
            "look for an infinite loop, or raise --max-cycles".to_string(),
        ),
        Limit::Issues { sm, issued, cycle } => (
            format!(
                "gave up after {issued} instructions issued on {sm}{}; the program might still end",
                cycle.map_or_else(String::new, |cycle| format!(", at cycle {cycle}"))
            ),
            match cycle {
                Some(cycle) => format!(
                    "look for an infinite loop, or limit cycles instead: --max-cycles {}",
                    cycle.saturating_mul(10)
                ),
                None => "look for an infinite loop, or limit cycles: --timing cycles".to_owned(),
            },
        ),
    };
    Verdict { message, lanes: Vec::new(), help: Some(help) }
}

/// Names the device function of a line, as the end of a phrase.
fn within(kernel: &Kernel, line: u32) -> String {
    kernel
        .function_at(line)
        .map_or_else(String::new, |function| format!(", in function {}", function.name))
}

/// Returns true if lanes of one warp hang at several places.
fn is_parted(hang: &Hang) -> bool {
    let warp = |stuck: &StuckLanes| (stuck.block, stuck.warp);
    hang.lanes.windows(2).any(|two| warp(&two[0]) == warp(&two[1]))
}

/// Says which line set the join that lanes wait at, if only one can have.
fn set_by(code: &Code, stuck: &StuckLanes) -> Option<String> {
    let name = stuck.what.strip_prefix("waiting at join ")?.split(' ').next()?;
    let sets = code.ops().iter().enumerate().filter(|(_, step)| match step.inst.op {
        Op::Join(ConvergenceOp::Set(join)) => join.to_string() == name,
        _ => false,
    });
    let mut sets = sets.map(|(at, step)| (at, step.inst.line));
    let (_, line) = match code.kernel().native {
        // In the order of addresses.
        Some(_) => sets.take_while(|&(at, _)| at < stuck.pc.index()).last()?,
        None => sets.next().filter(|_| sets.next().is_none())?,
    };
    Some(format!(" ({name} belongs to the branch on line {line})"))
}

fn stuck(hang: &Hang, code: &Code, lines: &SourceLines<'_>) -> Vec<LaneGroup> {
    let kernel = code.kernel();
    let group = |s: &StuckLanes| {
        let line = s.lines.first().copied().unwrap_or(0);
        let state = match s.lines.last() {
            Some(&last) if last != line => format!("{} lines {line} to {last}", s.what),
            _ => s.what.clone(),
        };
        let state = state + &set_by(code, s).unwrap_or_default() + &within(kernel, line);
        LaneGroup::new(s.block.0, s.warp, s.lanes, line, lines.text(line), state)
    };
    hang.lanes.iter().map(group).collect()
}

fn fault(report: &FaultReport, kernel: &Kernel, launch: Option<&Launch>) -> String {
    let FaultReport { fault, block, warp, cycle, .. } = report;
    let near = match fault.kind {
        FaultKind::OutOfBounds { space, address, bytes } => {
            launch.and_then(|launch| checks::nearest(kernel, launch, space, address, bytes))
        }
        _ => None,
    };
    let what = match (near, &fault.kind) {
        (Some(near), FaultKind::OutOfBounds { space, address, bytes }) => {
            format!("out of bounds: {near}; {bytes}-byte {} access at 0x{address:x}", space.name())
        }
        (_, FaultKind::Assertion(failed)) => {
            let lines = launch.and_then(|launch| report.assertion(launch.grid, launch.block));
            let first = lines.and_then(|lines| lines.into_iter().next());
            let lanes = failed.lanes.count();
            let all =
                if lanes > 1 { format!(" In all {lanes} lanes failed.") } else { String::new() };
            format!("{}{all}", first.unwrap_or_else(|| fault.kind.to_string()))
        }
        (_, kind) => kind.to_string(),
    };
    let at = cycle.map_or_else(String::new, |cycle| format!(", cycle {cycle}"));
    format!("{what} (block {} warp {warp} lane {}{at})", block.0, fault.lane)
}
