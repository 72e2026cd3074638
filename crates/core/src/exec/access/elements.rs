//! Elements that lanes move between registers and memory, once their addresses are checked.

use super::Addresses;
use crate::base::{LaneMask, MAX_LANES};
use crate::exec::RegisterFile;
use crate::exec::lanes::fill_each;
use crate::exec::memory::Words;
use crate::kernel::{Load, Row, Store};

/// Bytes of a word.
pub(super) const WORD: u64 = 4;

/// Returns one element, zero-extended.
/// Elements are aligned, so narrow ones stay within a word.
#[inline(always)]
pub(super) fn element(memory: &impl Words, lane: usize, address: u64, bits: u32) -> u64 {
    let word = u64::from(memory.load(lane, address));
    match bits {
        8 => word >> (8 * (address & 3)) & 0xff,
        16 => word >> (8 * (address & 2)) & 0xffff,
        32 => word,
        _ => word | u64::from(memory.load(lane, address.wrapping_add(4))) << 32,
    }
}

/// Sign-extends a value of `bits` bits.
#[inline(always)]
pub(super) fn sign_extend(value: u64, bits: u32) -> u64 {
    ((value << (64 - bits)) as i64 >> (64 - bits)) as u64
}

/// Expands `$body` with `$bits` constant, so that each loop has one width.
macro_rules! by_bits {
    ($ty:expr, $bits:ident => $body:expr) => {
        match $ty.bits() {
            8 => {
                const $bits: u32 = 8;
                $body
            }
            16 => {
                const $bits: u32 = 16;
                $body
            }
            32 => {
                const $bits: u32 = 32;
                $body
            }
            _ => {
                const $bits: u32 = 64;
                $body
            }
        }
    };
}

/// Loads one checked word per lane, as most loads do.
#[inline(always)]
pub(super) fn gather_words(
    memory: &impl Words,
    d: &mut [u32; MAX_LANES],
    lanes: LaneMask,
    addresses: &Addresses,
    row: bool,
) {
    if row && memory.load_row(addresses[0], lanes, d) {
        return;
    }
    fill_each(d, lanes, |lane| memory.load(lane, addresses[lane]));
}

/// Stores one checked word per lane, as most stores do. Returns true if any changed.
#[inline(always)]
pub(super) fn scatter_words(
    memory: &mut impl Words,
    s: &[u32; MAX_LANES],
    lanes: LaneMask,
    addresses: &Addresses,
    row: bool,
) -> bool {
    if row && let Some(changed) = memory.store_row(addresses[0], lanes, s) {
        return changed;
    }
    let mut changed = false;
    in_order_of_stores(lanes, WORD, |lane| {
        changed |= memory.store(lane, addresses[lane], s[lane]);
    });
    changed
}

/// Visits lanes in the order in which an H200 stores `bytes` of each: of several stores to one
/// word, the last one wins.
///
/// An H200 serves groups of 32 lanes, of 16 with 8 bytes each, of 8 with 16, in ascending order. In
/// a group, the lowest lane wins (`tests/observations/h200/winners`).
#[inline(always)]
pub(super) fn in_order_of_stores(lanes: LaneMask, bytes: u64, mut visit: impl FnMut(usize)) {
    if lanes == LaneMask::FULL && bytes <= WORD {
        return (0..MAX_LANES).rev().for_each(visit);
    }
    let group = MAX_LANES / (bytes / WORD).clamp(1, 4) as usize;
    let first = LaneMask::first_n(group as u32);
    for start in (0..MAX_LANES).step_by(group) {
        let mut left = lanes.0 & first.0 << start;
        while left != 0 {
            let lane = left.ilog2();
            visit(lane as usize & (MAX_LANES - 1));
            left ^= 1 << lane;
        }
    }
}

/// Loads checked elements into registers.
#[inline(always)]
pub(super) fn gather(
    memory: &impl Words,
    op: &Load,
    lanes: LaneMask,
    addresses: &Addresses,
    registers: &mut RegisterFile,
) {
    let access = op.access;
    let (bits, step) = (access.ty.bits(), u64::from(access.ty.bytes()));
    // A word that fills its register needs no extension.
    let signed = access.ty.is_signed() && (access.wide || bits < 32);
    for (i, d) in op.d.iter().enumerate().take(access.count.into()) {
        let Some(d) = *d else { continue };
        let delta = step * i as u64;
        by_bits!(access.ty, BITS => {
            let address = |lane: usize| addresses[lane].wrapping_add(delta);
            let value = |lane: usize| element(memory, lane, address(lane), BITS);
            if signed {
                put(registers, d, access.wide, lanes, |lane| sign_extend(value(lane), BITS));
            } else {
                put(registers, d, access.wide, lanes, value);
            }
        });
    }
}

/// Writes lanes of a row of either width.
#[inline(always)]
pub(in crate::exec) fn put(
    registers: &mut RegisterFile,
    d: Row,
    wide: bool,
    lanes: LaneMask,
    value: impl Fn(usize) -> u64,
) {
    if wide {
        fill_each(&mut registers.wide[usize::from(d.0)], lanes, value);
    } else {
        fill_each(&mut registers.narrow[usize::from(d.0)], lanes, |lane| value(lane) as u32);
    }
}

/// Stores checked elements. Returns true if any byte changed.
#[inline(always)]
pub(super) fn scatter(
    memory: &mut impl Words,
    op: &Store,
    lanes: LaneMask,
    addresses: &Addresses,
    registers: &RegisterFile,
) -> bool {
    let access = op.access;
    let step = u64::from(access.ty.bytes());
    let bytes = step * u64::from(access.count);
    let mut changed = false;
    for (i, s) in op.s.iter().enumerate().take(access.count.into()) {
        let at = (lanes, step * i as u64, bytes);
        by_bits!(access.ty, BITS => {
            if access.wide {
                let row = &registers.wide[usize::from(s.0)];
                let value = |lane: usize| row[lane];
                changed |= scatter_element::<BITS>(memory, at, addresses, value);
            } else {
                let row = &registers.narrow[usize::from(s.0)];
                let value = |lane: usize| row[lane].into();
                changed |= scatter_element::<BITS>(memory, at, addresses, value);
            }
        });
    }
    changed
}

#[inline(always)]
fn scatter_element<const BITS: u32>(
    memory: &mut impl Words,
    (lanes, delta, bytes): (LaneMask, u64, u64),
    addresses: &Addresses,
    value: impl Fn(usize) -> u64,
) -> bool {
    let (mut changed, mut last) = (false, PartOfWord::default());
    in_order_of_stores(lanes, bytes, |lane| {
        let address = addresses[lane].wrapping_add(delta);
        changed |= match BITS {
            32 => memory.store(lane, address, value(lane) as u32),
            64 => {
                memory.store(lane, address, value(lane) as u32)
                    | memory.store(lane, address.wrapping_add(4), (value(lane) >> 32) as u32)
            }
            _ => {
                let shift = 8 * (address & 3) as u32;
                let mask = ((1u32 << (BITS % 32)) - 1) << shift;
                let bits = ((value(lane) as u32) << shift) & mask;
                last.add(memory, PartOfWord { lane, address: address & !3, mask, bits })
            }
        };
    });
    changed | last.store(memory)
}

/// Bytes of a word that lanes store, mostly neighbors: one access of the host for all of them.
#[derive(Clone, Copy, Default)]
struct PartOfWord {
    lane: usize,
    address: u64,
    /// Bits of the bytes; 0: none.
    mask: u32,
    bits: u32,
}

impl PartOfWord {
    /// Adds the bytes of the next lane, or stores those before them. Returns true if any changed.
    #[inline(always)]
    fn add<M: Words>(&mut self, memory: &mut M, next: PartOfWord) -> bool {
        // Bytes that a lane stores again are two changes.
        if M::COMMON && self.address == next.address && self.mask & next.mask == 0 {
            (self.mask, self.bits) = (self.mask | next.mask, self.bits | next.bits);
            return false;
        }
        std::mem::replace(self, next).store(memory)
    }

    /// Stores the bytes. Returns true if any changed.
    #[inline(always)]
    fn store(self, memory: &mut impl Words) -> bool {
        let PartOfWord { lane, address, mask, bits } = self;
        match mask {
            0 => false,
            u32::MAX => memory.store(lane, address, bits),
            _ => {
                let (old, new) = memory.update(lane, address, |word| word & !mask | bits);
                old != new
            }
        }
    }
}
