//! Numbers of the lane sets into which a warp diverges.

use crate::base::LaneMask;

/// Numbering of a warp's lane sets.
///
/// All live lanes together are path 0. When the warp diverges, each set that issues gets the next
/// number and keeps it until the warp is whole again.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    lanes: LaneMask,
    sets: Vec<LaneMask>,
}

impl Paths {
    pub(super) fn new(lanes: LaneMask) -> Paths {
        Paths { lanes, sets: Vec::new() }
    }

    /// Returns the path of `active`, given the `live` lanes.
    pub(super) fn of(&mut self, active: LaneMask, live: LaneMask) -> u32 {
        self.lanes &= live;
        if self.lanes.is_subset(active) {
            self.sets.clear();
            return 0;
        }
        // A set that has lost lanes is still the same set.
        for set in &mut self.sets {
            *set &= live;
        }
        let at = self.sets.iter().position(|&set| set == active).unwrap_or_else(|| {
            self.sets.push(active);
            self.sets.len() - 1
        });
        at as u32 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_keep_their_number_until_the_warp_is_whole() {
        let mut paths = Paths::new(LaneMask(0xff));
        let path = |paths: &mut Paths, active, live| paths.of(LaneMask(active), LaneMask(live));
        let issued = [
            (0xff, 0),
            (0x0f, 1),
            (0xf0, 2),
            (0x03, 3),
            (0x0f, 1),
            (0xff, 0),
            (0xf0, 1),
            (0x0f, 2),
        ];
        for (active, expected) in issued {
            assert_eq!(path(&mut paths, active, 0xff), expected, "{active:x}");
        }
        assert_eq!(path(&mut paths, 0x70, 0x7f), 1, "lane 7 has exited");
        assert_eq!(path(&mut paths, 0x7f, 0x7f), 0, "all live lanes");
    }
}
