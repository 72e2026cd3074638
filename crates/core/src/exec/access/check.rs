//! Resolution and bounds check of each lane's address.

use super::Addresses;
use crate::base::{LaneMask, MAX_LANES};
use crate::exec::memory::Segment;
use crate::exec::{Effect, Env, Fault, FaultKind, MemoryAccess, RegisterFile};
use crate::isa::Space;
use crate::kernel::layout::{GLOBAL_BASE, LOCAL_WINDOW, RAISED, SHARED_WINDOW, WINDOW_BYTES};
use crate::kernel::{Address, AddressBase, NativeAddress, Row};

/// Computation for the addresses of lanes.
pub(super) trait WithAddresses {
    type Output;
    /// Runs it if all lanes have one address.
    fn one(self, address: u64) -> Self::Output;
    /// Runs it for the addresses of lanes 0..32.
    fn each(self, address: impl Fn(usize) -> u64) -> Self::Output;
}

/// Runs a computation for the sums of base and offset.
/// A 32-bit base wraps in 32 bits, as the hardware's address adder does.
#[inline(always)]
pub(super) fn with_addresses<W: WithAddresses>(
    address: Address,
    registers: &RegisterFile,
    with: W,
) -> W::Output {
    match address.base {
        AddressBase::Zero => with.one(address.offset as u64),
        AddressBase::Narrow(row) => {
            let base = &registers.narrow[usize::from(row.0)];
            with.each(|lane| base[lane].wrapping_add(address.offset as u32).into())
        }
        AddressBase::Wide(row) => {
            let base = &registers.wide[usize::from(row.0)];
            with.each(|lane| base[lane].wrapping_add_signed(address.offset))
        }
        AddressBase::Native(base) => with_native(base, address.offset, registers, with),
    }
}

/// Runs a computation for addresses of machine code.
#[inline(always)]
fn with_native<W: WithAddresses>(
    base: NativeAddress,
    offset: i64,
    registers: &RegisterFile,
    with: W,
) -> W::Output {
    let word = |row: Row, next: u16| &registers.narrow[usize::from(row.0 + next)];
    let uniform = base.uniform.map_or(0, |row| {
        let high = if base.uniform_pair { u64::from(word(row, 1)[0]) } else { 0 };
        high << 32 | u64::from(word(row, 0)[0])
    });
    let constant = uniform.wrapping_add_signed(offset);
    let kept = if base.wide { u64::MAX } else { u64::from(u32::MAX) };
    match (base.row, base.pair) {
        (None, _) => with.one(constant & kept),
        (Some(row), true) => {
            let (low, high) = (word(row, 0), word(row, 1));
            let pair = |lane: usize| u64::from(high[lane]) << 32 | u64::from(low[lane]);
            with.each(|lane| pair(lane).wrapping_add(constant) & kept)
        }
        (Some(row), false) => {
            let low = word(row, 0);
            let value = |lane: usize| u64::from(low[lane]) << base.shift;
            with.each(|lane| value(lane).wrapping_add(constant) & kept)
        }
    }
}

/// Computes the addresses of `lanes`. Those of other lanes may change, too.
#[inline(always)]
pub(in crate::exec) fn fill_addresses(
    address: Address,
    lanes: LaneMask,
    registers: &RegisterFile,
    out: &mut Addresses,
) {
    with_addresses(address, registers, Fill { lanes, out });
}

/// Writes the addresses of `lanes`, or of all.
struct Fill<'a> {
    lanes: LaneMask,
    out: &'a mut Addresses,
}

impl WithAddresses for Fill<'_> {
    type Output = ();
    #[inline(always)]
    fn one(self, address: u64) {
        *self.out = [address; MAX_LANES];
    }
    /// Several are read before they are written, so that the loop vectorises.
    #[inline(always)]
    fn each(self, address: impl Fn(usize) -> u64) {
        if self.lanes.is_sparse() {
            for lane in self.lanes.lanes() {
                let lane = lane as usize & (MAX_LANES - 1);
                self.out[lane] = address(lane);
            }
            return;
        }
        const VECTOR: usize = 4;
        for first in (0..MAX_LANES).step_by(VECTOR) {
            let new: [u64; VECTOR] = std::array::from_fn(|i| address(first + i));
            self.out[first..first + VECTOR].copy_from_slice(&new);
        }
    }
}

/// The lanes of one access, split by memory.
pub(super) struct Parts {
    list: [(Space, LaneMask); 3],
    /// Number of entries used: one, except for a generic access to several memories.
    count: usize,
}

impl Parts {
    #[inline(always)]
    pub(super) fn single(space: Space, lanes: LaneMask) -> Parts {
        Parts { list: [(space, lanes); 3], count: 1 }
    }

    /// Returns the only memory accessed with its lanes; `None` if there may be several.
    #[inline(always)]
    pub(super) fn only(&self) -> Option<(Space, LaneMask)> {
        (self.count == 1).then_some(self.list[0])
    }

    /// Iterates over the memories accessed, each with its lanes (at least one).
    #[inline(always)]
    fn iter(&self) -> impl Iterator<Item = (Space, LaneMask)> + '_ {
        self.numbered().map(|(_, part)| part)
    }

    /// As [`Parts::iter`], with the index of each entry.
    #[inline(always)]
    fn numbered(&self) -> impl Iterator<Item = (usize, (Space, LaneMask))> + '_ {
        let list = self.list[..self.count.min(3)].iter().copied().enumerate();
        list.filter(|(_, (_, lanes))| !lanes.is_empty())
    }

    /// Returns the effect of an access that has been served; `access` holds what its parts have in
    /// common.
    #[inline(always)]
    pub(super) fn effect(&self, access: MemoryAccess, served: Served, env: &mut Env<'_>) -> Effect {
        if let Some((space, lanes)) = self.only() {
            let (changed, row) = (served.any(), served.row);
            return Effect::Access(MemoryAccess { space, lanes, changed, row, ..access });
        }
        self.accesses(access, served, &mut env.system.parts)
    }

    /// As [`Parts::effect`], for several memories.
    #[cold]
    #[inline(never)]
    fn accesses(
        &self,
        access: MemoryAccess,
        served: Served,
        parts: &mut Vec<MemoryAccess>,
    ) -> Effect {
        parts.clear();
        parts.extend(self.numbered().map(|(i, (space, lanes))| {
            let changed = served.changed >> i & 1 != 0;
            MemoryAccess { space, lanes, changed, row: false, ..access }
        }));
        Effect::Accesses
    }
}

/// What the service of an access did.
#[derive(Clone, Copy, Default)]
pub(super) struct Served {
    /// Bit `i` is set if memory changed in entry `i` of [`Parts`].
    pub(super) changed: u8,
    /// True if all 32 lanes access contiguous elements of one memory in lane order.
    pub(super) row: bool,
}

impl Served {
    /// Returns true if any memory changed.
    #[inline(always)]
    pub(super) fn any(self) -> bool {
        self.changed != 0
    }

    /// Returns what the services of two elements of one vector did.
    pub(super) fn and(self, next: Served) -> Served {
        Served { changed: self.changed | next.changed, row: self.row && next.row }
    }
}

/// Finds the memory of each lane and turns generic addresses into offsets in it.
///
/// The block's shared memory begins `start` bytes after the start of the window.
#[inline(always)]
pub(super) fn resolve(
    space: Space,
    lanes: LaneMask,
    start: u64,
    addresses: &mut Addresses,
) -> Parts {
    if space != Space::Generic {
        return Parts::single(space, lanes);
    }
    let (mut shared, mut local) = (0, 0);
    for (lane, a) in addresses.iter_mut().enumerate() {
        let in_shared = a.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES;
        let in_local = a.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES;
        shared |= u32::from(in_shared) << lane;
        local |= u32::from(in_local) << lane;
        let raised = a.wrapping_sub(RAISED) < GLOBAL_BASE;
        *a = if raised { *a - RAISED } else { *a };
        let reserved = if in_shared { start } else { 0 };
        *a = if in_shared | in_local { (*a % WINDOW_BYTES).wrapping_sub(reserved) } else { *a };
    }
    let (shared, local) = (lanes & LaneMask(shared), lanes & LaneMask(local));
    let global = lanes - shared - local;
    for (space, part) in [(Space::Global, global), (Space::Shared, shared), (Space::Local, local)] {
        if part == lanes {
            return Parts::single(space, lanes);
        }
    }
    Parts {
        list: [(Space::Global, global), (Space::Shared, shared), (Space::Local, local)],
        count: 3,
    }
}

/// Result of checking an access.
#[derive(Clone, Copy, Default)]
pub(in crate::exec) struct Reach<'a> {
    /// The segment that all lanes access, if it is a single one.
    pub(super) segment: Option<&'a Segment>,
    /// True if all 32 lanes access contiguous elements in lane order.
    pub(super) row: bool,
}

/// Checks all memories, then calls `serve` for each, which returns true if memory changed.
/// [`first_fault`] recomputes the fault: returning it from the check would cost the common path
/// more than the check itself.
#[inline(always)]
pub(super) fn serve_parts<'a>(
    parts: &Parts,
    bytes: u64,
    write: bool,
    env: &mut Env<'a>,
    mut serve: impl FnMut(&mut Env<'a>, Space, LaneMask, Reach<'a>) -> bool,
) -> Result<Served, Fault> {
    if parts.count == 1 {
        let (space, lanes) = parts.list[0];
        let Some(reach) = check(space, lanes, bytes, write, env) else {
            return Err(first_fault(parts, bytes, write, env));
        };
        let changed = u8::from(serve(env, space, lanes, reach));
        return Ok(Served { changed, row: reach.row });
    }
    if parts.iter().any(|(space, lanes)| check(space, lanes, bytes, write, env).is_none()) {
        return Err(first_fault(parts, bytes, write, env));
    }
    let mut changed = 0;
    for (i, (space, lanes)) in parts.numbered() {
        // Checked above; lanes in several segments have no single one.
        let reach = check(space, lanes, bytes, write, env).unwrap_or_default();
        changed |= u8::from(serve(env, space, lanes, reach)) << i;
    }
    Ok(Served { changed, row: false })
}

/// Returns how the lanes (at least one) reach their memory; `None` on a fault.
#[inline(always)]
pub(in crate::exec) fn check<'a>(
    space: Space,
    lanes: LaneMask,
    bytes: u64,
    write: bool,
    env: &Env<'a>,
) -> Option<Reach<'a>> {
    let addresses = &*env.addresses;
    let first = addresses[lanes.0.trailing_zeros() as usize & (MAX_LANES - 1)];
    let (start, end, segment) = match space {
        Space::Shared => (0, env.shared.bytes(), None),
        Space::Local => (env.local.start(), env.local.bytes(), None),
        Space::Param => (0, env.params.len() as u64, None),
        Space::Generic | Space::Global | Space::Const => {
            let segment = env.global.segment(first)?;
            (segment.address, segment.bytes, Some(segment))
        }
    };
    let writable = segment.map_or(space != Space::Param, |s| s.writable) && space != Space::Const;
    if write && !writable {
        return None;
    }
    // An access fits if its offset is at most `last`: one comparison with unsigned wrap-around.
    let last = end.checked_sub(bytes)?;
    let fits = |a: u64| (a.wrapping_sub(start) <= last) & (a & (bytes - 1) == 0);
    let row = lanes == LaneMask::FULL && is_row(addresses, bytes);
    let good = if row {
        fits(first) & fits(addresses[MAX_LANES - 1])
    } else if lanes == LaneMask::FULL {
        all_fit(addresses, start, last, bytes)
    } else {
        lanes.lanes().all(|lane| fits(addresses[lane as usize & (MAX_LANES - 1)]))
    };
    if good {
        return Some(Reach { segment, row });
    }
    // Rare: a fault, or lanes in different segments.
    let fault = lanes.lanes().any(|lane| lane_fault(lane, space, bytes, write, env).is_some());
    if fault { None } else { Some(Reach::default()) }
}

/// Returns true if all offsets from `start` are at most `last` and all addresses are aligned.
/// Has no comparison per lane, so that it vectorises: a sign shows an offset beyond `last`.
#[inline(always)]
fn all_fit(addresses: &Addresses, start: u64, last: u64, bytes: u64) -> bool {
    if last >> 63 != 0 {
        return false;
    }
    // A vector each, or the compiler takes one lane after the other.
    const VECTOR: usize = 4;
    let (mut signs, mut low) = ([0; VECTOR], [0; VECTOR]);
    for vector in addresses.chunks_exact(VECTOR) {
        for (i, &address) in vector.iter().enumerate() {
            let offset = address.wrapping_sub(start);
            signs[i] |= offset | last.wrapping_sub(offset);
            low[i] |= address;
        }
    }
    let any = |of: [u64; VECTOR]| of.into_iter().fold(0, |any, one| any | one);
    (any(signs) >> 63 == 0) & (any(low) & (bytes - 1) == 0)
}

/// Returns true if lane `l` is at lane 0 plus `l * bytes`.
/// Has no comparison per lane, so that it vectorises.
#[inline(always)]
fn is_row(addresses: &Addresses, bytes: u64) -> bool {
    let first = addresses[0];
    if addresses[1] != first.wrapping_add(bytes) {
        return false; // the rest need not be looked at
    }
    let mut difference = 0;
    for (lane, &a) in addresses.iter().enumerate() {
        difference |= a ^ first.wrapping_add(bytes.wrapping_mul(lane as u64));
    }
    difference == 0
}

/// Returns the fault of the lowest faulting lane in any memory.
#[cold]
#[inline(never)]
pub(super) fn first_fault(parts: &Parts, bytes: u64, write: bool, env: &Env<'_>) -> Fault {
    let faults = parts.iter().filter_map(|(space, lanes)| {
        lanes.lanes().find_map(|lane| lane_fault(lane, space, bytes, write, env))
    });
    faults
        .min_by_key(|fault| fault.lane)
        .unwrap_or_else(|| unreachable!("the check found a lane at fault"))
}

/// As [`first_fault`], for an access to one memory.
#[cold]
pub(in crate::exec) fn first_fault_of(
    space: Space,
    lanes: LaneMask,
    bytes: u64,
    write: bool,
    env: &Env<'_>,
) -> Fault {
    first_fault(&Parts::single(space, lanes), bytes, write, env)
}

/// Returns the fault of one lane's access, if any.
/// Out of bounds takes precedence: a wild pointer is often misaligned as well.
fn lane_fault(lane: u32, space: Space, bytes: u64, write: bool, env: &Env<'_>) -> Option<Fault> {
    let address = env.addresses[lane as usize & (MAX_LANES - 1)];
    let inside = |start: u64, size: u64| {
        size.checked_sub(bytes).is_some_and(|last| address.wrapping_sub(start) <= last)
    };
    let segment = env.global.segment(address).filter(|s| s.holds(address, bytes));
    let (found, writable) = match space {
        Space::Shared => (inside(0, env.shared.bytes()), true),
        Space::Local => (inside(env.local.start(), env.local.bytes()), true),
        Space::Param => (inside(0, env.params.len() as u64), false),
        Space::Const => (segment.is_some(), false),
        Space::Generic | Space::Global => (segment.is_some(), segment.is_some_and(|s| s.writable)),
    };
    let size = bytes as u32;
    let kind = if !found {
        FaultKind::OutOfBounds { space, address, bytes: size }
    } else if address & (bytes - 1) != 0 {
        FaultKind::Misaligned { space, address, bytes: size }
    } else if write && !writable {
        FaultKind::ReadOnly { address }
    } else {
        return None;
    };
    Some(Fault { lane, kind })
}
