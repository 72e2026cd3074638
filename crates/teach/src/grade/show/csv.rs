//! Grades of a class as CSV.

use super::super::graded::Graded;
use simt_report::quoted;

/// Formats one record per submission. Name, points, reason of a failure, points of each criterion,
/// notes. Texts are complete, with their line breaks, in quotes (RFC 4180).
pub fn csv(grades: &[Graded]) -> String {
    let ids = grades.first().map_or(&[][..], |graded| graded.criteria.as_slice());
    let mut out = String::from("submission,score,max,failed");
    ids.iter().for_each(|mark| out += &format!(",{}", cell(&mark.id)));
    out += ",notes\n";
    for graded in grades {
        let why = graded.failed.as_ref().map(|failed| failed.text()).unwrap_or_default();
        out +=
            &format!("{},{},{},{}", cell(&graded.submission), graded.score, graded.max, cell(&why));
        graded.criteria.iter().for_each(|mark| out += &format!(",{}", mark.points));
        out += &format!(",{}\n", cell(&graded.notes.join("\n")));
    }
    out
}

/// Quotes a text so that a spreadsheet does not read it as a formula.
fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@']);
    quoted(&if formula { format!("'{text}") } else { text.to_owned() }).to_string()
}
