//! Arguments of `quiz`.

/// Predict figures, then measure them: questions on divergence or of an assignment
///
/// Ask for a prediction, then measure: questions with random numbers, figures of `simt-sim ask`, or
/// the questions of an assignment. Exit codes: 0 all predictions are right; 1 some are wrong or
/// skipped; 2 an argument is wrong.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  simt-sim quiz                      five questions of all topics
  simt-sim quiz ragged-end --count 3
  simt-sim quiz programs/assignments/fix-the-reduction --answers 95")]
pub(crate) struct QuizArgs {
    /// A topic (see --list) or the folder of an assignment [default: all topics]
    #[arg(value_name = "TOPIC|ASSIGNMENT")]
    pub(crate) what: Option<String>,
    /// List the topics
    #[arg(long, conflicts_with_all = ["what", "answers", "seed", "count"])]
    pub(crate) list: bool,
    /// Seed the random numbers and topics
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Ask N questions, 1 to 100 [default: 5; 3 of one topic]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u32>,
    /// Predict these numbers, one for each question; s skips a question
    #[arg(long, value_name = "N,N,..", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) answers: Option<Vec<String>>,
}
