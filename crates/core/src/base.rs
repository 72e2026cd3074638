//! Basic types of all modules: lane masks, program counters, cycles and typed ids.
//!
//! Each id type has a text prefix, which is the same in messages and all reports.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not, Sub, SubAssign};

/// Maximum number of lanes in a warp.
///
/// Machines can have fewer (`teaching` down to 2).
pub const MAX_LANES: usize = 32;

/// Returns a pseudo-random number that depends only on `seed`.
///
/// SplitMix64 (Steele et al., OOPSLA'14).
pub const fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the 64-bit FNV-1a hash of some bytes. Detects edits, but not forgery.
pub fn digest(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Time or duration in SM clock cycles.
pub type Cycle = u64;

/// Set of lanes of one warp, such as an active mask; bit `i` is lane `i`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct LaneMask(pub u32);

impl LaneMask {
    /// Empty set.
    pub const EMPTY: LaneMask = LaneMask(0);
    /// All 32 lanes.
    pub const FULL: LaneMask = LaneMask(u32::MAX);

    /// Returns the lanes `0..n`; all 32 if `n` is above 32.
    pub const fn first_n(n: u32) -> LaneMask {
        if n >= 32 { LaneMask(u32::MAX) } else { LaneMask((1 << n) - 1) }
    }

    /// Returns the set of one lane (0..32).
    pub const fn lane(lane: u32) -> LaneMask {
        LaneMask(1 << (lane & 31))
    }

    /// Returns the number of lanes in the set, 0..=32.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns true if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns true if `lane` is in the set.
    pub const fn contains(self, lane: u32) -> bool {
        self.0 >> (lane & 31) & 1 == 1
    }

    /// Returns true if the set has at most four lanes, sooner than [`LaneMask::count`] could.
    pub const fn is_sparse(self) -> bool {
        let mut rest = self.0;
        rest &= rest.wrapping_sub(1);
        rest &= rest.wrapping_sub(1);
        rest &= rest.wrapping_sub(1);
        rest & rest.wrapping_sub(1) == 0
    }

    /// Returns true if every lane of `self` is in `other`.
    pub const fn is_subset(self, other: LaneMask) -> bool {
        self.0 & !other.0 == 0
    }

    /// Returns true if the two sets share a lane.
    pub const fn intersects(self, other: LaneMask) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the lowest lane of the set; `None` if it is empty.
    pub const fn lowest(self) -> Option<u32> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros()) }
    }

    /// Returns the lanes in ascending order.
    pub fn lanes(self) -> impl Iterator<Item = u32> + Clone {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let lane = rest.trailing_zeros();
                rest &= rest - 1;
                lane
            })
        })
    }
}

impl LaneMask {
    /// Formats the lanes as ranges: `0-2, 4-31`, `1, 3, .., 31`, or `none`.
    pub fn list(self) -> String {
        if let (Some(first), 4..) = (self.lowest(), self.count()) {
            let last = 31 - self.0.leading_zeros();
            let alternate = 0x5555_5555 << first & (u32::MAX >> (31 - last));
            if self.0 == alternate {
                return format!("{first}, {}, .., {last}", first + 2);
            }
        }
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for lane in self.lanes() {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == lane => *last = lane,
                _ => runs.push((lane, lane)),
            }
        }
        let run = |(a, b): (u32, u32)| if a == b { a.to_string() } else { format!("{a}-{b}") };
        let texts: Vec<String> = runs.into_iter().map(run).collect();
        if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
    }
}

impl BitAnd for LaneMask {
    type Output = LaneMask;
    fn bitand(self, rhs: LaneMask) -> LaneMask {
        LaneMask(self.0 & rhs.0)
    }
}
impl BitOr for LaneMask {
    type Output = LaneMask;
    fn bitor(self, rhs: LaneMask) -> LaneMask {
        LaneMask(self.0 | rhs.0)
    }
}
impl BitXor for LaneMask {
    type Output = LaneMask;
    fn bitxor(self, rhs: LaneMask) -> LaneMask {
        LaneMask(self.0 ^ rhs.0)
    }
}
/// Set difference: lanes of `self` that are not in `rhs`.
impl Sub for LaneMask {
    type Output = LaneMask;
    fn sub(self, rhs: LaneMask) -> LaneMask {
        LaneMask(self.0 & !rhs.0)
    }
}
impl Not for LaneMask {
    type Output = LaneMask;
    fn not(self) -> LaneMask {
        LaneMask(!self.0)
    }
}
impl BitAndAssign for LaneMask {
    fn bitand_assign(&mut self, rhs: LaneMask) {
        self.0 &= rhs.0;
    }
}
impl BitOrAssign for LaneMask {
    fn bitor_assign(&mut self, rhs: LaneMask) {
        self.0 |= rhs.0;
    }
}
impl SubAssign for LaneMask {
    fn sub_assign(&mut self, rhs: LaneMask) {
        self.0 &= !rhs.0;
    }
}
impl fmt::Display for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:08x}", self.0)
    }
}
impl fmt::Debug for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the id as an index.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

id!(
    /// Program counter: index of a step in a `kernel::Stream`.
    Pc, "pc"
);
id!(
    /// Streaming multiprocessor of the simulated GPU.
    SmId, "sm"
);
id!(
    /// Warp slot of an SM. Slot `w` belongs to sub-core `w % sub_cores`.
    WarpId, "w"
);
id!(
    /// Thread block (CTA) of the grid, by linear index.
    BlockId, "block"
);
id!(
    /// Basic block of a kernel's control-flow graph.
    BasicBlockId, "bb"
);
id!(
    /// Convergence barrier register of a warp (`B0`, `B1`, ..).
    JoinId, "B"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparse_set_has_at_most_four_lanes() {
        for mask in [0, 1, 0x8000_0000, 0b1111, 0b11111, 0x8001_8001, 0x8011_8001, u32::MAX] {
            assert_eq!(LaneMask(mask).is_sparse(), mask.count_ones() <= 4, "{mask:x}");
        }
    }

    #[test]
    fn lanes_are_listed_as_people_write_them() {
        for (mask, text) in [
            (0, "none"),
            (1, "0"),
            (0x8000_0000, "31"),
            (u32::MAX, "0-31"),
            (0xffff_fff7, "0-2, 4-31"),
            (0b101, "0, 2"),
            (0xaaaa_aaaa, "1, 3, .., 31"),
            (0x5555_5555, "0, 2, .., 30"),
            (0b1010_1010_0000, "5, 7, .., 11"),
            (0b1010_1011, "0-1, 3, 5, 7"),
        ] {
            assert_eq!(LaneMask(mask).list(), text);
        }
    }

    #[test]
    fn lanes_come_in_ascending_order() {
        assert_eq!(LaneMask(0x8000_0011).lanes().collect::<Vec<_>>(), [0, 4, 31]);
        assert_eq!(LaneMask::first_n(3), LaneMask(0b111));
        assert_eq!(LaneMask::first_n(32), LaneMask::FULL);
    }
}
