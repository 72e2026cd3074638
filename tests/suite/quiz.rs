//! `simt-sim quiz`: every answer against a rule that counts threads by brute force, no answer shown
//! before a prediction, and input by people and scripts.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use simt_report::Style;
use simt_report::explain;
use simt_teach::ask;
use simt_teach::quiz::{self, Dice, Question, Said, TOPICS, show};

use super::cli::{good, refused};

const REDUCTION: &str = "programs/assignments/fix-the-reduction";

/// Runs a quiz with this standard input; returns the exit code and the output.
fn typed(arguments: &[&str], input: &str) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simt-sim"));
    command
        .arg("quiz")
        .args(arguments)
        .env("COLUMNS", "80")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the binary starts");
    // An ended quiz reads no more.
    let _ = child.stdin.take().expect("an input").write_all(input.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().expect("the binary ends");
    let (out, err) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(err.is_empty(), "{arguments:?} {input:?}: {err}");
    (status.code().expect("no signal"), out.into_owned())
}

/// Returns, for warps of 32 consecutive threads in blocks of `block`, the number of threads where a
/// condition holds and the number of threads; `threads` in all.
fn warps(threads: u64, block: u64, holds: impl Fn(u64, u64) -> bool) -> Vec<(u64, u64)> {
    let mut warps = Vec::new();
    for first in (0..threads).step_by(block as usize) {
        for warp in (0..block).step_by(32) {
            let lanes = block.min(warp + 32) - warp;
            let held = (warp..warp + lanes).filter(|&t| holds(first / block, t)).count() as u64;
            warps.push((held, lanes));
        }
    }
    warps
}

fn mixed(warps: &[(u64, u64)]) -> u64 {
    warps.iter().filter(|(held, lanes)| 0 < *held && held < lanes).count() as u64
}

/// Returns the correct answer to a drawn question, from its numbers alone.
fn rule(question: &Question<'_>) -> u64 {
    let of = |name: &str| {
        question.drawn.get(name).copied().unwrap_or_else(|| panic!("{}: no {name}", question.name))
    };
    let splits = question.text.contains("split") || question.text.contains("diverge");
    match question.name.as_str() {
        "ragged-end" => {
            let (n, block) = (of("n"), of("block"));
            let warps = warps(n.next_multiple_of(block), block, |b, t| b * block + t < n);
            if splits {
                mixed(&warps)
            } else {
                warps.iter().filter(|(inside, _)| *inside > 0).count() as u64
            }
        }
        "picture-warps" => {
            let (width, height) = (of("width"), of("height"));
            let across = width.div_ceil(16);
            let inside = |b: u64, t: u64| {
                b % across * 16 + t % 16 < width && b / across * 16 + t / 16 < height
            };
            mixed(&warps(across * height.div_ceil(16) * 256, 256, inside))
        }
        "warp-aligned" => {
            let block = of("block");
            mixed(&warps(of("blocks") * block, block, |b, t| {
                (b * block + t) % of("period") < of("heavy")
            }))
        }
        "uniform-loop" => {
            let trips =
                |warp: u64| -> Vec<u64> { (warp..warp + 32).map(|t| t / of("by") + 1).collect() };
            let different = |mut trips: Vec<u64>| {
                trips.dedup();
                trips.len() as u64
            };
            let warps = (0..of("block")).step_by(32).map(trips);
            if splits {
                warps.map(|trips| different(trips) - 1).sum()
            } else {
                warps.map(|trips| trips.into_iter().max().unwrap_or(0)).sum()
            }
        }
        "k-paths" => of("k") * of("steps") / 8,
        "same-path" => match (of("low").min(of("lanes")), of("lanes")) {
            (0, _) => 2 + 5 + 1,
            (taken, all) if taken == all => 2 + 4 + 1,
            _ => 2 + 5 + 4 + 1,
        },
        "early-return" => match of("stay") {
            0 => 3,
            32 => 2 + 5,
            _ => 3 + 5,
        },
        "reductions" => {
            let block = of("block");
            let steps = (0..block.ilog2()).map(|step| 1 << step);
            let adds = |stride: u64, t: u64| match &question.text {
                text if text.contains("t % (2 * stride)") => t.is_multiple_of(2 * stride),
                text if text.contains("2 * stride * t") => 2 * stride * t < block,
                _ => t < block / (2 * stride), // its strides come in the other order
            };
            steps.map(|stride| mixed(&warps(block, block, |_, t| adds(stride, t)))).sum()
        }
        "coalescing" => {
            let sectors = (0..32).map(|lane| (of("offset") + of("stride") * lane) / 8);
            sectors.collect::<std::collections::BTreeSet<_>>().len() as u64
        }
        "bank-conflicts" => {
            let words: std::collections::BTreeSet<u64> =
                (0..32).map(|lane| of("stride") * lane).collect();
            (0..32)
                .map(|bank| words.iter().filter(|&&word| word % 32 == bank).count() as u64)
                .max()
                .unwrap_or(0)
        }
        // 64 warps, 2,048 threads, 32 blocks: compute capability 9.0 in the CUDA programming guide.
        "occupancy" => (64 / of("block").div_ceil(32)).min(2048 / of("block")).min(32),
        other => panic!("no rule for {other}"),
    }
}

#[test]
fn drawn_questions_are_answered_as_their_rules_say() {
    let mut answers = std::collections::BTreeMap::<&str, Vec<u64>>::new();
    for topic in TOPICS.iter().filter(|topic| topic.questions().is_none()) {
        let questions = topic.draw(16, &mut Dice::new(11));
        assert!(questions.len() >= 12, "{} draws only {}", topic.name, questions.len());
        for question in questions {
            let revealed = question.reveal().unwrap_or_else(|e| panic!("{}: {e}", question.text));
            let wanted = rule(&question);
            assert!(
                question.is_met(wanted as f64, revealed.answer),
                "{}\n{wanted}: {revealed:#?}",
                question.text
            );
            assert!(!question.is_met(wanted as f64 + 1.0, revealed.answer), "{}", question.text);
            answers.entry(topic.name).or_default().push(wanted);
        }
    }
    for (topic, mut answers) in answers {
        answers.sort_unstable();
        answers.dedup();
        assert!(answers.len() >= 2, "{topic} is always {answers:?}");
    }
}

#[test]
fn questions_on_experiments_have_the_answers_that_can_be_thought_out() {
    for (topic, wanted) in [
        ("predication", &[0.0][..]),
        ("trip-counts", &[31.0, 50.0]),
        ("break", &[7.0]),         // k = 0 .. 6: 6 * 6 > 31
        ("nested", &[4.0]),        // fall-through first, depth first
        ("stack-example", &[4.0]), // one, and one more for each if
        ("switch", &[3.0]),        // 8 of 32, 8 of 24, 8 of 16
        ("return-in-nested-if", &[1.0]),
        ("spin-lock", &[0.0, 31.0]),
        ("barrier-after-return", &[32.0]),
        ("shuffle-after-exit", &[16.0]),
        ("memory-both-sides", &[8.0]),
        ("latency-hiding", &[400.0 * 2.0 / 9.0]),
        ("divergent-latency", &[2.0 * 10_500.0]),
    ] {
        let topic = quiz::find(topic).unwrap_or_else(|| panic!("no topic {topic}"));
        let questions = topic.draw(100, &mut Dice::new(1));
        assert_eq!(questions.len(), wanted.len(), "{}", topic.name);
        assert_eq!(topic.questions(), Some(wanted.len()), "{}", topic.name);
        for (question, &wanted) in questions.iter().zip(wanted) {
            let revealed = question.reveal().unwrap_or_else(|e| panic!("{}: {e}", question.text));
            assert!(question.is_met(wanted, revealed.answer), "{}: {revealed:#?}", question.text);
        }
    }
    assert_eq!(TOPICS.iter().filter(|topic| topic.questions().is_some()).count(), 13);
}

#[test]
fn every_question_fits_its_page_and_leads_on() {
    for topic in TOPICS {
        assert!(ask::find(topic.name).is_some(), "`simt-sim ask {}` goes on", topic.name);
        for question in topic.draw(2, &mut Dice::new(5)) {
            assert!(!question.hint.is_empty(), "{}", question.text);
            let revealed = question.reveal().unwrap_or_else(|e| panic!("{}: {e}", question.text));
            for command in &revealed.read_on {
                let words: Vec<&str> = command.split_whitespace().skip(1).collect();
                match words.as_slice() {
                    ["explain", name] => assert!(explain::find(name).is_some(), "{command}"),
                    ["ask", name] => assert!(ask::find(name).is_some(), "{command}"),
                    ["run", ..] => drop(good(&words)),
                    _ => panic!("{command}"),
                }
            }
            for width in [72, 80, 100] {
                let style = Style { width, color: false };
                let asked = show::question(&question, 1, 1, style);
                // The question, its lines and the prompt fit on a small terminal.
                assert!(asked.lines().count() < 24, "{asked}");
                let told = [1.5, revealed.answer]
                    .map(|said| show::answer(&question, said, &revealed, style))
                    .concat();
                for line in
                    asked.lines().chain(told.lines()).filter(|line| !line.contains("simt-sim "))
                {
                    assert!(line.chars().count() <= width, "{width}: {line}");
                }
            }
        }
    }
}

#[test]
fn a_wrong_prediction_is_told_what_it_is() {
    // 2000 = 62 * 32 + 16, in 4 blocks of 16 warps.
    let question = (0..4000)
        .map(|seed| (quiz::find("picture-warps").expect("a topic")).draw(1, &mut Dice::new(seed)));
    let question = question
        .flatten()
        .find(|q| q.drawn["width"] % 16 != 0 && q.drawn["height"] % 16 != 0)
        .expect("one");
    let revealed = question.reveal().expect("an answer");
    let (across, down) =
        (question.drawn["width"].div_ceil(16), question.drawn["height"].div_ceil(16));
    let all = (across * down * 8) as f64;
    assert_eq!(revealed.mistaken_for(all), Some("the number of warps launched"));
    assert_eq!(revealed.mistaken_for(revealed.answer), None);
    assert_eq!(revealed.mistaken_for(-1.0), None);
    let told = show::answer(&question, all, &revealed, Style { width: 100, color: false });
    assert!(told.contains("is the number of warps launched."), "{told}");
}

#[test]
fn what_is_typed_is_understood_or_asked_for_again() {
    for (line, wanted) in [
        ("12", Some(Said::Number(12.0))),
        (" 1,024 \n", Some(Said::Number(1024.0))),
        ("15,200.5", Some(Said::Number(15200.5))),
        ("37.5 %", Some(Said::Number(37.5))),
        ("-3", Some(Said::Number(-3.0))),
        ("1e3", Some(Said::Number(1000.0))),
        ("H", Some(Said::Hint)),
        ("skip", Some(Said::Skip)),
        ("q", Some(Said::Quit)),
        ("", None),
        ("1,5", None),
        ("10,24", None),
        ("twelve", None),
        ("inf", None),
        ("NaN", None),
        ("1e999", None),
        ("5 or 6", None),
        ("\u{1b}[2J", None),
    ] {
        match (Said::read(line), wanted) {
            (Ok(said), Some(wanted)) => assert_eq!(said, wanted, "{line}"),
            (Err(why), None) => assert!(
                !why.contains('\u{1b}') && why.contains("expected a number"),
                "{line}: {why}"
            ),
            (said, wanted) => panic!("{line:?}: {said:?} instead of {wanted:?}"),
        }
    }
}

#[test]
fn nothing_is_told_before_it_is_predicted() {
    let told = ["measured", "right:", "wrong:", "see also"];
    for arguments in [&["ragged-end"][..], &["spin-lock"], &[REDUCTION], &["--seed", "9"]] {
        for (input, asked, code) in [
            ("", "0 of 0 right", 0),
            ("h\nwhat?\nq\n", "0 of 0 right", 0),
            ("s\n", "0 of 1 right, 1 skipped", 1),
        ] {
            let (exit, out) = typed(arguments, input);
            assert!(out.contains("your prediction: ") && out.contains(asked), "{out}");
            // The welcome line explains the use.
            let after = out.split_once("\n1 of ").expect("a question").1;
            assert!(
                told.iter().all(|word| !after.contains(word)),
                "{arguments:?} {input:?}: {out}"
            );
            assert_eq!(exit, code, "{arguments:?} {input:?}: {out}");
            assert_eq!(out.contains("hint: "), input.contains('h'), "{out}");
        }
    }
}

#[test]
fn predictions_come_from_arguments_or_lines_and_decide_the_exit_code() {
    let right = typed(&[REDUCTION], "ninety-five\n95\n");
    assert_eq!(right.0, 0, "{}", right.1);
    assert!(
        right.1.contains("found `ninety-five`") && right.1.contains("1 of 1 right"),
        "{}",
        right.1
    );
    for (answer, code, words) in [
        ("95", 0, "right: predicted 95, measured 95"),
        (
            "144",
            1,
            "144 is the number of times line 49 (`@!%p bra Next;`) was executed in block 0.",
        ),
        ("94", 1, "That is 1 too low."),
        ("s", 1, "0 of 1 right, 1 skipped"),
    ] {
        let (exit, out) = typed(&[REDUCTION, "--answers", answer], "");
        assert_eq!(exit, code, "{out}");
        assert!(
            out.split_whitespace().collect::<Vec<_>>().join(" ").contains(words),
            "{answer}: {out}"
        );
    }
    let (_, out) = typed(&["trip-counts", "--answers", "31,49.5"], "");
    assert!(
        out.contains("right: predicted 49.50, measured 50 (within 1)")
            && out.contains("2 of 2 right"),
        "{out}"
    );
    // Input without any number also ends.
    let (exit, out) = typed(&["trip-counts"], &"yes\n".repeat(1000));
    assert!(exit == 1 && out.contains("0 of 2 right, 2 skipped"), "{out}");
    let (exit, _) = typed(&["predication"], &"9".repeat(100_000));
    assert_eq!(exit, 1);
}

#[test]
fn the_same_seed_asks_the_same() {
    let ask = |arguments: &[&str]| {
        typed(arguments, "").1.lines().find(|line| line.starts_with("1 of 5")).map(str::to_owned)
    };
    let first = ask(&[]);
    assert_eq!(first, ask(&["--seed", "1"]));
    assert!((2..9).any(|seed| ask(&["--seed", &seed.to_string()]) != first));
    let questions = quiz::mixed(60, &mut Dice::new(3));
    assert_eq!(questions.len(), 60);
    for topic in TOPICS {
        assert!(questions.iter().any(|question| question.name == topic.name), "{}", topic.name);
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    for (arguments, words) in [
        (&["quiz", "raged-end"][..], &["no topic", "did you mean `ragged-end`?"][..]),
        (&["quiz", "programs/nowhere"], &["no topic or folder", "--list"]),
        (&["quiz", "programs/small"], &["assignment.ron"]),
        (&["quiz", REDUCTION, "--answers", "95,1"], &["2 for 1 question", "predicted"]),
        (&["quiz", REDUCTION, "--answers", ""], &["expected a number or s"]),
        (&["quiz", REDUCTION, "--answers", "q"], &["expected a number or s, found `q`"]),
        (&["quiz", REDUCTION, "--seed", "3"], &["the questions of an assignment are fixed"]),
        (&["quiz", "--answers", "1,2,3"], &["3 for 5 questions"]),
        (&["quiz", "--count", "0"], &["1 to 100"]),
        (&["quiz", "--count", "101"], &["1 to 100"]),
    ] {
        refused(arguments, words);
    }
    let list = good(&["quiz", "--list"]);
    assert!(TOPICS.iter().all(|topic| list.contains(topic.name)), "{list}");
}

#[test]
fn an_assignment_of_the_course_can_be_asked() {
    assignments_can_be_asked(1);
}

#[test]
#[ignore = "long: grades a class of each assignment"]
fn long_every_assignment_of_the_course_can_be_asked() {
    assignments_can_be_asked(usize::MAX);
}

fn assignments_can_be_asked(most: usize) {
    let (mut asked, mut asked_of) = (0, 0);
    let mut folders: Vec<_> = std::fs::read_dir("programs/assignments")
        .expect("assignments")
        .flatten()
        .map(|e| e.path())
        .collect();
    folders.sort();
    for folder in folders {
        let answers = folder.join("reference.answers.ron");
        let ron = std::fs::read_to_string(folder.join("assignment.ron")).expect("an assignment");
        if !ron.contains("Question(") || asked_of == most {
            continue;
        }
        asked_of += 1;
        let answers: std::collections::BTreeMap<String, f64> =
            ron::from_str(&std::fs::read_to_string(&answers).expect("answers")).expect("answers");
        let folder = folder.display().to_string();
        // In the order of the criteria; hidden ones are not asked.
        let mut ids: Vec<(usize, &String)> =
            answers.keys().map(|id| (ron.find(&format!("\"{id}\"")).unwrap_or(0), id)).collect();
        ids.sort_unstable();
        let given: Vec<String> = ids.iter().map(|(_, id)| answers[*id].to_string()).collect();
        let (exit, out) = typed(&[&folder, "--answers", &given.join(",")], "");
        assert_eq!(exit, 0, "{folder}: {out}");
        asked += given.len();
        for line in lines_of_the_reference_alone(Path::new(&folder)) {
            assert!(!out.contains(&line), "{folder} tells `{line}` of the reference\n{out}");
        }
    }
    assert!(asked > 0);
}

/// Returns the instructions of a reference that its starter lacks, with single blanks.
fn lines_of_the_reference_alone(folder: &Path) -> Vec<String> {
    let code = |file: &str| -> Vec<String> {
        let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
        let plain = |line: &str| {
            line.split("//").next().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ")
        };
        text.lines().map(plain).filter(|line| line.len() > 8).collect()
    };
    let starter = code("starter.ir");
    code("reference.ir").into_iter().filter(|line| !starter.contains(line)).collect()
}
