//! Arguments of several runs.

use std::path::PathBuf;

use super::{LimitChoice, LoweringArg, ModeArg, SassChoice};

/// Several runs. An option given once holds for all runs; given once for each run, it is dealt out
/// in order.
#[derive(clap::Args, Debug)]
pub(crate) struct RunsChoice {
    /// The programs: .ir, .ptx, .sass, .cubin or .cu files, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) sass: SassChoice,
    /// Choose how warps diverge: one mode, or one for each run as in pre-volta,volta; both run on
    /// one machine (h200 unless --machine)
    #[arg(long, value_enum, value_delimiter = ',', value_name = "MODE[,MODE]")]
    pub(crate) mode: Vec<ModeArg>,
    /// Run on a preset (`simt-sim machine` lists them) or on a machine file; or on one for each
    /// run, as in fermi,h200
    #[arg(long, value_delimiter = ',', value_name = "NAME[,NAME]")]
    pub(crate) machine: Vec<String>,
    /// Choose the side of a divergent branch that runs first: fewer, more, taken, fall-through,
    /// random:SEED [default: the machine's]
    #[arg(long, value_delimiter = ',', visible_alias = "side-order", value_name = "ORDER[,ORDER]")]
    pub(crate) its_order: Vec<String>,
    /// Set the lanes of a warp, 2 to 32 [default: the machine's]
    #[arg(long, value_delimiter = ',', value_name = "N[,N]")]
    pub(crate) warp_size: Vec<u32>,
    /// Choose the instruction lowering: one, or one for each run as in as-written,hardware
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LOWERING[,LOWERING]")]
    pub(crate) lowering: Vec<LoweringArg>,
    /// Omit YIELD from spin loops (volta mode)
    #[arg(long)]
    pub(crate) no_yield: bool,
    /// Change a named constant in all runs (--set n=65536) or in each run (--set n=1024,65536)
    #[arg(long, value_name = "NAME=VALUE[,VALUE]")]
    pub(crate) set: Vec<String>,
    /// Set the grid in blocks: X, X,Y or X,Y,Z; give --grid again for the second run
    #[arg(long, allow_negative_numbers = true, value_name = "X,Y,Z")]
    pub(crate) grid: Vec<String>,
    /// Set the block in threads: X, X,Y or X,Y,Z; give --block again for the second run
    #[arg(long, allow_negative_numbers = true, value_name = "X,Y,Z")]
    pub(crate) block: Vec<String>,
    /// Limit the host memory for buffers and expected values [default: 2]
    #[arg(long, value_name = "GIB")]
    pub(crate) max_memory: Option<u64>,
    /// Choose a launch of programs that have several, from 1; those before it run first
    #[arg(long, value_name = "N")]
    pub(crate) launch: Option<usize>,
    /// Choose the kernels of files that have several
    #[arg(long, value_delimiter = ',', value_name = "NAME[,NAME]")]
    pub(crate) kernel: Vec<String>,
    #[command(flatten)]
    pub(crate) limit: LimitChoice,
}
