//! Warp-wide instructions: shuffles, votes, matches, reductions over the executing lanes.

use super::rows::{row, write};
use crate::base::{LaneMask, MAX_LANES};
use crate::exec::RegisterFile;
use crate::exec::lanes::{predicate, set_predicate};
use crate::exec::warp::{reduce, shuffle_sources};
use crate::kernel::{Native, ReduxFn, ShuffleMode, VoteFn};

/// Executes SHFL. A lane that reads a lane that does not execute it gets 0, as on an H200.
#[inline(always)]
pub(super) fn shuffle(
    op: &Native,
    mode: ShuffleMode,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let (sources, inside) = shuffle_sources(mode, row(registers, op.s[1]), row(registers, op.s[2]));
    let a = row(registers, op.s[0]);
    let mut read = [0; MAX_LANES];
    for (read, &source) in read.iter_mut().zip(&sources) {
        *read = a[source as usize & (MAX_LANES - 1)];
    }
    if lanes != LaneMask::FULL {
        for (read, source) in read.iter_mut().zip(sources) {
            *read = if lanes.0 >> (source & 31) & 1 == 1 { *read } else { 0 };
        }
    }
    write(op, lanes, registers, |lane| read[lane]);
    if let Some(p) = op.p[0] {
        set_predicate(registers, p, lanes, inside);
    }
}

/// Executes VOTE and VOTEU for the `active` lanes.
pub(super) fn vote(op: &Native, f: VoteFn, active: LaneMask, registers: &mut RegisterFile) {
    let yes = predicate(registers, op.q[0]) & active.0;
    if f == VoteFn::Elect {
        let lowest = active.lowest().unwrap_or(0);
        write(op, LaneMask::FULL, registers, |_| lowest);
        if let Some(p) = op.p[0] {
            set_predicate(registers, p, active, 1 << lowest);
        }
        return;
    }
    let holds = match f {
        VoteFn::All => yes == active.0,
        VoteFn::Any | VoteFn::Elect => yes != 0,
        VoteFn::Equal => yes == 0 || yes == active.0,
    };
    let lanes = if op.uniform && !active.is_empty() { LaneMask::FULL } else { active };
    write(op, lanes, registers, |_| yes);
    if let Some(p) = op.p[0] {
        set_predicate(registers, p, lanes, if holds { u32::MAX } else { 0 });
    }
}

/// Executes MATCH.
pub(super) fn matching(
    op: &Native,
    all: bool,
    wide: bool,
    lanes: LaneMask,
    registers: &mut RegisterFile,
) {
    let row = usize::from(op.s[0].row.0);
    let low = registers.narrow[row];
    let high = if wide { registers.narrow[row + 1] } else { [0; MAX_LANES] };
    let mut peers = [0_u32; MAX_LANES];
    for lane in lanes.lanes() {
        let lane = lane as usize & (MAX_LANES - 1);
        for other in lanes.lanes() {
            let o = other as usize & (MAX_LANES - 1);
            peers[lane] |= u32::from((low[o], high[o]) == (low[lane], high[lane])) << other;
        }
    }
    let agree = lanes.lanes().all(|lane| peers[lane as usize & (MAX_LANES - 1)] == lanes.0);
    write(op, lanes, registers, |lane| if all && !agree { 0 } else { peers[lane] });
    if let Some(p) = op.p[0] {
        set_predicate(registers, p, lanes, if agree { u32::MAX } else { 0 });
    }
}

/// Executes REDUX for the `active` lanes; the result is a uniform register.
pub(super) fn redux(
    op: &Native,
    f: ReduxFn,
    signed: bool,
    active: LaneMask,
    registers: &mut RegisterFile,
) {
    if active.is_empty() {
        return;
    }
    let a = registers.narrow[usize::from(op.s[0].row.0)];
    let values = active.lanes().map(|lane| a[lane as usize & (MAX_LANES - 1)]);
    let reduced = values.reduce(|x, y| reduce(f, signed, x, y)).unwrap_or(0);
    write(op, LaneMask::FULL, registers, |_| reduced);
}
