//! Records of a cell that several lanes have accessed, and their conflicts with an access.

use super::{Cell, Conflict, MOST_RECORDS, Manner, NOBODY, Record, SEVERAL, Tag, Touch, Write};
use crate::checks::clocks::Past;
use crate::checks::slab::Slab;

#[inline]
pub(super) fn compare(
    cell: &mut Cell,
    several: &mut Slab<Vec<Record>>,
    touch: &Touch,
    byte: u32,
    knows: &impl Fn(Past) -> bool,
    found: &mut impl FnMut(Conflict),
) {
    let Write { warp, stamp, tag, value } = cell.write;
    let mut raced = false;
    if warp != NOBODY {
        let past = Past { warp, lane: tag.lane(), stamp };
        // The last weak write conflicts with any access.
        let own = past == touch.past && touch.is_of(past.lane);
        if !own && !knows(past) {
            raced = true;
            let same_value = touch.write && touch.manner != Manner::Atomic && touch.value == value;
            found(Conflict {
                past,
                pc: tag.pc(),
                manner: tag.manner(),
                write: true,
                same_value,
                byte,
            });
        }
    }
    let weak_write = touch.write && touch.manner == Manner::Weak;
    if touch.write && matches!(touch.manner, Manner::Strong | Manner::Volatile) {
        match cell.other.warp {
            SEVERAL => {
                let list = several.get_mut(cell.other.stamp).into_iter().flatten();
                list.for_each(|record| record.tag.overwrite());
            }
            _ => cell.other.tag.overwrite(),
        }
    }
    let other = cell.other;
    if other.warp == NOBODY {
        if !weak_write {
            cell.other = record(touch);
        }
    } else if other.warp != SEVERAL {
        let one = std::slice::from_ref(&other);
        if touch.write || other.tag.write() {
            conflicts(one, touch, byte, raced, knows, found);
        }
        if weak_write {
            cell.other.warp = NOBODY;
        } else if observes(touch, &other) {
            cell.other = record(touch);
        } else if joins(&other, touch) {
            cell.other.lanes |= touch.lanes;
        } else if replaced(&other, touch, knows) {
            cell.other = record(touch);
        } else {
            cell.several(several, record(touch));
        }
    } else {
        let Some(list) = several.get_mut(other.stamp) else { return };
        if touch.write || list.iter().any(|record| record.tag.write()) {
            conflicts(list, touch, byte, raced, knows, found);
        }
        if weak_write {
            list.clear();
        } else {
            insert(list, touch, knows);
        }
    }
    if weak_write {
        cell.write = written(touch);
    }
}

/// Reports the records that race with the access. If the last write already races, one report
/// suffices.
pub(super) fn conflicts(
    records: &[Record],
    touch: &Touch,
    byte: u32,
    raced: bool,
    knows: &impl Fn(Past) -> bool,
    found: &mut impl FnMut(Conflict),
) {
    for record in records {
        let (tag, warp, stamp) = (record.tag, record.warp, record.stamp);
        if !(touch.write || tag.write()) || !touch.manner.conflicts(tag.manner()) {
            continue;
        }
        let mine = touch.past.warp == warp;
        let others = record.lanes.lanes().filter(|&lane| !(mine && touch.is_of(lane)));
        let unknown = others.map(|lane| Past { warp, lane, stamp }).find(|&past| !knows(past));
        if let Some(past) = unknown {
            found(Conflict {
                past,
                pc: tag.pc(),
                manner: tag.manner(),
                write: tag.write(),
                same_value: false,
                byte,
            });
            if raced {
                return;
            }
        }
    }
}

pub(super) fn written(touch: &Touch) -> Write {
    let Past { warp, stamp, .. } = touch.past;
    Write { warp, stamp, tag: Tag::new(touch), value: touch.value }
}

pub(super) fn record(touch: &Touch) -> Record {
    let Past { warp, stamp, .. } = touch.past;
    Record { warp, stamp, tag: Tag::new(touch), lanes: touch.lanes }
}

/// Returns true if the access reads what the record's atomics left.
fn observes(touch: &Touch, record: &Record) -> bool {
    touch.observes && record.tag.manner() == Manner::Atomic
}

/// Returns true if the access extends the record.
#[inline]
pub(super) fn joins(record: &Record, touch: &Touch) -> bool {
    record.warp == touch.past.warp
        && record.stamp == touch.past.stamp
        && record.tag.kind() == Tag::new(touch).kind()
}

/// Returns true if the access covers the whole record from now on.
#[inline]
pub(super) fn replaced(record: &Record, touch: &Touch, knows: &impl Fn(Past) -> bool) -> bool {
    let tag = record.tag;
    let covers = touch.manner.covers(tag.manner()) && (touch.write || !tag.write());
    let (warp, stamp) = (record.warp, record.stamp);
    let known = |lane: u32| {
        let past = Past { warp, lane, stamp };
        knows(past)
    };
    // Each lane knows its own earlier accesses.
    covers
        && (warp == touch.past.warp && record.lanes.is_subset(touch.lanes)
            || record.lanes.lanes().all(known))
}

/// Returns true if records of two groups cover the access (see [`Touch::apart`]).
pub(super) fn is_covered<'r>(
    records: impl Iterator<Item = &'r Record>,
    touch: &Touch,
    knows: &impl Fn(Past) -> bool,
) -> bool {
    let Some(warps) = touch.apart else { return false };
    let kind = Tag::new(touch).kind();
    let unordered = |r: &&Record| {
        let first = |lane| Past { warp: r.warp, lane, stamp: r.stamp };
        let known = |past| knows(past);
        r.tag.kind() == kind && r.lanes.lowest().is_some_and(|lane| !known(first(lane)))
    };
    let mut groups = records.filter(unordered).map(|r| r.warp / warps);
    let first = groups.next();
    groups.any(|group| Some(group) != first)
}

pub(super) fn insert(list: &mut Vec<Record>, touch: &Touch, knows: &impl Fn(Past) -> bool) {
    list.retain(|record| !observes(touch, record));
    if let Some(same) = list.iter_mut().find(|record| joins(record, touch)) {
        same.lanes |= touch.lanes;
        return;
    }
    if is_covered(list.iter(), touch, knows) {
        return;
    }
    list.retain(|record| !replaced(record, touch, knows));
    if list.len() < MOST_RECORDS {
        list.push(record(touch));
    }
}
