//! Operations of a warp's lanes, or of a block's threads, in generated programs.
//!
//! They name all lanes; exited lanes, and lanes that a partial warp never had, take no part. A
//! value read from one of those is undefined (PTX, "shfl.sync"), so a program tests whether its
//! source lane is active, and reads itself if not.

use super::print::Printer;
use super::program::{Collective, Partial, SLOTS, Shuffle};

/// All lanes.
const ALL: u32 = u32::MAX;

impl Printer {
    /// Prints `%r<into>` = collective of the live threads' `%r<value>`.
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
            Collective::Reduce(op) => {
                self.line(format!("redux.sync.{op} %r{into}, %r{value}, {ALL};"))
            }
            Collective::MatchAny => {
                self.line(format!("match.any.sync.b32 %r{into}, %r{value}, {ALL};"))
            }
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
        let last = 31 & !piece;
        // %b = the source lane, %p = true if it is in range.
        match how {
            Shuffle::Up => self.line(format!("sub.u32 %b, %lane, {by};")),
            Shuffle::Down => self.line(format!("add.u32 %b, %lane, {by};")),
            Shuffle::Butterfly => self.line(format!("xor.b32 %b, %lane, {by};")),
            Shuffle::Index => {
                self.line(format!("and.b32 %b, %lane, {piece};"));
                self.line(format!("or.b32 %b, %b, {};", by & last));
            }
        }
        self.line(format!("and.b32 %a, %lane, {piece};"));
        if how != Shuffle::Up {
            self.line(format!("or.b32 %a, %a, {last};"));
        }
        let in_range = if how == Shuffle::Up { "ge" } else { "le" };
        self.line(format!("setp.{in_range}.s32 %p, %b, %a;"));
        // True if a lane in range is active.
        self.line("setp.eq.u32 %q, %lane, %lane;");
        self.line(format!("vote.sync.ballot.b32 %d, %q, {ALL};"));
        self.line("shr.u32 %d, %d, %b;");
        self.line("and.b32 %d, %d, 1;");
        self.line("setp.eq.and.u32 %q, %d, 0, %p;");
        // If not, the lane reads itself.
        let own = if how == Shuffle::Index { "%lane" } else { "0" };
        self.line(format!("mov.u32 %b, {by};"));
        self.line(format!("selp.b32 %b, {own}, %b, %q;"));
        self.line(format!(
            "shfl.sync.{name}.b32 %r{into}|%p, %r{value}, %b, {}, {ALL};",
            piece << 8 | clamp
        ));
    }

    /// Makes each thread write its number to the grid's maximum by compare-and-swap: lanes leave
    /// the loop one by one.
    fn spin(&mut self) {
        let again = self.label("Try");
        self.line("ld.volatile.global.u32 %a, [%count+8];");
        self.place(&again);
        self.line("mov.u32 %b, %a;");
        self.line("max.u32 %limit0, %b, %thread;");
        self.line("atom.global.cas.b32 %a, [%count+8], %b, %limit0;");
        self.line("setp.ne.u32 %p, %a, %b;");
        self.line(format!("@%p bra {again};"));
    }

    /// Prints `%r<into>` = collective of the live threads' `%r<value>` in a part of the warp.
    pub(super) fn partition(&mut self, spins: bool, by: u32, how: Partial, value: u8, into: u8) {
        self.line(format!("rem.u32 %d, %lane, {by};"));
        self.line(format!("match.any.sync.b32 %m, %d, {ALL};"));
        if spins {
            self.spin();
        }
        match how {
            Partial::Reduce(op) => self.line(format!("redux.sync.{op} %r{into}, %r{value}, %m;")),
            Partial::Ballot => {
                self.line(format!("and.b32 %a, %r{value}, 1;"));
                self.line("setp.eq.u32 %p, %a, 1;");
                self.line(format!("vote.sync.ballot.b32 %r{into}, %p, %m;"));
            }
            Partial::Match => {
                self.line(format!("and.b32 %a, %r{value}, 3;"));
                self.line(format!("match.any.sync.b32 %r{into}, %a, %m;"));
            }
            Partial::Broadcast => {
                self.line("neg.s32 %b, %m;");
                self.line("and.b32 %b, %b, %m;");
                self.line("sub.u32 %b, %b, 1;");
                self.line("popc.b32 %b, %b;");
                self.line(format!("shfl.sync.idx.b32 %r{into}|%p, %r{value}, %b, 31, %m;"));
            }
            Partial::WarpSync => {
                self.line("bar.warp.sync %m;");
                self.line(format!("redux.sync.add.u32 %r{into}, %r{value}, %m;"));
            }
        }
    }

    /// Prints `%r<into>` of every other warp = `%r<value>` of the previous warp.
    pub(super) fn hand_over(&mut self, spins: bool, value: u8, into: u8) {
        let (consumer, done) = (self.label("Consumer"), self.label("Handed"));
        // A warp counts in full while one of its lanes is live: %d = 32 for each such warp.
        self.line("setp.eq.u32 %q, %lane, %lane;");
        self.line(format!("vote.sync.ballot.b32 %m, %q, {ALL};"));
        self.line("mov.u32 %a, %lanemask_lt;");
        self.line("and.b32 %a, %a, %m;");
        self.line("setp.eq.u32 %p, %a, 0;");
        self.line("bar.red.popc.u32 %d, 2, %p;");
        self.line("mul.lo.u32 %d, %d, 32;");
        if spins {
            self.spin();
        }
        self.line("and.b32 %a, %thread, 32;");
        self.line("setp.ne.u32 %p, %a, 0;");
        self.line(format!("@%p bra {consumer};"));
        self.line(format!("st.shared.u32 [%sh], %r{value};"));
        self.line("bar.arrive 3, %d;");
        self.line(format!("bra {done};"));
        self.place(&consumer);
        self.line("bar.sync 3, %d;");
        self.line("sub.u32 %a, %thread, 32;");
        self.line("mov.u32 %b, words;");
        self.line(format!("mad.lo.u32 %a, %a, {}, %b;", 4 * SLOTS));
        self.line(format!("ld.shared.u32 %r{into}, [%a];"));
        self.place(&done);
        self.line("bar.sync 0;");
    }
}
