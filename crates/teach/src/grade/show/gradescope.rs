//! Gradescope's `results.json` (<https://gradescope-autograders.readthedocs.io/en/latest/specs/>).

use serde_json::{Value, json};

use super::super::graded::{Graded, Mark};
use super::{body, points};

/// Formats the document, ending in a line break. Criteria become tests; the lane map appears in the
/// output above them, in colours. `graded` is for students; `for_lecturers` becomes a test without
/// points that Gradescope shows only to staff.
pub fn gradescope(graded: &Graded, for_lecturers: Option<&Graded>) -> String {
    let mut tests: Vec<Value> =
        (1..).zip(&graded.criteria).map(|(number, mark)| test(number, mark)).collect();
    tests.extend(for_lecturers.map(staff));
    let leaderboard: Vec<Value> = graded
        .leaderboard
        .iter()
        .map(|l| json!({"name": l.name, "value": l.value, "order": l.order}))
        .collect();
    // Criteria shown after the due date do not count before it.
    let visible = || graded.criteria.iter().filter(|mark| !mark.hidden);
    let (score, max) =
        (visible().map(|mark| mark.points).sum(), visible().map(|mark| mark.max).sum());
    let mut output = format!("{}: {} points\n", graded.assignment, points(score, max));
    if let Some(failed) = &graded.failed {
        output += &format!("{}\n", failed.text());
    }
    graded.notes.iter().for_each(|note| output += &format!("note: {note}\n"));
    if let Some(map) = &graded.map {
        output +=
            &format!("\nThe branch that diverged most often, at its first divergence:\n{map}");
    }
    let mut document = json!({
        "output": output,
        "output_format": "ansi",
        "test_output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": tests,
        "extra_data": {"schema": graded.schema, "version": graded.version},
    });
    // The key alone creates a leaderboard, even without entries.
    if !leaderboard.is_empty() {
        document["leaderboard"] = leaderboard.into();
    }
    format!("{document:#}\n")
}

fn test(number: usize, mark: &Mark) -> Value {
    let status = if mark.is_full() { "passed" } else { "failed" };
    json!({
        "score": mark.points,
        "max_score": mark.max,
        "status": status,
        "name": mark.title,
        "name_format": "text",
        "number": number.to_string(),
        "output": body(mark),
        "output_format": "text",
        "tags": [mark.id],
        "visibility": if mark.hidden { "after_published" } else { "visible" },
    })
}

fn staff(graded: &Graded) -> Value {
    let mut output = graded.failed.as_ref().map(|failed| failed.text() + "\n").unwrap_or_default();
    graded
        .criteria
        .iter()
        .for_each(|mark| output += &format!("{} [{}]\n{}\n", mark.title, mark.id, body(mark)));
    json!({
        "name": "For lecturers: hidden inputs",
        "name_format": "text",
        "output": output,
        "output_format": "text",
        "visibility": "hidden",
    })
}
