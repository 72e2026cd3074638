//! Gradescope's `results.json` (<https://gradescope-autograders.readthedocs.io/en/latest/specs/>).

use serde_json::{Value, json};

use super::super::graded::{Graded, Mark};
use super::{body, points};

/// The document, ending in a line break. Criteria become tests; the lane map stands in the output above them, in its colours.
pub fn gradescope(graded: &Graded) -> String {
    let tests: Vec<Value> = (1..).zip(&graded.criteria).map(|(number, mark)| test(number, mark)).collect();
    let leaderboard: Vec<Value> =
        graded.leaderboard.iter().map(|l| json!({"name": l.name, "value": l.value, "order": l.order})).collect();
    let mut output = format!("{}: {} points\n", graded.assignment, points(graded.score, graded.max));
    if let Some(failed) = &graded.failed {
        output += &format!("{}\n", failed.text());
    }
    graded.notes.iter().for_each(|note| output += &format!("note: {note}\n"));
    if let Some(map) = &graded.map {
        output += &format!("\nThe branch that diverged most often, where it did so first:\n{map}");
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
    // Naming it sets one up, also without entries.
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
