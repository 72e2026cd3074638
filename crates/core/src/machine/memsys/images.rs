//! Accesses to textures and surfaces: the texture unit, and the sectors of all texels in L1.

use super::super::requests::Requests;
use super::{Lines, MemorySystem, Served, blank};
use crate::base::{Cycle, LaneMask, MAX_LANES};
use crate::event::{MemoryKind, Traffic};
use crate::exec::MemoryAccess;
use crate::spec::Price;

/// Bytes of a bank of the texels' data, and the banks that a pass reads.
const BANK: u64 = 8;
const BANKS: usize = 16;
/// Words of banks that a pass returns.
const WORDS: usize = 8;

/// State of the texture unit.
#[derive(Clone, Copy, Default)]
pub(super) struct TextureUnit {
    /// Cycle from which the unit serves the next access.
    free: Cycle,
    /// Accesses that it holds, by their service, and when it takes the next one.
    held: Requests,
    room: Cycle,
    /// Cycle of the last result: results come in order.
    done: Cycle,
}

/// Access as the texture unit sees it.
#[derive(Clone, Copy, Debug)]
pub(in crate::machine) struct Fetch {
    pub(in crate::machine) memory: MemoryKind,
    /// True for fetches by integers and accesses to surfaces.
    pub(in crate::machine) direct: bool,
    /// Latency of a filter, and cycles of a warp whose quads take one pass each.
    pub(in crate::machine) price: Price,
    /// Quads of a warp.
    pub(in crate::machine) quads: u32,
}

impl MemorySystem {
    /// Serves an access to a texture or surface issued at `now`.
    ///
    /// The unit takes it when it has room, serves a group of lanes in a pass or several, and gives
    /// results in order. The sectors of all texels of a group are distinct.
    pub(in crate::machine) fn image(
        &mut self,
        now: Cycle,
        access: MemoryAccess,
        texels: Texels<'_>,
        fetch: Fetch,
    ) -> Served {
        let unit = self.spec.texture;
        let enters = now.max(self.textures.room);
        let begins = enters.max(self.textures.free);
        self.textures.room = self.textures.held.add(begins, unit.holds);
        let busy = (texels.passes(access) * fetch.price.interval).div_ceil(fetch.quads.max(1));
        self.textures.free = begins + Cycle::from(busy);
        let (all, groups) = texels.lines(access);
        let mut served: Option<Served> = None;
        for part in all.chunks(MAX_LANES) {
            self.lines.len = part.len();
            self.lines.lines[..part.len()].copy_from_slice(part);
            let at = begins + served.as_ref().map_or(0, |served| served.port);
            let next = self.lines_served(at, access, texels.first, fetch.memory, None);
            served = Some(match served {
                None => next,
                Some(sum) => sum.with(&next),
            });
        }
        let served = served.unwrap_or_else(|| Served {
            traffic: Traffic { memory: fetch.memory, ..blank(access) },
            done: begins,
            port: 1,
            in_banks: 0,
            taken: begins,
            begins,
        });
        let own = fetch.price.latency.saturating_sub(if fetch.direct { unit.direct } else { 0 });
        let latency = own + unit.group * groups.saturating_sub(1);
        let done = (served.done + Cycle::from(latency)).max(self.textures.done);
        self.textures.done = done;
        let traffic = Traffic { wavefronts: groups, ideal_wavefronts: 0, ..served.traffic };
        Served { done, taken: enters, begins, traffic, ..served }
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
    /// True if lanes are filtered one by one.
    pub(in crate::machine) one_by_one: bool,
}

impl Texels<'_> {
    /// Returns the access of each group of lanes.
    fn groups(&self, access: MemoryAccess) -> impl Iterator<Item = MemoryAccess> {
        let size = self.group.clamp(1, MAX_LANES as u32);
        let lanes = move |start: u32| {
            (start..start + size).fold(LaneMask::EMPTY, |all, lane| all | LaneMask::lane(lane))
        };
        let parts = (0..MAX_LANES as u32)
            .step_by(size as usize)
            .map(move |start| access.lanes & lanes(start));
        parts.filter(|lanes| !lanes.is_empty()).map(move |lanes| MemoryAccess { lanes, ..access })
    }

    /// Returns the rows of addresses.
    fn rows(&self) -> impl Iterator<Item = &[u64; MAX_LANES]> {
        std::iter::once(self.first).chain(self.taps)
    }

    /// Returns the distinct lines of each group of lanes, with their sectors, and the groups.
    pub(in crate::machine) fn lines(&self, access: MemoryAccess) -> (Vec<(u64, u8)>, u32) {
        let mut lines = Lines::default();
        let (mut all, mut groups): (Vec<(u64, u8)>, u32) = (Vec::new(), 0);
        for part in self.groups(access) {
            groups += 1;
            let begun = all.len();
            for row in self.rows() {
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

    /// Returns the passes over the texels' data: words of one bank take a pass each.
    fn passes(&self, access: MemoryAccess) -> u32 {
        let mut words = Vec::new();
        let of_group = |part: MemoryAccess| {
            words.clear();
            for row in self.rows() {
                for lane in part.lanes.lanes() {
                    let first = row[lane as usize % MAX_LANES] / BANK;
                    words.extend((0..u64::from(part.bytes).div_ceil(BANK)).map(|i| first + i));
                }
            }
            words.sort_unstable();
            words.dedup();
            let mut banks = [0; BANKS];
            words.iter().for_each(|word| banks[*word as usize % BANKS] += 1);
            let conflicts = banks.into_iter().max().unwrap_or_default();
            let lanes = if self.one_by_one { part.lanes.count() } else { 1 };
            conflicts.max(words.len().div_ceil(WORDS) as u32).max(lanes)
        };
        self.groups(access).map(of_group).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::AccessKind;
    use crate::isa::Space;

    /// Passes of an H100 (`l1tex__data_pipe_tex_wavefronts`): (bytes of a texel, distance of lanes
    /// in bytes, group, lanes filtered one by one) in linear memory.
    #[test]
    fn passes_are_those_of_a_gpu() {
        for ((bytes, step, group, one_by_one), expected) in [
            ((4, 4, 8, false), 4),
            ((16, 16, 8, false), 8),
            ((4, 32, 8, false), 8),
            ((16, 128, 8, false), 32),
            ((4, 4, 4, false), 8),
            ((16, 16, 4, true), 32),
        ] {
            let first = std::array::from_fn(|lane| 0x1000 + lane as u64 * step);
            let texels = Texels { first: &first, taps: &[], group, one_by_one };
            let access = MemoryAccess {
                space: Space::Global,
                kind: AccessKind::Read,
                lanes: LaneMask(u32::MAX),
                bytes,
                bypass_l1: false,
                changed: false,
                row: false,
            };
            assert_eq!(texels.passes(access), expected, "{bytes} {step} {group}");
        }
    }
}
