//! Document for GitHub Classroom's reporter (`classroom-resources/autograding-grading-reporter`),
//! which expects it in base64 from a step. Its own command graders give all points of a test or
//! none; a document from this module keeps the points of each criterion's band. Source: the code of
//! the reporter and of the command grader, version 1 of the document.

use serde_json::{Value, json};

use super::super::graded::{Failed, Graded, Mark};
use super::{body, points};

/// Formats the document, ending in a line break.
pub fn classroom(graded: &Graded) -> String {
    let status = match &graded.failed {
        Some(Failed::Grader(_)) => "error",
        _ if graded.is_full() => "pass",
        _ => "fail",
    };
    let mut failed = graded.failed.as_ref().map(|failed| failed.text() + "\n").unwrap_or_default();
    graded.notes.iter().for_each(|note| failed += &format!("note: {note}\n"));
    let tests: Vec<Value> = graded.criteria.iter().map(|mark| test(mark, &failed)).collect();
    let document = json!({"version": 1, "status": status, "max_score": graded.max, "tests": tests});
    format!("{document:#}\n")
}

fn test(mark: &Mark, failed: &str) -> Value {
    json!({
        "name": format!("{} ({})", mark.title, points(mark.points, mark.max)),
        "status": if mark.is_full() { "pass" } else { "fail" },
        "score": mark.points,
        "message": format!("{failed}{}", body(mark)),
        "test_code": "",
        "filename": "",
        "line_no": 0,
        "duration": 0,
    })
}
