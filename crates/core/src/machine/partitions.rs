//! The two partitions of L2, for machine code.
//!
//! An SM is connected to one partition, and each 4 KB of memory have their home in one. For its SMs
//! a partition keeps copies of the other's sectors; atomics are performed at home. So an atomic
//! takes longer to a home in the other partition, as does a strong load of a sector that was
//! changed since. A store from the other partition is seen later at home. Measured on an H200
//! (docs/calibration.md, *Partitions of L2*). Not modeled: weak loads of changed sectors; a load
//! that would see an old value sees the new one, after the time of two.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::cache::SECTOR;
use crate::base::{Cycle, LaneMask, MAX_LANES, SmId};
use crate::exec::{AccessKind, MemoryAccess};
use crate::spec;

/// Bytes in sequence that have one home.
const PIECE: u64 = 4 << 10;

/// The partitions, and what SMs have changed in them.
pub(super) struct Partitions {
    /// Partition of each SM.
    of_sm: Vec<bool>,
    /// Bits of an address whose parity is its home.
    bits: u64,
    far: Cycle,
    crossing: Cycle,
    changes: Mutex<Changes>,
}

/// Last changes of sectors by atomics and strong stores.
pub(super) type Changes = BTreeMap<u64, Change>;

/// Change of a sector.
#[derive(Clone, Copy)]
pub(super) struct Change {
    /// Cycle from which loads at home see it.
    seen: Cycle,
    /// True if the partition that is not its home has read the sector since.
    copied: bool,
}

/// Partitions in which an SM has accessed memory since its last fence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    near: bool,
    far: bool,
}

impl Reached {
    /// The SM's own partition alone.
    pub(super) const NEAR: Reached = Reached { near: true, far: false };

    /// Adds what another access has reached.
    pub(super) fn with(self, other: Reached) -> Reached {
        Reached { near: self.near | other.near, far: self.far | other.far }
    }

    /// Returns the cycles of a fence: `none` without an access, `some` else, and further ones if
    /// the other partition was reached.
    pub(super) fn fence(self, [none, some]: [Cycle; 2], far: Cycle) -> Cycle {
        match self {
            Reached { far: true, .. } => some + far,
            Reached { near: true, .. } => some,
            Reached { .. } => none,
        }
    }
}

impl Partitions {
    /// Creates the partitions of a machine.
    pub(super) fn new(spec: &spec::Partitions, sms: u32) -> Partitions {
        let turns = spec.turns.iter().zip([false, true].into_iter().cycle());
        let of_turns = turns.flat_map(|(&sms, side)| std::iter::repeat_n(side, sms as usize));
        Partitions {
            of_sm: of_turns.chain(std::iter::repeat(false)).take(sms as usize).collect(),
            bits: spec.bits.iter().fold(0, |bits, &bit| bits | 1_u64.checked_shl(bit).unwrap_or(0)),
            far: spec.far.into(),
            crossing: spec.crossing.into(),
            changes: Mutex::default(),
        }
    }

    /// Returns the further cycles of an access that goes to the other partition.
    pub(super) fn far(&self) -> Cycle {
        self.far
    }

    /// Returns a copy of the changes.
    pub(super) fn save(&self) -> Changes {
        self.changes().clone()
    }

    /// Restores changes.
    pub(super) fn restore(&self, changes: &Changes) {
        self.changes().clone_from(changes);
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of_sm(&self, sm: SmId) -> bool {
        self.of_sm.get(sm.0 as usize).copied().unwrap_or_default()
    }

    fn home(&self, address: u64) -> bool {
        (address & self.bits).count_ones() % 2 == 1
    }

    /// Returns the partitions that lanes of an SM reach.
    pub(super) fn reached(
        &self,
        sm: SmId,
        lanes: LaneMask,
        addresses: &[u64; MAX_LANES],
    ) -> Reached {
        let own = self.of_sm(sm);
        let mut reached = Reached::default();
        let mut last = None;
        for lane in lanes.lanes() {
            let address = addresses[lane as usize % MAX_LANES];
            if last.replace(address / PIECE) != Some(address / PIECE) {
                let far = self.home(address) != own;
                reached = reached.with(Reached { near: !far, far });
            }
        }
        reached
    }

    /// Returns the further cycles of an access of an SM, one that others see in its order if
    /// `ordered`. It begins and ends, without them, at `times`.
    pub(super) fn delay(
        &self,
        sm: SmId,
        access: MemoryAccess,
        addresses: &[u64; MAX_LANES],
        times: [Cycle; 2],
        ordered: bool,
    ) -> Cycle {
        let atomic = access.kind == AccessKind::Atomic;
        let by = self.of_sm(sm);
        let mut delay = 0;
        if atomic && self.reached(sm, access.lanes, addresses).far {
            delay = self.far;
        }
        if !ordered {
            return delay;
        }
        let mut changes = self.changes();
        let mut last = None;
        for lane in access.lanes.lanes() {
            let address = addresses[lane as usize % MAX_LANES];
            let home = self.home(address);
            let end = address + u64::from(access.bytes.max(1)) - 1;
            for sector in address / SECTOR..=end / SECTOR {
                if last.replace(sector) == Some(sector) {
                    continue;
                }
                if access.kind != AccessKind::Read {
                    let seen = times[0] + if by == home { 0 } else { self.crossing };
                    // The copy of the SM that stores has the new value, too.
                    let copied = !atomic && by != home;
                    changes.insert(sector, Change { seen, copied });
                } else if let Some(change) = changes.get_mut(&sector) {
                    delay = delay.max(self.of_load(change, by, home, times));
                }
            }
        }
        delay
    }

    /// Returns the further cycles of a load, by an SM of partition `by`, of a changed sector.
    ///
    /// One that comes home before the new value is repeated by a program that waits for it.
    fn of_load(
        &self,
        change: &mut Change,
        by: bool,
        home: bool,
        [begins, ends]: [Cycle; 2],
    ) -> Cycle {
        if by == home {
            if begins < change.seen { ends - begins } else { 0 }
        } else if std::mem::replace(&mut change.copied, true) {
            0
        } else {
            self.far
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Space;

    const NEAR: u64 = 0;
    const FAR: u64 = PIECE;

    fn partitions() -> Partitions {
        let spec =
            spec::Partitions { turns: vec![1, 1], bits: vec![12, 13], far: 200, crossing: 100 };
        Partitions::new(&spec, 3)
    }

    fn access(kind: AccessKind) -> MemoryAccess {
        MemoryAccess {
            space: Space::Global,
            kind,
            lanes: LaneMask::first_n(1),
            bytes: 4,
            bypass_l1: true,
            changed: true,
            row: false,
        }
    }

    /// Returns the further cycles of ordered accesses: SM, kind and address.
    fn delays(accesses: &[(u32, AccessKind, u64)]) -> Vec<Cycle> {
        let partitions = partitions();
        let delay = |(i, &(sm, kind, address)): (Cycle, &(u32, AccessKind, u64))| {
            let times = [1000 + 60 * i, 1300 + 60 * i];
            partitions.delay(SmId(sm), access(kind), &[address; MAX_LANES], times, true)
        };
        (0..).zip(accesses).map(delay).collect()
    }

    #[test]
    fn atomics_take_longer_in_the_other_partition() {
        use AccessKind::Atomic;
        let pieces = [NEAR, FAR, 2 * PIECE, 3 * PIECE].map(|piece| (0, Atomic, piece));
        assert_eq!(delays(&pieces), [0, 200, 200, 0]);
        assert_eq!(delays(&[(1, Atomic, NEAR), (1, Atomic, FAR), (2, Atomic, NEAR)]), [200, 0, 0]);
    }

    #[test]
    fn a_partition_reads_once_what_was_changed_elsewhere() {
        use AccessKind::{Atomic, Read, Write};
        let read = |sm| (sm, Read, NEAR + 8);
        assert_eq!(delays(&[read(0), read(1)]), [0, 0], "nothing was changed");
        let after = |change| delays(&[change, read(0), read(0), read(1), read(1)])[1..].to_vec();
        assert_eq!(after((0, Write, NEAR)), [0, 0, 200, 0]);
        assert_eq!(after((1, Write, NEAR)), [300, 0, 0, 0], "its copy is new, the home not yet");
        assert_eq!(after((0, Atomic, NEAR)), [0, 0, 200, 0]);
        assert_eq!(after((1, Atomic, NEAR)), [300, 0, 200, 0], "performed at home");
        assert_eq!(after((0, Write, NEAR + 32)), [0; 4], "another sector");
    }

    #[test]
    fn a_fence_takes_longer_the_farther_its_sm_has_reached() {
        let partitions = partitions();
        let lanes = LaneMask::first_n(2);
        let of = |pieces: [u64; 2]| {
            let addresses = std::array::from_fn(|lane| pieces[lane % 2]);
            partitions.reached(SmId(0), lanes, &addresses).fence([250, 380], 200)
        };
        assert_eq!([of([NEAR, NEAR]), of([NEAR, FAR]), of([FAR, FAR])], [380, 580, 580]);
        assert_eq!(Reached::default().fence([250, 380], 200), 250);
    }
}
