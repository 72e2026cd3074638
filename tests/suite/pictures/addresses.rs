//! Pictures of addresses, banks and sectors, compared with what the memory system counted.

use simt_core::Job;
use simt_core::divergence::SideOrder;
use simt_core::launch::Overrides;
use simt_core::observe::{MemoryKind, Window};
use simt_core::spec::Mode;
use simt_report::plot::{self, Focus, View};
use simt_report::simulate::record;
use simt_report::timeline::{Axis, Recording};

use super::{LIMIT, everything, number, read, recorded, rows};
use crate::support::{MODES, launch, machine, options, programs};

/// Records a program with one constant set as by `--set`.
fn with(path: &str, name: &str, value: &str) -> Recording {
    let program = read(path);
    let spec = machine("h200");
    let set = Overrides { set: vec![(name.to_owned(), value.to_owned())], ..Overrides::default() };
    let (kernel, launch) = launch(&program, &set).expect("a launch");
    let options = options(Mode::Volta, SideOrder::Fewer, LIMIT);
    record(&Job::new(&program, kernel, launch, &spec, options), &everything(0..1))
        .expect("a block that fits")
}

/// 32 words `stride` apart map to 32 / gcd(stride, 32) banks: gcd words in each, one wavefront per
/// word.
#[test]
fn a_stride_in_shared_memory_takes_as_many_wavefronts_as_it_shares_with_the_banks() {
    for (stride, wavefronts) in
        [(1, 1), (2, 2), (3, 1), (4, 4), (6, 2), (8, 8), (16, 16), (32, 32), (33, 1)]
    {
        let recording = with("programs/small/shared_conflicts.ir", "stride", &stride.to_string());
        let table = plot::data(View::Banks, &recording, Axis::Issue);
        let rows = rows(&table);
        assert_eq!(rows.len(), 32, "a word for each lane");
        for row in &rows {
            let lane = number(row, "lane");
            assert_eq!(number(row, "bank"), lane * stride % 32, "stride {stride}");
            assert_eq!(number(row, "lanes_on_word"), 1);
        }
        assert_eq!(
            rows.iter().map(|row| number(row, "wavefront")).max(),
            Some(wavefronts),
            "stride {stride}"
        );
    }
}

/// Step s of the neighbored reduction: every 2^(s+1)-th lane loads a word. Until lanes are a sector
/// apart, all four sectors of the line are moved, then one per lane.
#[test]
fn the_neighbored_reduction_moves_ever_more_for_ever_less() {
    let recording = with("programs/reduce_neighbored.ir", "n", "1024");
    let loads: Vec<u64> = recording.timeline.strips()[0]
        .issues
        .iter()
        .filter(|issue| recording.line(issue.pc) == 66)
        .map(|issue| issue.number)
        .collect();
    assert_eq!(loads.len(), 9, "2^9 threads a block");
    for (step, &issue) in (0..).zip(&loads) {
        let focus = Focus { line: Some(66), issue: Some(issue), ..Focus::from(Axis::Issue) };
        let table = plot::data(View::Sectors, &recording, focus);
        let rows = rows(&table);
        let moved: Vec<_> = rows.iter().filter(|row| row["of"] == "sector").collect();
        let lanes = (32_u64 >> (step + 1)).max(1);
        assert_eq!(moved.len() as u64, lanes.min(4), "step {step}");
        assert_eq!(
            moved.iter().map(|row| number(row, "requested_bytes")).sum::<u64>(),
            4 * lanes,
            "step {step}"
        );
        assert_eq!(moved.iter().map(|row| number(row, "lanes")).sum::<u64>(), lanes, "step {step}");
        let found: u64 =
            rows.iter().filter(|row| row["of"] != "sector").map(|row| number(row, "sectors")).sum();
        assert_eq!(found, lanes.min(4), "step {step}: each sector was somewhere");
    }
    // The default is the worst access: step 2, four sectors for four lanes.
    let table = plot::data(View::Sectors, &recording, Axis::Issue);
    assert_eq!(number(&rows(&table)[0], "issue"), loads[2]);
}

#[test]
fn addresses_agree_with_what_the_memory_system_counted() {
    let (mut shared, mut global) = (0, 0);
    for path in programs("programs/small") {
        let program = read(path.to_str().expect("a name"));
        for mode in MODES {
            let recording = recorded(&program, mode, &Window { limit: 300, ..everything(0..1) });
            for issue in recording.timeline.strips().iter().flat_map(|strip| &strip.issues) {
                let Some(traffic) = issue.traffic else { continue };
                let place = format!("{} {} issue {}", program.name, mode.name(), issue.number);
                let line = Some(recording.line(issue.pc));
                let focus = Focus { line, issue: Some(issue.number), ..Focus::from(Axis::Issue) };
                match traffic.memory {
                    MemoryKind::Shared => {
                        let table = plot::data(View::Banks, &recording, focus);
                        let most = rows(&table).iter().map(|row| number(row, "wavefront")).max();
                        assert_eq!(most, Some(traffic.wavefronts.into()), "{place}");
                        shared += 1;
                    }
                    MemoryKind::Global | MemoryKind::Local => {
                        let table = plot::data(View::Sectors, &recording, focus);
                        let rows = rows(&table);
                        let moved: Vec<_> =
                            rows.iter().filter(|row| row["of"] == "sector").collect();
                        assert_eq!(moved.len() as u32, traffic.sectors, "{place}");
                        let asked: u64 =
                            moved.iter().map(|row| number(row, "requested_bytes")).sum();
                        assert!((1..=u64::from(traffic.requested)).contains(&asked), "{place}");
                        global += 1;
                    }
                    MemoryKind::Const | MemoryKind::Texture | MemoryKind::Surface => {}
                }
            }
        }
    }
    assert!(
        shared > 100 && global > 200,
        "{shared} shared and {global} global accesses were compared"
    );
}
