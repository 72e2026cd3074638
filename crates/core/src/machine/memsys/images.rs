//! Accesses to textures and surfaces: the texture unit, and the sectors of all texels in L1.

use super::{Lines, MemorySystem, Served, blank};
use crate::base::{Cycle, MAX_LANES};
use crate::event::{MemoryKind, Traffic};
use crate::exec::MemoryAccess;
use crate::spec::Price;

impl MemorySystem {
    /// Serves an access to a texture or surface issued at `now`.
    ///
    /// The texture unit takes the interval of `price` for each access, and its latency on top of
    /// L1's. The sectors of all texels of the access are distinct.
    pub(in crate::machine) fn image(
        &mut self,
        now: Cycle,
        access: MemoryAccess,
        (first, taps): (&[u64; MAX_LANES], &[[u64; MAX_LANES]]),
        memory: MemoryKind,
        price: Price,
    ) -> Served {
        let begins = now.max(self.texture_free);
        self.texture_free = begins + Cycle::from(price.interval);
        let all = texel_lines(access, first, taps);
        let mut served: Option<Served> = None;
        for part in all.chunks(MAX_LANES) {
            self.lines.len = part.len();
            self.lines.lines[..part.len()].copy_from_slice(part);
            let at = begins + served.as_ref().map_or(0, |served| served.port);
            let next = self.lines_served(at, access, first, memory, None);
            served = Some(match served {
                None => next,
                Some(sum) => sum.with(&next),
            });
        }
        let served = served.unwrap_or_else(|| Served {
            traffic: Traffic { memory, ..blank(access) },
            done: begins,
            port: 1,
            taken: begins,
            begins,
        });
        let done = served.done + Cycle::from(price.latency);
        Served { done, taken: begins, begins: now, ..served }
    }
}

/// Returns the distinct lines of all texels of an access, with the sectors of each.
pub(in crate::machine) fn texel_lines(
    access: MemoryAccess,
    first: &[u64; MAX_LANES],
    taps: &[[u64; MAX_LANES]],
) -> Vec<(u64, u8)> {
    let mut lines = Lines::default();
    let mut all: Vec<(u64, u8)> = Vec::new();
    for row in std::iter::once(first).chain(taps) {
        lines.coalesce(access, row);
        all.extend(lines.lines());
    }
    all.sort_unstable();
    all.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 |= if same { next.1 } else { 0 };
        same
    });
    all
}
