//! Small pictures of what a question was about: a branch in every warp, the sectors and banks of an access, an SM's warp slots.

use crate::ask::lab::Watched;
use crate::base::MAX_LANES;
use crate::report::Picture;

/// Sectors drawn beside each other: nine columns each.
const SECTORS_A_LINE: u64 = 8;
/// Bytes of a sector, and of the words read.
const SECTOR: u64 = 32;
const WORD: u64 = 4;

/// The first execution of a line in each warp of the block that was watched, lane by lane; warps that look alike stand together.
pub(super) fn in_each_warp(title: impl Into<String>, watched: &Watched, part: &str, legend: &str) -> Picture {
    let mut rows: Vec<(u32, u32, String)> = Vec::new();
    for warp in watched.warps() {
        let row = match watched.of_warp(warp, part).next() {
            Some(issue) => {
                let states = issue.lane_states(MAX_LANES as u32);
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

/// The sectors that the first execution of a line touches in warp 0, word by word.
pub(super) fn sectors(title: impl Into<String>, watched: &Watched, part: &str) -> Picture {
    let places = watched.of_warp(0, part).find_map(|issue| Some((issue.executed, issue.places.as_deref()?)));
    let mut words: Vec<u64> = Vec::new();
    if let Some((lanes, places)) = places {
        words = lanes.lanes().filter_map(|lane| places.addresses.get(lane as usize)).map(|at| at / WORD).collect();
    }
    let mut sectors: Vec<u64> = words.iter().map(|word| word * WORD / SECTOR).collect();
    sectors.sort_unstable();
    sectors.dedup();
    let sector = |&sector: &u64| -> String {
        let of = |word| if words.contains(&(sector * SECTOR / WORD + word)) { '#' } else { '.' };
        (0..SECTOR / WORD).map(of).collect()
    };
    let drawn: Vec<String> = sectors.iter().map(sector).collect();
    let mut lines: Vec<String> = drawn.chunks(SECTORS_A_LINE as usize).map(|line| line.join("|")).collect();
    lines.push("[one field a touched sector of eight words   # read   . moved and not read]".to_owned());
    Picture { title: title.into(), lines }
}

/// How many words of each shared-memory bank the first execution of a line wants in warp 0.
pub(super) fn banks(title: impl Into<String>, watched: &Watched, part: &str) -> Picture {
    let mut words: Vec<u64> = Vec::new();
    if let Some((lanes, places)) =
        watched.of_warp(0, part).find_map(|issue| Some((issue.executed, issue.places.as_deref()?)))
    {
        words = lanes.lanes().filter_map(|lane| places.addresses.get(lane as usize)).map(|at| at / WORD).collect();
    }
    words.sort_unstable();
    words.dedup();
    let of = |bank: u64| match words.iter().filter(|&&word| word % MAX_LANES as u64 == bank).count() {
        0 => '.',
        n @ 1..=9 => char::from(b'0' + n as u8),
        _ => '+',
    };
    let lines = vec![
        "bank   0       8       16      24".to_owned(),
        format!("words  {}", (0..MAX_LANES as u64).map(of).collect::<String>()),
        "[different words of the bank that lanes want   . none   + ten or more]".to_owned(),
    ];
    Picture { title: title.into(), lines }
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
