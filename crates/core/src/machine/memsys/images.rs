//! Accesses to textures and surfaces: the texture unit, and the sectors of all texels in L1.

use super::{Lines, MemorySystem, Served, blank};
use crate::base::{Cycle, LaneMask, MAX_LANES};
use crate::event::{MemoryKind, Traffic};
use crate::exec::MemoryAccess;
use crate::spec::Price;

impl MemorySystem {
    /// Serves an access to a texture or surface issued at `now`.
    ///
    /// The texture unit takes the interval of `price` for each access, and its latency on top of
    /// L1's. The sectors of all texels of a group of lanes are distinct.
    pub(in crate::machine) fn image(
        &mut self,
        now: Cycle,
        access: MemoryAccess,
        texels: Texels<'_>,
        memory: MemoryKind,
        price: Price,
    ) -> Served {
        let begins = now.max(self.texture_free);
        self.texture_free = begins + Cycle::from(price.interval);
        let (all, groups) = texels.lines(access);
        let mut served: Option<Served> = None;
        for part in all.chunks(MAX_LANES) {
            self.lines.len = part.len();
            self.lines.lines[..part.len()].copy_from_slice(part);
            let at = begins + served.as_ref().map_or(0, |served| served.port);
            let next = self.lines_served(at, access, texels.first, memory, None);
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
        let traffic = Traffic { wavefronts: groups, ideal_wavefronts: 0, ..served.traffic };
        Served { done, taken: begins, begins: now, traffic, ..served }
    }
}

/// Addresses of the texels of an access, by lane.
#[derive(Clone, Copy)]
pub(in crate::machine) struct Texels<'a> {
    /// First texel of each lane.
    pub(in crate::machine) first: &'a [u64; MAX_LANES],
    /// Further texels.
    pub(in crate::machine) taps: &'a [[u64; MAX_LANES]],
    /// Lanes that the texture unit takes together.
    pub(in crate::machine) group: u32,
}

impl Texels<'_> {
    /// Returns the distinct lines of each group of lanes, with their sectors, and the groups.
    pub(in crate::machine) fn lines(&self, access: MemoryAccess) -> (Vec<(u64, u8)>, u32) {
        let mut lines = Lines::default();
        let (mut all, mut groups): (Vec<(u64, u8)>, u32) = (Vec::new(), 0);
        let size = self.group.clamp(1, MAX_LANES as u32);
        for start in (0..MAX_LANES as u32).step_by(size as usize) {
            let group =
                (start..start + size).fold(LaneMask::EMPTY, |all, lane| all | LaneMask::lane(lane));
            let part = MemoryAccess { lanes: access.lanes & group, ..access };
            if part.lanes.is_empty() {
                continue;
            }
            groups += 1;
            let begun = all.len();
            for row in std::iter::once(self.first).chain(self.taps) {
                lines.coalesce(part, row);
                for &(line, sectors) in lines.lines() {
                    match all[begun..].iter_mut().find(|known| known.0 == line) {
                        Some(known) => known.1 |= sectors,
                        None => all.push((line, sectors)),
                    }
                }
            }
        }
        (all, groups)
    }
}
