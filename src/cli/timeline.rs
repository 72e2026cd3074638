//! `simt-sim timeline`: the lane map of a window, and the choice of a window.

use std::ops::Range;

use simt_core::base::BlockId;
use simt_core::launch::Launch;
use simt_core::observe::Window;
use simt_report::simulate;
use simt_report::timeline::{Axis, LEAST_WIDTH, MapStyle, Recording, csv, lane_map, transposed};

use super::args::{AxisArg, ProgramChoice, RowFormat, TimelineArgs, WindowChoice};
use super::job::Setup;
use super::{Exit, Failure, output};

/// Prints the lane map.
pub(crate) fn timeline(args: &TimelineArgs) -> Result<Exit, Failure> {
    if let Some(width) = args.width.filter(|&width| width < LEAST_WIDTH) {
        return Err(Failure::new(format!(
            "--width {width}: a line has at least {LEAST_WIDTH} columns"
        )));
    }
    let recording = record(&args.program, &args.window, Warps::First)?;
    let mut style = output::style(args.output.as_deref());
    style.width = args.width.unwrap_or(style.width).min(4096);
    let style = MapStyle { style, axis: axis(args.axis) };
    let text = match args.format {
        RowFormat::Csv => csv(&recording),
        RowFormat::Text if args.lanes => transposed(&recording, style),
        RowFormat::Text => lane_map(&recording, style),
    };
    output::deliver(args.output.as_deref(), &text)?;
    Ok(Exit::Ok)
}

/// Returns the axis of an argument.
pub(crate) fn axis(typed: AxisArg) -> Axis {
    match typed {
        AxisArg::Issue => Axis::Issue,
        AxisArg::Cycle => Axis::Cycle,
    }
}

/// Default warps of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warps {
    /// Warp 0.
    First,
    /// All of the block.
    All,
    /// All of the block, with as many issues of each as fit a page.
    Page,
}

/// Default limit of issues of a warp.
const ISSUES: usize = 200;
/// Default limits of a page: issues of all warps together, and of one warp.
const PAGE_ISSUES: (usize, usize) = (24_000, 4_000);

/// Runs the program as far as the window needs.
pub(crate) fn record(
    choice: &ProgramChoice,
    window: &WindowChoice,
    default: Warps,
) -> Result<Recording, Failure> {
    let (setup, launch) = Setup::new(choice, true)?;
    let window = resolve(window, default, &launch, setup.machine.warp_size)?;
    let recording = simulate::record(&setup.job(launch), &window).map_err(Failure::new)?;
    // Also where the format has no place for it.
    output::warn_of(recording.ending());
    Ok(recording)
}

/// Resolves a choice of window for a launch.
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
        None if default == Warps::Page => {
            (PAGE_ISSUES.0 / chosen.len().max(1)).clamp(ISSUES, PAGE_ISSUES.1)
        }
        None => ISSUES,
    };
    Ok(Window { block: BlockId(block), warps: chosen, cycles: choice.from..to, limit })
}

fn range(text: &str, warps: u32) -> Result<Range<u32>, Failure> {
    Window::warps_named(text, warps).ok_or_else(|| {
        let last = warps.saturating_sub(1);
        Failure::new(format!(
            "--warp {text}: expected a number, a range as in 0..3, or all; a block has \
             the warps 0 to {last}"
        ))
    })
}
