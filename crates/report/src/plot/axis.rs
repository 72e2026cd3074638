//! The horizontal axis of a picture.

use super::palette::{GREY, INK, PALE, face};
use super::scene::{Area, Scene};
use crate::numbers::grouped;
use crate::timeline::Axis;
use simt_core::event::Stall;
use simt_core::observe::Strip;

/// Horizontal axis of a picture, shared by all its strips.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub axis: Axis,
    left: i32,
    width: i32,
    /// First issue number or cycle shown, and one past the last.
    from: u64,
    to: u64,
}

/// Contents of a column of a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// Issue with this index.
    Issue(usize),
    /// Wait between two machine instructions of the issue with this index.
    Between { issue: usize, stall: Stall },
    /// Wait after the issue or step `after`, for the issue `next` (indices).
    Wait { after: usize, next: Option<usize> },
}

/// A column of a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub from: i32,
    pub to: i32,
    pub shows: Shows,
}

/// Minimum and maximum width of a column of the issue axis.
const COLUMN: (i32, i32) = (4, 22);

impl Scale {
    /// Makes an axis for `strips` from `left` over about `room` pixels.
    /// Issue columns may need more.
    pub(super) fn new<'a>(
        strips: impl Iterator<Item = &'a Strip> + Clone,
        axis: Axis,
        left: i32,
        room: i32,
    ) -> Scale {
        let issues = || strips.clone().flat_map(|s| &s.issues);
        let (from, to) = match axis {
            Axis::Issue => (issues().map(|i| i.number).min(), issues().map(|i| i.number + 1).max()),
            Axis::Cycle => {
                let end = |s: &Strip| s.ended.or(s.issues.last().map(|i| i.end().max(i.cycle + 1)));
                (issues().map(|i| i.cycle).min(), strips.clone().filter_map(end).max())
            }
        };
        let from = from.unwrap_or(0);
        let to = to.unwrap_or(from).max(from.saturating_add(1));
        let width = match axis {
            Axis::Cycle => room,
            Axis::Issue => {
                let columns = i32::try_from(to - from).unwrap_or(i32::MAX).min(1 << 16);
                columns * (room / columns).clamp(COLUMN.0, COLUMN.1)
            }
        };
        Scale { axis, left, width, from, to }
    }

    pub(super) const fn left(&self) -> i32 {
        self.left
    }

    pub(super) const fn right(&self) -> i32 {
        self.left + self.width
    }

    /// Returns the range of cycles or issue numbers.
    pub(super) const fn span(&self) -> (u64, u64) {
        (self.from, self.to)
    }

    /// Returns the left edge of an issue number or cycle.
    pub(super) fn x(&self, at: u64) -> i32 {
        let part = u128::from(at.clamp(self.from, self.to) - self.from);
        let width = u128::from(self.width.unsigned_abs());
        self.left
            + i32::try_from(part * width / u128::from(self.to - self.from)).unwrap_or(self.width)
    }

    /// Returns the columns of a strip, left to right. A step without an issue slot has none; it
    /// belongs to the issue before.
    pub(super) fn columns(&self, strip: &Strip) -> Vec<Column> {
        let mut columns = Vec::new();
        let issued: Vec<usize> =
            (0..strip.issues.len()).filter(|&i| strip.issues[i].slots > 0).collect();
        for (k, &i) in issued.iter().enumerate() {
            let issue = &strip.issues[i];
            let next = issued.get(k + 1).copied();
            let mut to = self.x(if self.axis == Axis::Issue { issue.number } else { issue.cycle });
            let mut add = |end: u64, least: i32, shows: Shows| {
                let from = to;
                to = self.x(end).max(from + least).min(self.right().max(from + least));
                if to > from {
                    columns.push(Column { from, to, shows });
                }
            };
            match self.axis {
                Axis::Issue => add(issue.number + 1, 2, Shows::Issue(i)),
                // Events closer than a pixel are merged.
                Axis::Cycle => {
                    for span in issue.spans().into_iter().filter(|span| span.from >= issue.cycle) {
                        match span.stall {
                            None => add(
                                span.to,
                                if span.from == issue.cycle { 2 } else { 0 },
                                Shows::Issue(i),
                            ),
                            Some(stall) => add(span.to, 0, Shows::Between { issue: i, stall }),
                        }
                    }
                }
            }
            let until = next.map_or(strip.ended, |next| Some(strip.issues[next].cycle));
            if let (Axis::Cycle, Some(until)) = (self.axis, until) {
                let after = next.unwrap_or(strip.issues.len()) - 1;
                columns.push(Column {
                    from: to,
                    to: self.x(until).max(to),
                    shows: Shows::Wait { after, next },
                });
            }
        }
        columns
    }

    /// Draws the axis below `area`, with faint lines through it; returns its lower end.
    pub(super) fn draw(&self, scene: &mut Scene, area: Area) -> i32 {
        let y = area.bottom();
        scene.line((self.left, y), (self.right(), y), GREY);
        let span = self.to - self.from;
        let most = u64::try_from(self.width / 64).unwrap_or(1).max(1);
        let step = nice_step(span.div_ceil(most));
        let mut tick = self.from.next_multiple_of(step);
        while tick < self.to {
            // An issue's number is centred below its column.
            let x = match self.axis {
                Axis::Issue => (self.x(tick) + self.x(tick + 1)) / 2,
                Axis::Cycle => self.x(tick),
            };
            scene.line((x, y), (x, y + 4), GREY);
            scene.text((x, y + 12), face(10, GREY).middle(), grouped(tick));
            tick = match tick.checked_add(step) {
                Some(next) => next,
                None => break,
            };
        }
        scene.text((self.right() + 8, y + 12), face(10, INK), self.axis.name());
        y + 22
    }

    /// Draws faint lines at the left and right edge of an area.
    pub(super) fn border(&self, scene: &mut Scene, area: Area) {
        scene.outline(Area { x: self.left, w: self.width, ..area }, PALE);
    }
}

/// Returns the smallest of 1, 2, 5, 10, 20, .. that is at least `least`.
pub(super) fn nice_step(least: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for factor in [1, 2, 5] {
            match power.checked_mul(factor) {
                Some(step) if step >= least => return step,
                Some(_) => {}
                None => return least,
            }
        }
        power = power.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn steps_are_round() {
        for (least, step) in
            [(0, 1), (1, 1), (3, 5), (6, 10), (11, 20), (21, 50), (999, 1000), (u64::MAX, u64::MAX)]
        {
            assert_eq!(super::nice_step(least), step);
        }
    }
}
