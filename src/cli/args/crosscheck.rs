//! Arguments of `crosscheck`.

use std::path::PathBuf;

use super::{LaunchChoice, LimitChoice, MachineChoice, SassChoice, SuiteChoice};

/// Compare with a GPU, or with recorded observations of one
///
/// Run each program on the simulator and on the GPU and compare every buffer that it writes: bit by
/// bit, or within the widest tolerance of the instructions that it uses (`simt-sim isa`, "agrees").
/// A GPU runs the cubin of machine code: the file itself, or FILE.cubin beside FILE.sass. Without a
/// GPU, compare with recorded observations. Exit codes: 0 all agree; 1 something differs;
/// 2 usage, or the driver refuses a kernel; 3 the GPU did not end in time (the remaining programs
/// are skipped); 6 no GPU and no fresh observation.
#[derive(clap::Args, Debug)]
pub(crate) struct CrosscheckArgs {
    /// The programs: .ir, .ptx, .sass, .cubin or .cu files, or - for standard input
    #[arg(required_unless_present_any = ["suite", "unseen"])]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) sass: SassChoice,
    #[command(flatten)]
    pub(crate) suite: SuiteChoice,
    /// Choose the kernel of a file that has several
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
    #[command(flatten)]
    pub(crate) machine: MachineChoice,
    #[command(flatten)]
    pub(crate) launch: LaunchChoice,
    /// Record the results of the GPU in DIR/FILE.ron
    #[arg(long, value_name = "DIR", conflicts_with = "recorded")]
    pub(crate) record: Option<PathBuf>,
    /// Compare with DIR/FILE.ron, and run nothing on a GPU [default without a GPU: those of an H200
    /// that come with simt-sim]
    #[arg(long, value_name = "DIR")]
    pub(crate) recorded: Option<PathBuf>,
    /// Date the observations [default: today]
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) date: Option<String>,
    /// Stop a kernel on the GPU after S seconds
    #[arg(long, value_name = "S", default_value_t = 10)]
    pub(crate) timeout: u64,
    #[command(flatten)]
    pub(crate) limit: LimitChoice,
    /// Print the largest difference of float buffers, in units in the last place
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Compare divergence instead: executions, lanes and first side of every branch, as counted by
    /// the simulator, by probes in the program and by the same probes on the GPU
    #[arg(long)]
    pub(crate) divergence: bool,
    /// With --divergence: print the basic blocks and branches that this warp of the grid executed
    #[arg(long, value_name = "WARP", requires = "divergence")]
    pub(crate) trace: Option<u32>,
}
