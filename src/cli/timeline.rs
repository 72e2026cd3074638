//! `simt-sim timeline`: the lane map of a window, and how a window is chosen.

use std::ops::Range;

use simt_core::base::BlockId;
use simt_core::launch::Launch;
use simt_core::observe::Window;
use simt_report::Style;
use simt_report::simulate;
use simt_report::timeline::{Axis, MapStyle, Recording, csv, lane_map, transposed};

use super::args::{AxisArg, Data, ProgramChoice, TimelineArgs, WindowChoice};
use super::job::Setup;
use super::{Exit, Failure, output};

/// Prints the lane map.
pub(crate) fn timeline(args: &TimelineArgs) -> Result<Exit, Failure> {
    let recording = record(&args.program, &args.window, Warps::First)?;
    let width = args.width.unwrap_or_else(output::width).min(4096);
    let style = MapStyle { style: Style { width, color: output::color_out() }, axis: axis(args.axis) };
    let text = match args.data {
        Some(Data::Csv) => csv(&recording),
        None if args.lanes => transposed(&recording, style),
        None => lane_map(&recording, style),
    };
    output::print(&text)?;
    Ok(Exit::Ok)
}

/// The axis that was typed.
pub(crate) fn axis(typed: AxisArg) -> Axis {
    match typed {
        AxisArg::Issue => Axis::Issue,
        AxisArg::Cycle => Axis::Cycle,
    }
}

/// The warps that a view shows unless told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warps {
    /// Warp 0.
    First,
    /// All of the block.
    All,
    /// All of the block, and as many issues of each as a page bears.
    Page,
}

/// The issues of a warp that a view shows unless told otherwise.
const ISSUES: usize = 200;
/// The issues that a page shows unless told otherwise, all warps together, and those of one warp at most.
const PAGE_ISSUES: (usize, usize) = (24_000, 4_000);

/// Runs the program as far as the window needs.
pub(crate) fn record(choice: &ProgramChoice, window: &WindowChoice, default: Warps) -> Result<Recording, Failure> {
    let (setup, launch) = Setup::new(choice, true)?;
    let window = resolve(window, default, &launch, setup.machine.warp_size)?;
    let recording = simulate::record(&setup.job(launch), &window).map_err(Failure::new)?;
    // Also where the format has no place for it.
    output::warn_of(recording.ending());
    Ok(recording)
}

/// Checks what was typed against a launch.
pub(crate) fn resolve(
    choice: &WindowChoice,
    default: Warps,
    launch: &Launch,
    warp_size: u32,
) -> Result<Window, Failure> {
    let blocks: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
    let threads: u64 = launch.block.iter().map(|&n| u64::from(n)).product();
    let warps = u32::try_from(threads.div_ceil(u64::from(warp_size.max(1)))).unwrap_or(u32::MAX);
    let block = choice.block_id;
    if u64::from(block) >= blocks {
        return Err(Failure::new(format!(
            "--block-id {block}: the grid has the blocks 0 to {}",
            blocks.saturating_sub(1)
        )));
    }
    let chosen = match &choice.warp {
        Some(text) => range(text, warps)?,
        None if default == Warps::First => 0..1,
        None => 0..warps,
    };
    let to = choice.to.unwrap_or(u64::MAX);
    if to <= choice.from {
        return Err(Failure::new(format!("--from {} --to {to}: the window is empty", choice.from)));
    }
    let limit = match choice.limit {
        Some(0) => usize::MAX,
        Some(limit) => limit,
        None if default == Warps::Page => (PAGE_ISSUES.0 / chosen.len().max(1)).clamp(ISSUES, PAGE_ISSUES.1),
        None => ISSUES,
    };
    Ok(Window { block: BlockId(block), warps: chosen, cycles: choice.from..to, limit })
}

fn range(text: &str, warps: u32) -> Result<Range<u32>, Failure> {
    Window::warps_named(text, warps).ok_or_else(|| {
        let last = warps.saturating_sub(1);
        Failure::new(format!(
            "--warp {text}: write a number, a range as in 0..3, or all; a block has the warps 0 to {last}"
        ))
    })
}
