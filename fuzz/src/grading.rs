//! Assignments and submissions.

use std::sync::LazyLock;

use simt_report::Style;
use simt_teach::grade::{
    self, Answers, Assignment, Graded, Measured, Reader, RunLimit, Submission, show,
};

use super::{laws, text_of};

/// A small reference: its directives are the assignment's.
const REFERENCE: &str = include_str!("../seeds/doubled.ir");
/// An assignment with every kind of rule.
const ASSIGNMENT: &str = include_str!("../seeds/assignment/doubled.ron");

/// Reads a file next to `assignment.ron`: the reference, under any name.
fn beside(_: &str) -> Result<String, String> {
    Ok(REFERENCE.to_owned())
}

/// Loads assignment files; an accepted one must accept its own reference as a submission.
pub fn assignment(data: &[u8]) {
    match Assignment::load(&text_of(data), &beside) {
        Ok(assignment) => {
            let _ = assignment.metrics();
            (0..assignment.runs.len()).for_each(|run| drop(assignment.run_name(run)));
            let _ = Submission::read(&assignment, "reference.ir", REFERENCE);
        }
        Err(faults) => assert!(!faults.0.is_empty(), "refused without a reason"),
    }
}

/// The assignment and the measurements of its reference.
static GRADED: LazyLock<(Assignment, Measured)> = LazyLock::new(|| {
    let assignment =
        Assignment::load(ASSIGNMENT, &beside).unwrap_or_else(|faults| panic!("{faults}"));
    let reference = Submission::read(&assignment, "reference.ir", REFERENCE)
        .unwrap_or_else(|why| panic!("{why}"));
    let measured = grade::measure(&assignment, &reference, &[], &|_, _| Err("no files".to_owned()));
    assert!(measured.runs.iter().all(|ran| ran.passed), "{measured:?}");
    (assignment, measured)
});

/// Grades submissions within the limits, in every format. No output has control characters or is
/// long.
pub fn submission(data: &[u8]) {
    let (assignment, reference) = &*GRADED;
    let files = |_: &str, _| Err("no files".to_owned());
    let own = match Submission::read(assignment, "handed-in.ir", &text_of(data)) {
        Ok(submission) => {
            let limits = vec![RunLimit { cycles: 3_000, issues: 3_000 }; assignment.runs.len()];
            grade::measure(assignment, &submission, &limits, &files)
        }
        Err(why) => Measured { refused: Some(why), ..Measured::default() },
    };
    shown(&grade::judge(
        assignment,
        "handed-in.ir",
        &Ok(own),
        (reference, reference),
        &Answers::default(),
        Reader::Student,
    ));
}

/// Parses and judges answers; ids without a question are reported.
pub fn answers(data: &[u8]) {
    let (assignment, reference) = &*GRADED;
    match grade::answers(assignment, &text_of(data)) {
        Ok((answers, notes)) => {
            let own = Ok(reference.clone());
            let both = (reference, reference);
            let mut graded =
                grade::judge(assignment, "handed-in.ir", &own, both, &answers, Reader::Student);
            graded.notes.extend(notes);
            shown(&graded);
        }
        Err(why) => assert!(!why.is_empty(), "refused without a reason"),
    }
}

/// Checks every format of a grade.
fn shown(graded: &Graded) {
    assert!(
        (0.0..=graded.max).contains(&graded.score),
        "{} of {} points",
        graded.score,
        graded.max
    );
    let style = Style { width: 80, color: false };
    let all = std::slice::from_ref(graded);
    let json = graded.to_json().expect("a grade can be written as JSON");
    for shown in [
        show::terminal(graded, None, style),
        show::line(graded),
        show::gradescope(graded, None),
        show::classroom(graded),
        show::junit(all),
        show::markdown(graded),
        show::csv(all),
        json,
    ] {
        laws::harmless(&shown);
        assert!(shown.len() < 300_000, "{} bytes of report", shown.len());
    }
}
