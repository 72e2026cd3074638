//! `simt-sim grade`: submissions against an assignment.
//!
//! Each submission is measured in its own process (`child`), so it cannot affect others or the
//! report.

mod child;
mod class;
mod files;
mod nvcc;

use std::path::{Path, PathBuf};

use simt_teach::grade::{self, Assignment, Failed, Graded, Measured, Reader, RunLimit, show};

use super::args::{GradeArgs, GradeFormat};
use super::array::{Array, Need, Share};
use super::{Exit, Failure, output};
use files::Handed;
pub(super) use files::assignment as read_assignment;

/// Grades one submission or a folder of them.
pub(crate) fn grade(args: &GradeArgs) -> Result<Exit, Failure> {
    let folder = &args.assignment;
    let assignment = files::assignment(folder)?;
    if let (Some(limits), Some(file)) = (&args.measure, &args.submission) {
        return child::measure(folder, &assignment, file, limits);
    }
    if args.list {
        return output::print(&list(&assignment)).map(|()| Exit::Ok);
    }
    if let Some(id) = &args.only {
        known(&assignment, id)?;
    }
    if args.array.slurm.is_some() && args.all.is_none() {
        return Err(Failure::new("--slurm is for a class\nhelp: name its folder with --all"));
    }
    // A wrong argument; in a class, such a submission has no points.
    if let (None, Some(path)) = (&args.all, &args.submission)
        && let Err(why) = std::fs::symlink_metadata(path)
    {
        return Err(Failure::new(format!("cannot read `{}`: {why}", path.display())));
    }
    let reader = if args.show_hidden { Reader::Lecturer } else { Reader::Student };
    let class = Class::new(folder, &assignment, reader)?;
    match (&args.all, &args.submission) {
        (Some(all), _) => class.all(args, all),
        (None, Some(path)) => class.one(args, path),
        (None, None) => Err(Failure::new(
            "nothing to grade\nhelp: name a submission, or a folder of submissions with --all",
        )),
    }
}

/// An assignment with the measured figures of its reference and baseline.
struct Class<'a> {
    folder: &'a Path,
    assignment: &'a Assignment,
    reference: Measured,
    baseline: Measured,
    /// Limits of each run.
    run_limits: Vec<RunLimit>,
    reader: Reader,
}

impl<'a> Class<'a> {
    fn new(
        folder: &'a Path,
        assignment: &'a Assignment,
        reader: Reader,
    ) -> Result<Class<'a>, Failure> {
        let spec = &assignment.spec;
        // With a clock: the reference's cycles limit those of submissions.
        let timed = RunLimit { cycles: spec.limits.cycles, issues: 0 };
        let most = vec![timed; assignment.runs.len()];
        let of = |what: &str, file: &str| {
            let measured = child::run(folder, &folder.join(file), assignment, &most)
                .map_err(|failed| failed.text());
            match measured.map(|measured| (measured.refused.clone(), measured)) {
                Ok((None, measured)) => Ok(measured),
                Ok((Some(why), _)) | Err(why) => {
                    Err(Failure::new(format!("the assignment's {what} `{file}`: {why}")))
                }
            }
        };
        let baseline = spec.baseline.as_ref().unwrap_or(&spec.starter);
        let (reference, baseline) =
            rayon::join(|| of("reference", &spec.reference), || of("baseline", baseline));
        let (reference, baseline) = (reference?, baseline?);
        if let Some((run, ran)) = reference.runs.iter().enumerate().find(|(_, ran)| !ran.passed) {
            let why = ran
                .message
                .as_ref()
                .or(ran.details.first())
                .cloned()
                .unwrap_or_else(|| ran.finish.clone());
            let at = assignment.run_name(run);
            if assignment.is_hidden(run) && reader == Reader::Student {
                return Err(Failure::new(format!(
                    "the assignment's own reference is wrong: {at} (a hidden input)\n\
                     help: add --show-hidden for the reason"
                )));
            }
            return Err(Failure::new(format!(
                "the assignment's own reference is wrong: {at}: {why}"
            )));
        }
        let limits = &spec.limits;
        let times = |figure: u64| figure.max(1000).saturating_mul(limits.times_reference);
        let limit = |ran: &grade::Ran| RunLimit {
            cycles: times(ran.cycles).min(limits.cycles),
            issues: times(ran.issues),
        };
        let run_limits = reference.runs.iter().map(limit).collect();
        Ok(Class { folder, assignment, reference, baseline, run_limits, reader })
    }

    fn own(&self, handed: &Result<Handed, String>) -> Result<Measured, Failed> {
        match handed {
            Ok(handed) => {
                child::run(self.folder, &handed.kernel, self.assignment, &self.run_limits)
            }
            Err(why) => Err(Failed::Refused(why.clone())),
        }
    }

    fn graded_for(
        &self,
        own: &Result<Measured, Failed>,
        handed: &Result<Handed, String>,
        name: &str,
        reader: Reader,
    ) -> Graded {
        let (answers, notes) = match handed {
            Ok(handed) => handed.answers(self.assignment),
            Err(_) => Default::default(),
        };
        let compared = (&self.reference, &self.baseline);
        let mut graded = grade::judge(self.assignment, name, own, compared, &answers, reader);
        graded.notes.extend(notes);
        graded
    }

    fn one(&self, args: &GradeArgs, path: &Path) -> Result<Exit, Failure> {
        let handed = Handed::find(path, &self.assignment.spec.limits, true);
        let name = path
            .file_name()
            .map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned());
        let own = self.own(&handed);
        let graded = |reader| {
            let mut graded = self.graded_for(&own, &handed, &name, reader);
            if let Some(id) = &args.only {
                graded.criteria.retain(|mark| mark.id == *id);
                graded.score = graded.criteria.iter().map(|mark| mark.points).sum();
                graded.max = graded.criteria.iter().map(|mark| mark.max).sum();
                graded.failed =
                    graded.failed.filter(|_| !graded.criteria.iter().all(grade::Mark::is_full));
            }
            graded
        };
        let shown = graded(self.reader);
        let file = args.output.as_deref();
        let text = match args.format {
            GradeFormat::Text => show::terminal(&shown, args.only.as_deref(), output::style(file)),
            GradeFormat::Csv => show::csv(std::slice::from_ref(&shown)),
            GradeFormat::Json => shown.to_json().map_err(Failure::new)?,
            // Students and staff read the same document, with different parts visible.
            GradeFormat::Gradescope => show::gradescope(
                &graded(Reader::Student),
                Some(&shown).filter(|_| args.show_hidden),
            ),
            GradeFormat::Classroom => show::classroom(&shown),
            GradeFormat::Junit => show::junit(std::slice::from_ref(&shown)),
            GradeFormat::Md => show::markdown(&shown),
        };
        output::deliver(file, &text)?;
        // These services need the document also when points are missing.
        let document = matches!(args.format, GradeFormat::Gradescope | GradeFormat::Classroom);
        let fine = shown.is_full() || document && args.only.is_none();
        Ok(if fine { Exit::Ok } else { Exit::ExpectationFailed })
    }

    fn all(&self, args: &GradeArgs, folder: &Path) -> Result<Exit, Failure> {
        let (found, others) = files::submissions(folder)?;
        for name in others {
            output::error(&format!(
                "note: `{name}` was not graded: expected an .ir, .ptx or .cu file, its \
                 answers (NAME.answers.ron), or a folder\n"
            ));
        }
        let share = args.array.share()?;
        if let Share::Write(at) = share {
            return self.write(args, at, &found);
        }
        let Some(grades) = class::grades(self, args, &share, found)? else { return Ok(Exit::Ok) };
        let text = match args.format {
            GradeFormat::Text => grades.iter().map(show::line).collect(),
            GradeFormat::Csv => show::csv(&grades),
            GradeFormat::Json => {
                serde_json::to_string_pretty(&grades).map_err(Failure::new)? + "\n"
            }
            GradeFormat::Junit => show::junit(&grades),
            GradeFormat::Md => grades.iter().map(show::markdown).collect(),
            GradeFormat::Gradescope | GradeFormat::Classroom => {
                return Err(Failure::new(
                    "this --format is for one submission\nhelp: use --format csv for a whole class",
                ));
            }
        };
        output::deliver(args.output.as_deref(), &text)?;
        Ok(Exit::Ok)
    }
}

impl Class<'_> {
    /// Writes the scripts of a job array. A submission has limits, so the resources are no guess.
    fn write(
        &self,
        args: &GradeArgs,
        folder: &Path,
        found: &[(String, PathBuf)],
    ) -> Result<Exit, Failure> {
        let limits = &self.assignment.spec.limits;
        let cuda = found.iter().any(|(_, path)| {
            Handed::find(path, limits, false)
                .is_ok_and(|h| h.kernel.extension().is_some_and(|e| e == "cu"))
        });
        let compiler = if cuda { nvcc::MEMORY } else { 0 };
        // The limit of the process and half of it for nvcc; reference and baseline run, too.
        let seconds = limits.seconds.saturating_mul(3).div_ceil(2);
        let need = Need {
            bytes: limits.memory_mib.saturating_add(compiler).saturating_mul(1 << 20),
            seconds,
            start_seconds: seconds.saturating_mul(2),
        };
        let array = Array {
            folder,
            tasks: args.array.tasks,
            runs: found.len(),
            what: "submissions",
            jobs: args.jobs,
            need,
        };
        output::print(&array.write()?).map(|()| Exit::Ok)
    }
}

fn known(assignment: &Assignment, id: &str) -> Result<(), Failure> {
    let ids: Vec<&str> =
        assignment.spec.criteria.iter().map(|criterion| criterion.id.as_str()).collect();
    if ids.contains(&id) {
        return Ok(());
    }
    Err(Failure::new(format!(
        "--only {id}: no such criterion\nhelp: choose one of {}",
        ids.join(", ")
    )))
}

fn list(assignment: &Assignment) -> String {
    let spec = &assignment.spec;
    let total: f64 = spec.criteria.iter().map(|criterion| criterion.points).sum();
    let each =
        spec.criteria.iter().map(|c| format!("  {:<16} {:>5}  {}\n", c.id, c.points, c.title));
    format!("{}: {total} points\n{}", spec.title, each.collect::<String>())
}
