//! `simt-sim quiz`: a prediction, then the run.

use std::io::{BufRead, IsTerminal, Read};
use std::path::Path;

use simt_report::Style;
use simt_teach::quiz::{self, Dice, Question, Said, Score, Turn, show};

use super::args::QuizArgs;
use super::grade::read_assignment;
use super::{Exit, Failure, output, reading};

/// Default seed. A quiz without --seed has the same questions each time.
const SEED: u64 = 1;
/// Default number of questions of a mixed quiz.
const MIXED: usize = 5;
/// Default number of questions of one topic.
const OF_A_TOPIC: usize = 3;
/// Largest number of questions.
const MOST: u32 = 100;
/// Lines without a number after which a question is skipped. They come from no person.
const MOST_TRIES: usize = 10;
/// Bytes read of a line.
const MOST_LINE: u64 = 4096;

/// Holds a quiz: asks, measures and scores.
pub(crate) fn quiz(args: &QuizArgs) -> Result<Exit, Failure> {
    let style = Style { width: output::width(), color: output::color_out() };
    if args.list {
        return output::print(&show::topics(style)).map(|()| Exit::Ok);
    }
    let folder = args.what.as_deref().filter(|what| quiz::find(what).is_none()).map(Path::new);
    match folder {
        Some(folder) if folder.is_dir() => of_assignment(args, folder, style),
        Some(_) => Err(unknown(args.what.as_deref().unwrap_or_default())),
        None => of_topics(args, style),
    }
}

fn unknown(what: &str) -> Failure {
    let hint = match quiz::suggest(what) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "list the topics with `simt-sim quiz --list`, or name a folder with assignment.ron"
            .to_owned(),
    };
    Failure::new(format!("no topic or folder `{what}`\nhelp: {hint}"))
}

fn of_topics(args: &QuizArgs, style: Style) -> Result<Exit, Failure> {
    let seed = args.seed.unwrap_or(SEED);
    if let Some(count) = args.count.filter(|count| !(1..=MOST).contains(count)) {
        return Err(Failure::new(format!("--count {count}: expected 1 to {MOST}")));
    }
    let count = |usual: usize| args.count.map_or(usual, |count| count as usize);
    let mut dice = Dice::new(seed);
    let (title, questions, again) = match args.what.as_deref().and_then(quiz::find) {
        Some(topic) => {
            let again = topic
                .questions()
                .is_none()
                .then(|| format!("simt-sim quiz {} --seed {}", topic.name, seed.wrapping_add(1)));
            (topic.about.to_owned(), topic.draw(count(OF_A_TOPIC), &mut dice), again)
        }
        None => {
            let again = Some(format!("simt-sim quiz --seed {}", seed.wrapping_add(1)));
            ("all topics".to_owned(), quiz::mixed(count(MIXED), &mut dice), again)
        }
    };
    let exit =
        Session { title: &title, questions: &questions, style }.hold(args.answers.as_deref())?;
    if let Some(again) = again {
        output::print(&format!("Other questions: {again}\n"))?;
    }
    Ok(exit)
}

fn of_assignment(args: &QuizArgs, folder: &Path, style: Style) -> Result<Exit, Failure> {
    if args.seed.is_some() || args.count.is_some() {
        return Err(Failure::new(
            "--seed and --count are for topics; the questions of an assignment are fixed",
        ));
    }
    let assignment = read_assignment(folder)?;
    let files = reading::beside(folder);
    let questions = quiz::of_assignment(&assignment, &files);
    if questions.is_empty() {
        return Err(Failure::new(format!(
            "`{}` has no questions\n\
             help: add a criterion with `rule: Question(text, answer)`, as in \
             docs/grading.md",
            folder.display()
        )));
    }
    Session { title: &assignment.spec.title, questions: &questions, style }
        .hold(args.answers.as_deref())
}

/// One quiz, from its title to its score.
struct Session<'a> {
    title: &'a str,
    questions: &'a [Question<'a>],
    style: Style,
}

impl Session<'_> {
    fn hold(&self, answers: Option<&[String]>) -> Result<Exit, Failure> {
        let mut source = match answers {
            Some(answers) => Source::Given(given(answers, self.questions)?.into_iter()),
            None => Source::Typed { terminal: std::io::stdin().is_terminal() },
        };
        let (of, style) = (self.questions.len(), self.style);
        output::print(&show::welcome(self.title, of, style))?;
        let mut score = Score::default();
        for (at, question) in self.questions.iter().enumerate() {
            output::print(&show::question(question, at + 1, of, style))?;
            match source.predict(question, style)? {
                None | Some(Said::Quit) => break,
                Some(Said::Skip | Said::Hint) => score.add(Turn::Skipped),
                Some(Said::Number(predicted)) => {
                    let revealed = question.reveal().map_err(Failure::new)?;
                    output::print(&show::answer(question, predicted, &revealed, style))?;
                    let met = question.is_met(predicted, revealed.answer);
                    score.add(if met { Turn::Right } else { Turn::Wrong });
                    if at + 1 < of && !source.goes_on(&show::pause(predicted, &revealed))? {
                        break;
                    }
                }
            }
        }
        output::print(&show::score(&score, of, style))?;
        Ok(if score.is_clean() { Exit::Ok } else { Exit::ExpectationFailed })
    }
}

/// Parses `--answers`.
fn given(answers: &[String], questions: &[Question<'_>]) -> Result<Vec<Said>, Failure> {
    if answers.len() != questions.len() {
        let names: Vec<&str> = questions.iter().map(|question| question.name.as_str()).collect();
        return Err(Failure::new(format!(
            "--answers has {} for {} question{} ({})\n\
             help: give one number each, in this order; s skips a question",
            answers.len(),
            questions.len(),
            if questions.len() == 1 { "" } else { "s" },
            names.join(", ")
        )));
    }
    let one = |answer: &String| match Said::read(answer) {
        Ok(said @ (Said::Number(_) | Said::Skip)) => Ok(said),
        _ => Err(Failure::new(format!(
            "--answers: expected a number or s, found `{}`",
            answer.trim()
        ))),
    };
    answers.iter().map(one).collect()
}

/// Source of the predictions.
enum Source {
    /// `--answers`.
    Given(std::vec::IntoIter<Said>),
    /// Standard input, one line each.
    Typed { terminal: bool },
}

impl Source {
    /// Reads the prediction for a question; `None` at the end of the input.
    fn predict(&mut self, question: &Question<'_>, style: Style) -> Result<Option<Said>, Failure> {
        match self {
            Source::Typed { terminal } => typed(*terminal, question, style),
            Source::Given(answers) => {
                let said = answers.next();
                let shown = if let Some(Said::Number(n)) = said {
                    n.to_string()
                } else {
                    "skipped".to_owned()
                };
                output::print(&format!("{}{shown}\n", show::PROMPT))?;
                Ok(said)
            }
        }
    }

    /// Waits for a key on a terminal after an answer; false if the user quits.
    fn goes_on(&self, prompt: &str) -> Result<bool, Failure> {
        if !matches!(self, Source::Typed { terminal: true }) {
            return Ok(true);
        }
        output::print(prompt)?;
        let line = read_line()?;
        Ok(line.is_some_and(|line| Said::read(&line) != Ok(Said::Quit)))
    }
}

/// Asks until a number is typed, or a word that ends the question.
fn typed(terminal: bool, question: &Question<'_>, style: Style) -> Result<Option<Said>, Failure> {
    for _ in 0..MOST_TRIES {
        output::print(show::PROMPT)?;
        let Some(line) = read_line()? else {
            output::print("\n")?;
            return Ok(None);
        };
        if !terminal {
            // A terminal echoes the input; elsewhere the output would lack it.
            let shown: String = line.trim().chars().filter(|c| !c.is_control()).take(60).collect();
            output::print(&format!("{shown}\n"))?;
        }
        match Said::read(&line) {
            Ok(Said::Hint) => output::print(&show::hint(question, style))?,
            Ok(said) => return Ok(Some(said)),
            Err(why) => output::print(&show::refused(&why, style))?,
        }
    }
    output::print("  no number found; question skipped\n")?;
    Ok(Some(Said::Skip))
}

/// Reads a line of standard input, `None` at its end. Cuts lines longer than any answer.
fn read_line() -> Result<Option<String>, Failure> {
    let mut bytes = Vec::new();
    let mut input = std::io::stdin().lock();
    let read = input.by_ref().take(MOST_LINE).read_until(b'\n', &mut bytes);
    match read {
        Ok(0) => Ok(None),
        Ok(_) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(e) => Err(Failure::new(format!("cannot read standard input: {e}"))),
    }
}
