//! Arguments of `quiz`.

/// Asks for predictions and measures afterwards: questions with numbers drawn at random, figures of `simt-sim ask`, or the questions of
/// an assignment. Exit codes: 0 no prediction was wrong and no question skipped; 1 some were; 2 an argument is wrong.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  simt-sim quiz                      five questions of all topics
  simt-sim quiz ragged-end --count 3
  simt-sim quiz programs/assignments/fix-the-reduction --answers 95")]
pub(crate) struct QuizArgs {
    /// A topic (--list has them) or the folder of an assignment [default: all topics]
    #[arg(value_name = "TOPIC|ASSIGNMENT")]
    pub(crate) what: Option<String>,
    /// List the topics
    #[arg(long, conflicts_with_all = ["what", "answers", "seed", "count"])]
    pub(crate) list: bool,
    /// Draw other numbers and topics
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Questions to ask, 1 to 100 [default: 5; of one topic 3]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u32>,
    /// The predictions, comma-separated, one for each question; s skips one
    #[arg(long, value_name = "N,N,..", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) answers: Option<Vec<String>>,
}
