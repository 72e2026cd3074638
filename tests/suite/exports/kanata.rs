//! A strict reader of Kanata 0004 logs: tabs, known commands, declared rows, monotonic time, stages
//! that end where they began, every row retired once.

use std::collections::BTreeMap;

/// An instruction of a log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// Id in the simulator.
    pub(crate) number: u64,
    /// Thread.
    pub(crate) thread: u64,
    /// Left-hand text.
    pub(crate) label: String,
    /// Stages, in order of their start.
    pub(crate) stages: Vec<Stage>,
    /// Retirement time.
    pub(crate) retired: u64,
}

/// A stage of an instruction.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) lane: u64,
    pub(crate) name: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// Parses the rows of a log, by id.
pub(crate) fn parse(log: &str) -> Result<Vec<Row>, String> {
    let mut lines = log.lines().zip(1..);
    if lines.next().map(|(line, _)| line) != Some("Kanata\t0004") {
        return Err("the header is not Kanata 0004".to_owned());
    }
    let (mut now, mut rows, mut retirements) = (None, Vec::<Row>::new(), 0);
    let mut open: BTreeMap<(usize, u64), usize> = BTreeMap::new();
    let mut done: Vec<bool> = Vec::new();
    for (line, number) in lines {
        let fail = |what: &str| format!("line {number}: {what}: {line}");
        let cells: Vec<&str> = line.split('\t').collect();
        let value = |i: usize| {
            cells
                .get(i)
                .and_then(|c| c.parse::<u64>().ok())
                .ok_or_else(|| fail("a number is missing"))
        };
        let of_row = || -> Result<usize, String> {
            let id = value(1)? as usize;
            if done.get(id) == Some(&false) {
                Ok(id)
            } else {
                Err(fail("no such row, or it has retired"))
            }
        };
        let time = || now.ok_or_else(|| fail("no cycle was set"));
        match (cells[0], cells.len()) {
            ("C=", 2) if now.is_none() => now = Some(value(1)?),
            ("C", 2) if value(1)? > 0 => now = Some(time()? + value(1)?),
            ("I", 4) if value(1)? as usize == rows.len() => {
                rows.push(Row { number: value(2)?, thread: value(3)?, ..Row::default() });
                done.push(false);
            }
            ("L", 4) => {
                let row = &mut rows[of_row()?];
                match value(2)? {
                    0 => row.label += cells[3],
                    1 | 2 => {}
                    _ => return Err(fail("a label of no known type")),
                }
            }
            ("S", 4) => {
                let (id, lane, start) = (of_row()?, value(2)?, time()?);
                let stages = &mut rows[id].stages;
                if open.insert((id, lane), stages.len()).is_some() {
                    return Err(fail("the lane's last stage has not ended"));
                }
                stages.push(Stage { lane, name: cells[3].to_owned(), start, end: start });
            }
            ("E", 4) => {
                let (id, lane) = (of_row()?, value(2)?);
                let at = open.remove(&(id, lane)).ok_or_else(|| fail("nothing to end"))?;
                let stage = &mut rows[id].stages[at];
                if stage.name != cells[3] {
                    return Err(fail("another stage is open"));
                }
                stage.end = time()?;
            }
            ("R", 4) if value(2)? == retirements && value(3)? == 0 => {
                let id = of_row()?;
                if open.range((id, 0)..(id + 1, 0)).next().is_some() {
                    return Err(fail("a stage is still open"));
                }
                rows[id].retired = time()?;
                done[id] = true;
                retirements += 1;
            }
            _ => return Err(fail("not a command of the format")),
        }
    }
    match done.iter().position(|&done| !done) {
        Some(id) => Err(format!("row {id} never retires")),
        None => Ok(rows),
    }
}

#[test]
fn the_reader_reads_the_sample_of_the_format_and_refuses_others() {
    let sample = "Kanata\t0004\nC=\t216\nI\t0\t0\t0\nL\t0\t0\t12000d918 iBC(r17)\nS\t0\t0\tF\nC\t1\nE\t0\t0\tF\nS\t0\t0\tX\n\
C\t2\nE\t0\t0\tX\nR\t0\t0\t0\n";
    let rows = parse(sample).expect("a log");
    let stages: Vec<_> = rows[0].stages.iter().map(|s| (s.name.as_str(), s.start, s.end)).collect();
    assert_eq!(stages, [("F", 216, 217), ("X", 217, 219)]);
    assert_eq!((rows[0].label.as_str(), rows[0].retired), ("12000d918 iBC(r17)", 219));
    for (from, to) in [
        ("0004", "0003"),
        ("C\t2", "C\t0"),
        ("R\t0", "R\t1"),
        ("I\t0", "I\t1"),
        ("E\t0\t0\tX\n", ""),
        ("C=\t216\n", ""),
    ] {
        assert!(parse(&sample.replace(from, to)).is_err(), "{from}");
    }
}
