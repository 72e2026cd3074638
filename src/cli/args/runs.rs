//! Arguments that choose several runs at once.

use std::path::PathBuf;

use super::{LimitChoice, LoweringArg, ModeArg};

/// Several runs. Whatever is given once holds for all; whatever is given as often as there are runs, for one each in turn.
#[derive(clap::Args, Debug)]
pub(crate) struct RunsChoice {
    /// The programs: .ir or .ptx files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How warps diverge: one mode, or one for each run as in pre-volta,volta, both on one machine (h200 unless --machine)
    #[arg(long, value_enum, value_delimiter = ',', value_name = "MODE[,MODE]")]
    pub(crate) mode: Vec<ModeArg>,
    /// A preset (`simt-sim machine` lists them) or a machine file, or one for each run as in fermi,h200
    #[arg(long, value_delimiter = ',', value_name = "NAME[,NAME]")]
    pub(crate) machine: Vec<String>,
    /// Which side of a divergent branch runs first: fewer, more, taken, fall-through, random:SEED [default: the machine's]
    #[arg(long, value_delimiter = ',', visible_alias = "side-order", value_name = "ORDER[,ORDER]")]
    pub(crate) its_order: Vec<String>,
    /// Lanes a warp
    #[arg(long, value_delimiter = ',', value_name = "N[,N]")]
    pub(crate) warp_size: Vec<u32>,
    /// What is issued for an instruction: one way, or one for each run as in as-written,hardware
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LOWERING[,LOWERING]")]
    pub(crate) lowering: Vec<LoweringArg>,
    /// Place no YIELD in spin loops (volta mode)
    #[arg(long)]
    pub(crate) no_yield: bool,
    /// Change a named constant, in all runs (--set n=65536) or to one value each (--set n=1024,65536)
    #[arg(long, value_name = "NAME=VALUE[,VALUE]")]
    pub(crate) set: Vec<String>,
    /// Blocks: X, X,Y or X,Y,Z; a second --grid is for the second run
    #[arg(long, value_name = "X,Y,Z")]
    pub(crate) grid: Vec<String>,
    /// Threads a block: X, X,Y or X,Y,Z; a second --block is for the second run
    #[arg(long, value_name = "X,Y,Z")]
    pub(crate) block: Vec<String>,
    /// Let contents of buffers and expected values take this much of the computer's memory [default: 2]
    #[arg(long, value_name = "GIB")]
    pub(crate) max_memory: Option<u64>,
    /// The kernels to run, when files have several
    #[arg(long, value_delimiter = ',', value_name = "NAME[,NAME]")]
    pub(crate) kernel: Vec<String>,
    #[command(flatten)]
    pub(crate) limit: LimitChoice,
}
