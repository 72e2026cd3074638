//! Order in which the sides of a divergent branch run.
//!
//! The order is known from measurements only: GPGPU-Sim's stack runs the taken side first, an H200
//! the side with fewer lanes and, on a tie, the fall-through side. For `brx.idx`, which has no
//! fall-through side, an H200 starts from the lowest lane ([`minorities_from_the_lowest_lane`]).

use std::str::FromStr;

use super::{Side, SideOrder};
use crate::base::{LaneMask, Pc};

/// Invalid side order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one of fewer, more, taken, fall-through, random, random:SEED")]
pub struct NoSideOrder;

impl FromStr for SideOrder {
    type Err = NoSideOrder;

    fn from_str(text: &str) -> Result<SideOrder, NoSideOrder> {
        match text {
            "fewer" => Ok(SideOrder::Fewer),
            "more" => Ok(SideOrder::More),
            "taken" => Ok(SideOrder::Taken),
            "fall-through" | "fallthrough" => Ok(SideOrder::FallThrough),
            "random" => Ok(SideOrder::Random(0)),
            _ => {
                let seed = text.strip_prefix("random:").and_then(|seed| seed.parse().ok());
                seed.map(SideOrder::Random).ok_or(NoSideOrder)
            }
        }
    }
}

impl SideOrder {
    /// Returns true if the lanes `taken` run before the lanes `fall`. Both are non-empty.
    pub(super) fn taken_first(self, branch: Pc, taken: LaneMask, fall: LaneMask) -> bool {
        match self {
            SideOrder::Taken => true,
            SideOrder::FallThrough => false,
            SideOrder::Fewer => taken.count() < fall.count(),
            SideOrder::More => taken.count() > fall.count(),
            SideOrder::Random(seed) => coin(seed, branch, taken, fall),
        }
    }

    /// Returns the sides of a branch or call in running order.
    ///
    /// For two sides this equals [`taken_first`](Self::taken_first), with the first as the taken
    /// side, except for ties under [`SideOrder::Fewer`].
    pub(super) fn sorted(self, branch: Pc, sides: &[Side]) -> Vec<Side> {
        let mut sorted = sides.to_vec();
        match self {
            SideOrder::Taken => {}
            SideOrder::FallThrough => sorted.reverse(),
            SideOrder::Fewer => sorted = minorities_from_the_lowest_lane(sorted),
            SideOrder::More => {
                sorted.reverse();
                sorted.sort_by_key(|side| std::cmp::Reverse(side.lanes.count()));
            }
            SideOrder::Random(_) => {
                // The last side goes before or after all others, then the last of these, and so on.
                let (mut first, mut end) = (0, sorted.len());
                while end > first + 1 {
                    let last = sorted[end - 1];
                    let others = sorted[first..end - 1]
                        .iter()
                        .fold(LaneMask::EMPTY, |all, side| all | side.lanes);
                    if self.taken_first(branch, others, last.lanes) {
                        end -= 1;
                    } else {
                        sorted[first..end].rotate_right(1);
                        first += 1;
                    }
                }
            }
        }
        sorted
    }
}

/// Returns the order in which an H200 runs the targets of one `brx.idx`.
///
/// Measured for 13 populations of lanes, each with the targets in both orders: the side of the
/// lowest lane is next, unless it has more lanes than all others together; then it is set aside and
/// runs after them. From then on, lanes set aside count among the others.
fn minorities_from_the_lowest_lane(mut sides: Vec<Side>) -> Vec<Side> {
    sides.sort_by_key(|side| side.lanes.lowest());
    let mut others: u32 = sides.iter().map(|side| side.lanes.count()).sum();
    let (mut first, mut aside) = (Vec::new(), Vec::new());
    for side in sides {
        let lanes = side.lanes.count();
        if lanes > others - lanes {
            aside.push(side);
        } else {
            others -= lanes;
            first.push(side);
        }
    }
    first.extend(aside.into_iter().rev());
    first
}

/// Returns a bit that depends on all arguments (SplitMix64 finalizer).
///
/// The bit is a function of the situation, not of a generator's state: the control state stays
/// finite, and livelocks can be proved under random orders, too.
fn coin(seed: u64, branch: Pc, taken: LaneMask, fall: LaneMask) -> bool {
    let mut z = seed ^ (u64::from(taken.0) << 32 | u64::from(fall.0));
    z = z.wrapping_add(u64::from(branch.0).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_fall_through_and_minorities_go_first() {
        let (one, three) = (LaneMask(0b1000), LaneMask(0b0111));
        let cases = [
            (SideOrder::Taken, one, three, true),
            (SideOrder::FallThrough, one, three, false),
            (SideOrder::Fewer, one, three, true),
            (SideOrder::Fewer, three, one, false),
            (SideOrder::Fewer, LaneMask(0b0011), LaneMask(0b1100), false),
            (SideOrder::More, three, one, true),
            (SideOrder::More, LaneMask(0b0011), LaneMask(0b1100), false),
        ];
        for (order, taken, fall, first) in cases {
            assert_eq!(order.taken_first(Pc(0), taken, fall), first, "{order:?} {taken} {fall}");
        }
    }

    #[test]
    fn two_sides_are_sorted_as_a_branch_is() {
        for order in [
            SideOrder::Taken,
            SideOrder::FallThrough,
            SideOrder::Fewer,
            SideOrder::More,
            SideOrder::Random(3),
        ] {
            for (a, b) in [(0b1000, 0b0111), (0b0111, 0b1000), (0b0011, 0b1100), (0b1100, 0b0011)] {
                let sides = [a, b].map(|lanes| Side { pc: Pc(lanes), lanes: LaneMask(lanes) });
                let tie = order == SideOrder::Fewer && a.count_ones() == b.count_ones();
                let taken = order.taken_first(Pc(7), LaneMask(a), LaneMask(b));
                let first = if tie {
                    a.min(b)
                } else if taken {
                    a
                } else {
                    b
                };
                assert_eq!(order.sorted(Pc(7), &sides)[0].pc, Pc(first), "{order:?} {a:b} {b:b}");
            }
        }
        let sides = [3, 1, 2].map(|n| Side { pc: Pc(n), lanes: LaneMask::first_n(n) });
        let pcs = |order: SideOrder| {
            order.sorted(Pc(0), &sides).iter().map(|s| s.pc.0).collect::<Vec<_>>()
        };
        assert_eq!(pcs(SideOrder::More), [3, 2, 1]);
        assert_eq!(pcs(SideOrder::FallThrough), [2, 1, 3]);
    }

    /// Measured on an H200 (driver 580.159.04, 2026-11-21): the lanes of each side, sides in the
    /// order of their lanes; then the indices of the sides in running order.
    #[test]
    fn jump_tables_are_unravelled_as_by_an_h200() {
        let seen = [
            ([8, 8, 8, 8], [0, 1, 2, 3]),
            ([5, 8, 9, 10], [0, 1, 2, 3]),
            ([10, 9, 8, 5], [0, 1, 3, 2]),
            ([12, 4, 4, 12], [0, 1, 2, 3]),
            ([14, 8, 6, 4], [0, 1, 3, 2]),
            ([16, 8, 4, 4], [0, 1, 2, 3]),
            ([17, 8, 4, 3], [1, 2, 3, 0]),
            ([18, 2, 8, 4], [1, 2, 3, 0]),
            ([25, 4, 2, 1], [1, 2, 3, 0]),
            ([2, 20, 4, 6], [0, 2, 3, 1]),
            ([1, 2, 4, 25], [0, 1, 2, 3]),
        ];
        for (lanes, order) in seen {
            let mut from = 0;
            let mut sides = lanes.map(|n| {
                let side = Side { pc: Pc(from), lanes: LaneMask(LaneMask::first_n(n).0 << from) };
                from += n;
                side
            });
            let expected = order.map(|i: usize| sides[i].pc);
            for _ in 0..2 {
                let ran: Vec<Pc> =
                    SideOrder::Fewer.sorted(Pc(0), &sides).iter().map(|s| s.pc).collect();
                assert_eq!(ran, expected, "{lanes:?}");
                sides.reverse(); // the order in the table does not matter
            }
        }
    }

    #[test]
    fn the_coin_is_about_fair_over_seeds_and_over_branches() {
        let side = |seed, pc| {
            SideOrder::Random(seed).taken_first(Pc(pc), LaneMask(0b1100), LaneMask(0b0011))
        };
        let over_seeds = (0..1000).filter(|&s| side(s, 0)).count();
        let over_branches = (0..1000).filter(|&pc| side(7, pc)).count();
        assert!((400..600).contains(&over_seeds), "{over_seeds}");
        assert!((400..600).contains(&over_branches), "{over_branches}");
    }
}
