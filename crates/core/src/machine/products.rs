//! Groups of matrix products that a warp has not waited for (`wgmma`).

use std::collections::VecDeque;

use crate::base::Cycle;

/// Ends of the products of a warp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Products {
    /// End of the last product since the last group; 0: none.
    open: Cycle,
    /// Ends of the groups, oldest first.
    groups: VecDeque<Cycle>,
}

impl Products {
    /// Notes a product that is done at `done`.
    pub(super) fn start(&mut self, done: Cycle) {
        self.open = self.open.max(done);
    }

    /// Makes a group of the products since the last one, at `now`. It may be empty.
    pub(super) fn commit(&mut self, now: Cycle) {
        while self.groups.front().is_some_and(|&done| done <= now) {
            self.groups.pop_front();
        }
        self.groups.push_back(std::mem::take(&mut self.open));
    }

    /// Returns when at most `left` groups are incomplete.
    pub(super) fn done(&self, left: u32) -> Cycle {
        self.groups.iter().rev().skip(left as usize).copied().max().unwrap_or(0)
    }

    /// Forgets all products.
    pub(super) fn clear(&mut self) {
        self.open = 0;
        self.groups.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_leaves_the_latest_groups() {
        let mut products = Products::default();
        products.start(100);
        products.start(120);
        products.commit(10);
        products.start(150);
        products.commit(20);
        assert_eq!([0, 1, 2].map(|left| products.done(left)), [150, 120, 0]);
        // The first group is done, and a group without products counts.
        products.commit(130);
        assert_eq!([0, 1, 2].map(|left| products.done(left)), [150, 150, 0]);
        products.clear();
        assert_eq!(products, Products::default());
    }
}
