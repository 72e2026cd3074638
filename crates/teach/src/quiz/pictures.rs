//! Small pictures of what a question was about: a branch in every warp, the sectors and banks of an access, an SM's warp slots.

use super::excerpt::plain;
use crate::ask::draw;
use crate::ask::lab::Watched;
use simt_core::observe::Issue;
use simt_report::Picture;

/// Sectors drawn beside each other: nine columns each.
const SECTORS_A_LINE: usize = 8;
/// Banks of shared memory, four bytes wide, on every machine since Fermi.
const BANKS: u64 = 32;
/// Bytes of a sector, and of the words read.
const SECTOR: u64 = 32;
const WORD: u64 = 4;

/// The first execution of a line in each warp of the block that was watched, lane by lane; warps that look alike stand together.
pub(super) fn in_each_warp(title: impl Into<String>, watched: &Watched, part: &str, legend: &str) -> Picture {
    let mut rows: Vec<(u32, u32, String)> = Vec::new();
    for warp in watched.warps() {
        let row = match watched.of_warp(warp, part).next() {
            Some(issue) => {
                let states = issue.lane_states(watched.lanes());
                let letters: String = states.into_iter().map(|state| state.letter()).collect();
                format!("{letters}{}", if issue.diverges() { "  diverges" } else { "" })
            }
            None => "(does not come here)".to_owned(),
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

/// The first execution of a line by warp 0 that went to memory.
pub(super) fn access<'a>(watched: &'a Watched, part: &'a str) -> Option<&'a Issue> {
    watched.of_warp(0, part).find(|issue| issue.places.is_some())
}

/// What a warp issues from the first line on that contains `from`, blanks not compared.
pub(super) fn in_order(title: impl Into<String>, watched: &Watched, warp: u32, from: &str) -> Picture {
    draw::lanes(title, watched, warp, &plain(from))
}

/// The sectors that an access touches, word by word.
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
    lines.push("[a field is a sector of eight words   # asked for   . moved with it]".to_owned());
    Picture { title: title.into(), lines }
}

/// How many words of each shared-memory bank an access wants.
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
        "[different words of the bank that lanes want   . none   + ten or more]".to_owned(),
    ];
    Picture { title: title.into(), lines }
}

/// The different words that an access touches.
fn words(access: &Issue) -> Vec<u64> {
    let Some(places) = access.places.as_deref() else { return Vec::new() };
    let lanes = access.executed.lanes().filter_map(|lane| places.addresses.get(lane as usize).copied());
    let bytes = u64::from(places.bytes.max(1));
    let mut words: Vec<u64> = lanes.flat_map(|at| at / WORD..=(at + bytes - 1) / WORD).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The warp slots of an SM, a letter for each block that fits.
pub(super) fn slots(title: impl Into<String>, slots: u32, blocks: u32, warps_a_block: u32) -> Picture {
    let letter = |slot: u32| match slot / warps_a_block.max(1) {
        block if block < blocks => char::from(b'a' + (block % 26) as u8),
        _ => '.',
    };
    let row: String = (0..slots).map(letter).collect();
    let legend = "[a character a warp slot, a letter a block   . empty]".to_owned();
    Picture { title: title.into(), lines: vec![row, legend] }
}
