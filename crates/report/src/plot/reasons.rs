//! Looks and short meanings of the stall reasons.

use super::frame::Entry;
use super::palette::{BLUE, GREEN, INK, Look, ORANGE, PURPLE, SKY, VERMILLION, WHITE, YELLOW};
use super::scene::{Hatch, Rgb};
use simt_core::event::Stall;

/// Look of an issue.
pub(super) const ISSUED: Look = Look::plain(BLUE, WHITE);

/// Returns the look of a reason.
pub(super) const fn look(stall: Stall) -> Look {
    const BLACK: Rgb = Rgb(0x40, 0x40, 0x40);
    match stall {
        Stall::Wait => Look::plain(SKY, INK),
        Stall::ShortScoreboard => Look::hatched(YELLOW, Hatch::Rising, Rgb(0xa0, 0x96, 0x10)),
        Stall::LongScoreboard => Look::plain(ORANGE, INK),
        Stall::Barrier => Look::hatched(PURPLE, Hatch::Cross, Rgb(0x90, 0x40, 0x6c)),
        Stall::Membar => Look::hatched(PURPLE.tint(120), Hatch::Level, PURPLE),
        Stall::BranchResolving => Look::hatched(SKY.tint(110), Hatch::Falling, BLUE),
        Stall::MathPipeThrottle => Look::hatched(GREEN.tint(110), Hatch::Upright, GREEN),
        Stall::MioThrottle => Look::hatched(GREEN, Hatch::Falling, WHITE),
        Stall::LgThrottle => Look::hatched(VERMILLION, Hatch::Falling, WHITE),
        Stall::TexThrottle => Look::hatched(VERMILLION.tint(110), Hatch::Rising, VERMILLION),
        Stall::NotSelected => Look::hatched(WHITE, Hatch::Dots, BLACK),
        Stall::Sleeping => Look::hatched(WHITE, Hatch::Level, BLACK),
        Stall::Blocked => Look::hatched(Rgb(0xb0, 0xb0, 0xb0), Hatch::Cross, BLACK),
        Stall::Drain => Look::plain(Rgb(0xd0, 0xd0, 0xd0), INK),
        Stall::NoInstruction => Look::hatched(Rgb(0xe8, 0xdc, 0xc0), Hatch::Rising, BLACK),
        Stall::ImcMiss => Look::hatched(ORANGE.tint(110), Hatch::Level, ORANGE),
        Stall::DispatchStall => Look::hatched(Rgb(0xf0, 0xf0, 0xf0), Hatch::Cross, INK),
    }
}

/// Returns the meaning of a reason in a few words.
pub(super) const fn meaning(stall: Stall) -> &'static str {
    match stall {
        Stall::Wait => "result of fixed latency",
        Stall::ShortScoreboard => "shared memory, special functions",
        Stall::LongScoreboard => "global or local memory",
        Stall::Barrier => "block barrier",
        Stall::Membar => "memory fence",
        Stall::BranchResolving => "target of a branch",
        Stall::MathPipeThrottle => "execution unit busy",
        Stall::MioThrottle => "shared-memory queue full",
        Stall::LgThrottle => "global-memory queue full",
        Stall::TexThrottle => "texture queue full",
        Stall::NotSelected => "another warp issued",
        Stall::Sleeping => "nanosleep",
        Stall::Blocked => "lanes wait on each other",
        Stall::Drain => "exited, stores in flight",
        Stall::NoInstruction => "instruction fetch",
        Stall::ImcMiss => "constant cache miss",
        Stall::DispatchStall => "register file busy",
    }
}

/// Returns legend entries of the reasons in `seen` (by `Stall as usize`).
pub(super) fn entries(seen: &[bool; Stall::ALL.len()]) -> Vec<Entry> {
    let entry = |stall: Stall| Entry {
        look: look(stall),
        letter: String::new(),
        text: format!("{}: {}", stall.name(), meaning(stall)),
    };
    Stall::ALL.into_iter().filter(|&s| seen[s as usize]).map(entry).collect()
}
