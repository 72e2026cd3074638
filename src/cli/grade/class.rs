//! Submissions of a class: measured here, or in the shares of a job array.

use std::fs;
use std::path::PathBuf;

use simt_teach::grade::{Graded, Record};
use simt_teach::results::{Line, Results};
use simt_teach::sweep::fingerprint;

use super::super::args::GradeArgs;
use super::super::array::Share;
use super::super::{Failure, output, results};
use super::Class;
use super::files::Handed;

/// A submission of the class.
struct Member {
    name: String,
    handed: Result<Handed, String>,
    /// Fingerprint of everything that determines its measurements.
    inputs: String,
}

impl Member {
    fn new(class: &Class<'_>, (name, path): (String, PathBuf)) -> Member {
        let spec = &class.assignment.spec;
        let handed = Handed::find(&path, &spec.limits, false);
        let text = match &handed {
            Ok(handed) => {
                fs::read(&handed.kernel).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            }
            Err(why) => Ok(why.clone()),
        };
        let parts = [
            env!("CARGO_PKG_VERSION"),
            &format!("{spec:?}"),
            &class.assignment.reference.text,
            &format!("{:?}", class.run_limits),
            &text.unwrap_or_else(|e| e.to_string()),
        ];
        Member { inputs: fingerprint(parts), name, handed }
    }

    fn measure(&self, class: &Class<'_>) -> Record {
        Record {
            schema: Record::SCHEMA.to_owned(),
            submission: self.name.clone(),
            inputs: self.inputs.clone(),
            measured: class.own(&self.handed),
        }
    }
}

/// Grades the submissions of this process's share; returns `None` if another process reports them.
pub(super) fn grades(
    class: &Class<'_>,
    args: &GradeArgs,
    share: &Share<'_>,
    found: Vec<(String, PathBuf)>,
) -> Result<Option<Vec<Graded>>, Failure> {
    let shard = match share {
        Share::Task(shard, _) => Some(*shard),
        _ => args.shard,
    };
    let mine = |&(i, _): &(usize, _)| shard.is_none_or(|shard| shard.takes(i));
    let members: Vec<Member> = found
        .into_iter()
        .enumerate()
        .filter(mine)
        .map(|(_, found)| Member::new(class, found))
        .collect();
    let out = match share {
        Share::Task(_, part) => Some(part.clone()),
        Share::Gather(parts) => Some(args.results.clone().unwrap_or_else(|| parts.results())),
        _ => args.results.clone(),
    };
    let merged = match share {
        Share::Gather(parts) => Some(parts.files()),
        _ => Some(args.merge.clone()).filter(|files| !files.is_empty()),
    };
    let mut all: Results<Record> = match &merged {
        Some(files) => results::together(files)?,
        None => results::resume(out.as_deref())?,
    };
    let lacking: Vec<usize> = (0..members.len())
        .filter(|&i| members.get(i).is_some_and(|member| find(&all, member).is_none()))
        .collect();
    match (share, merged) {
        (Share::Gather(parts), _) => parts.complete(&lacking, "submissions")?,
        (_, Some(_)) if !lacking.is_empty() => {
            return Err(Failure::new(format!(
                "{} of {} submissions are missing, or have changed since",
                lacking.len(),
                members.len()
            )));
        }
        (_, Some(_)) => {}
        (_, None) => {
            if lacking.len() < members.len() {
                output::error(&format!(
                    "note: {} of {} submissions are measured already\n",
                    members.len() - lacking.len(),
                    members.len()
                ));
            }
            let todo: Vec<&Member> = lacking.iter().filter_map(|&i| members.get(i)).collect();
            let measure = |member: &&Member| member.measure(class);
            results::record(out.as_deref(), &mut all, (args.jobs, &todo), measure)?;
        }
    }
    if let (Some(out), true) = (&out, lacking.is_empty()) {
        output::write_file(out, all.text().as_bytes())?;
    }
    if matches!(share, Share::Task(..)) {
        return Ok(None);
    }
    let graded = |member: &Member| {
        let record = all.find_by(|record| record.submission.cmp(&member.name))?;
        Some(class.graded_for(&record.measured, &member.handed, &member.name, class.reader))
    };
    Ok(Some(members.iter().filter_map(graded).collect()))
}

/// Finds the measurements of a submission as it is now; the grader's own failures count as none.
fn find<'a>(all: &'a Results<Record>, member: &Member) -> Option<&'a Record> {
    all.find_by(|record| record.submission.cmp(&member.name))
        .filter(|record| record.inputs == member.inputs && !record.is_error())
}
