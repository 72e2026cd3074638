//! Operations of a warp's lanes, or of a block's threads, in generated programs.
//!
//! They name all lanes; those that have ended, and those that a ragged warp never had, take no part. Whose value a lane gets from one
//! of those is open (PTX, "shfl.sync"), so a program looks whether its source lives.

use super::print::Printer;
use super::program::{Collective, Shuffle};

/// All lanes.
const ALL: u32 = u32::MAX;

impl Printer {
    /// `%r<into>` = what the live threads make of their `%r<value>`.
    pub(super) fn together(&mut self, how: Collective, value: u8, into: u8) {
        if matches!(how, Collective::Ballot | Collective::Count | Collective::Vote(_)) {
            self.line(format!("and.b32 %m, %r{value}, 1;"));
            self.line("setp.eq.u32 %p, %m, 1;");
        }
        match how {
            Collective::Ballot => self.line(format!("vote.sync.ballot.b32 %r{into}, %p, {ALL};")),
            Collective::Vote(kind) => {
                self.line(format!("vote.sync.{kind}.pred %q, %p, {ALL};"));
                self.line(format!("selp.u32 %r{into}, %r{value}, %lane, %q;"));
            }
            Collective::Reduce(op) => self.line(format!("redux.sync.{op} %r{into}, %r{value}, {ALL};")),
            Collective::MatchAny => self.line(format!("match.any.sync.b32 %r{into}, %r{value}, {ALL};")),
            Collective::MatchAll => {
                self.line(format!("match.all.sync.b32 %m|%q, %r{value}, {ALL};"));
                self.line(format!("selp.u32 %r{into}, %m, %r{value}, %q;"));
            }
            Collective::Count => self.line(format!("bar.red.popc.u32 %r{into}, 1, %p;")),
            Collective::Shuffle { how, by, width } => self.shuffle(how, by, width, value, into),
        }
    }

    fn shuffle(&mut self, how: Shuffle, by: u32, width: u32, value: u8, into: u8) {
        let piece = 32 - (1u32 << width);
        let (name, clamp) = match how {
            Shuffle::Up => ("up", 0),
            Shuffle::Down => ("down", 31),
            Shuffle::Butterfly => ("bfly", 31),
            Shuffle::Index => ("idx", 31),
        };
        self.line("setp.eq.u32 %q, %lane, %lane;");
        self.line(format!("vote.sync.ballot.b32 %d, %q, {ALL};"));
        self.line(format!("shfl.sync.{name}.b32 %a|%p, %r{value}, {by}, {}, {ALL};", piece << 8 | clamp));
        match how {
            Shuffle::Up => self.line(format!("sub.u32 %b, %lane, {by};")),
            Shuffle::Down => self.line(format!("add.u32 %b, %lane, {by};")),
            Shuffle::Butterfly => self.line(format!("xor.b32 %b, %lane, {by};")),
            Shuffle::Index => {
                self.line(format!("and.b32 %b, %lane, {piece};"));
                self.line(format!("or.b32 %b, %b, {};", by & !piece & 31));
            }
        }
        // Out of range a lane gets its own value, and it lives.
        self.line("selp.b32 %b, %b, %lane, %p;");
        self.line("shr.u32 %d, %d, %b;");
        self.line("and.b32 %d, %d, 1;");
        self.line("setp.eq.u32 %q, %d, 1;");
        self.line(format!("selp.b32 %r{into}, %a, %r{value}, %q;"));
    }
}
