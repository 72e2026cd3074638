//! Answers to an assignment's questions, as a student writes them: `{ "predicted": 95 }`.

use super::assignment::Assignment;
use super::judge::Answers;
use super::rules::Rule;
use simt_core::diag::closest;

/// Maximum number of answers named in messages.
const MOST_UNKNOWN: usize = 10;

/// Parses answers; also returns a sentence for each answer that does not count.
///
/// # Errors
/// If the text cannot be parsed.
pub fn answers(assignment: &Assignment, text: &str) -> Result<(Answers, Vec<String>), String> {
    let answers: Answers = ron::from_str(text).map_err(|e| e.to_string())?;
    let mut unknown: Vec<String> =
        answers.keys().filter_map(|id| unknown(assignment, id)).collect();
    unknown.extend(answers.iter().filter(|(_, given)| !given.is_finite()).map(|(id, given)| {
        format!("answers.ron: expected a number for `{}`, found {given}.", super::one_line(id))
    }));
    if unknown.len() > MOST_UNKNOWN {
        let more = unknown.split_off(MOST_UNKNOWN).len();
        unknown.push(format!("answers.ron: {more} more answers that do not count."));
    }
    Ok((answers, unknown))
}

/// Message about an unknown answer id.
fn unknown(assignment: &Assignment, id: &str) -> Option<String> {
    let criteria = assignment.spec.criteria.iter();
    let questions: Vec<&str> = criteria
        .filter(|c| matches!(c.rule, Rule::Question { .. }))
        .map(|c| c.id.as_str())
        .collect();
    if questions.contains(&id) {
        return None;
    }
    let way = match closest(id, questions.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if questions.is_empty() => "; this assignment has no questions.".to_owned(),
        None => format!("; the questions are `{}`.", questions.join("`, `")),
    };
    Some(format!("answers.ron: no question `{}`{way}", super::one_line(id)))
}
