//! Small pictures: a branch in every warp, the sectors and banks of an access, warp slots of an SM.

use super::excerpt::plain;
use crate::ask::draw;
use crate::ask::lab::Watched;
use simt_core::observe::Issue;
use simt_report::Picture;

/// Sectors per line, nine columns each.
const SECTORS_A_LINE: usize = 8;
/// Banks of shared memory, four bytes wide, on every machine since Fermi.
const BANKS: u64 = 32;
/// Bytes of a sector, and of a word.
const SECTOR: u64 = 32;
const WORD: u64 = 4;

/// Draws the first execution of a line in each warp of the watched block. Consecutive identical
/// warps share a line.
pub(super) fn in_each_warp(
    title: impl Into<String>,
    watched: &Watched,
    part: &str,
    legend: &str,
) -> Picture {
    let mut rows: Vec<(u32, u32, String)> = Vec::new();
    for warp in watched.warps() {
        let row = match watched.of_warp(warp, part).next() {
            Some(issue) => {
                let states = issue.lane_states(watched.lanes());
                let letters: String = states.into_iter().map(|state| state.letter()).collect();
                format!("{letters}{}", if issue.diverges() { "  diverges" } else { "" })
            }
            None => "(not executed)".to_owned(),
        };
        match rows.last_mut() {
            Some((_, last, known)) if *known == row => *last = warp,
            _ => rows.push((warp, warp, row)),
        }
    }
    let name = |(first, last, row): (u32, u32, String)| match first == last {
        true => format!("warp {first:<8} {row}"),
        false => format!("warps {:<7} {row}", format!("{first}-{last}")),
    };
    let mut lines: Vec<String> = rows.into_iter().map(name).collect();
    lines.push(format!("[{legend}]"));
    Picture { title: title.into(), lines }
}

/// Finds the first memory access of a line by warp 0.
pub(super) fn access<'a>(watched: &'a Watched, part: &'a str) -> Option<&'a Issue> {
    watched.of_warp(0, part).find(|issue| issue.places.is_some())
}

/// Draws the issues of a warp, starting at the first line that contains `from`.
pub(super) fn in_order(
    title: impl Into<String>,
    watched: &Watched,
    warp: u32,
    from: &str,
) -> Picture {
    draw::lanes(title, watched, warp, &plain(from))
}

/// Draws the sectors that an access touches, word by word.
pub(super) fn sectors(title: impl Into<String>, access: &Issue) -> Picture {
    let words = words(access);
    let mut sectors: Vec<u64> = words.iter().map(|word| word * WORD / SECTOR).collect();
    sectors.sort_unstable();
    sectors.dedup();
    let sector = |&sector: &u64| -> String {
        let of = |word| if words.contains(&(sector * SECTOR / WORD + word)) { '#' } else { '.' };
        (0..SECTOR / WORD).map(of).collect()
    };
    let drawn: Vec<String> = sectors.iter().map(sector).collect();
    let mut lines: Vec<String> = drawn.chunks(SECTORS_A_LINE).map(|line| line.join("|")).collect();
    lines.push(
        "[one field per sector of eight words   # requested   . also transferred]".to_owned(),
    );
    Picture { title: title.into(), lines }
}

/// Draws the number of distinct words per shared-memory bank.
pub(super) fn banks(title: impl Into<String>, access: &Issue) -> Picture {
    let words = words(access);
    let of = |bank: u64| match words.iter().filter(|&&word| word % BANKS == bank).count() {
        0 => '.',
        n @ 1..=9 => char::from(b'0' + n as u8),
        _ => '+',
    };
    let lines = vec![
        "bank   0       8       16      24".to_owned(),
        format!("words  {}", (0..BANKS).map(of).collect::<String>()),
        "[distinct words requested per bank   . none   + ten or more]".to_owned(),
    ];
    Picture { title: title.into(), lines }
}

/// Distinct words that an access touches.
fn words(access: &Issue) -> Vec<u64> {
    let Some(places) = access.places.as_deref() else { return Vec::new() };
    let lanes =
        access.executed.lanes().filter_map(|lane| places.addresses.get(lane as usize).copied());
    let bytes = u64::from(places.bytes.max(1));
    let mut words: Vec<u64> = lanes.flat_map(|at| at / WORD..=(at + bytes - 1) / WORD).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Draws the warp slots of an SM, one letter per resident block.
pub(super) fn slots(
    title: impl Into<String>,
    slots: u32,
    blocks: u32,
    warps_a_block: u32,
) -> Picture {
    let letter = |slot: u32| match slot / warps_a_block.max(1) {
        block if block < blocks => char::from(b'a' + (block % 26) as u8),
        _ => '.',
    };
    let row: String = (0..slots).map(letter).collect();
    let legend = "[one character per warp slot, one letter per block   . empty]".to_owned();
    Picture { title: title.into(), lines: vec![row, legend] }
}
