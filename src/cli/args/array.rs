//! Arguments of a job array.

use std::path::PathBuf;

/// A job array: its folder, and the share of one job.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct ArrayChoice {
    /// Write the job scripts of a Slurm array to DIR and print the lines that submit them; run
    /// nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["shard", "merge"])]
    pub(crate) slurm: Option<PathBuf>,
    /// Divide --slurm among N tasks [default: 100, or as many as there are runs]
    #[arg(long, value_name = "N", requires = "slurm")]
    pub(crate) tasks: Option<usize>,
    /// Run task I of --slurm, from 1 (in DIR/task.sh)
    #[arg(long, value_name = "I", requires = "tasks")]
    pub(crate) task: Option<usize>,
    /// Merge the tasks of --slurm and print the result of all (in DIR/merge.sh)
    #[arg(long, requires = "tasks", conflicts_with = "task")]
    pub(crate) gather: bool,
}
