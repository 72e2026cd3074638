//! Warps of SMs that have ended, for SMs that begin: their registers have memory already.

use std::sync::Mutex;

use super::warp::Warp;
use crate::divergence::WarpControl;

/// Warps of ended SMs, each SM's by slot.
#[derive(Default)]
pub(super) struct Spares(Mutex<Vec<Vec<Warp>>>);

impl Spares {
    /// Returns `count` warps that have not started, with the control state `idle`. Those that no SM
    /// has left are made by `new` from their slot.
    pub(super) fn take(
        &self,
        count: usize,
        idle: &WarpControl,
        new: impl Fn(usize) -> Warp,
    ) -> Vec<Warp> {
        let left = self.0.lock().ok().and_then(|mut spares| spares.pop());
        let mut warps = left.unwrap_or_default();
        warps.truncate(count);
        warps.iter_mut().for_each(|warp| warp.renew(idle.clone()));
        warps.extend((warps.len()..count).map(new));
        warps
    }

    /// Keeps the warps of an SM that has ended.
    pub(super) fn give(&self, warps: Vec<Warp>) {
        if let Ok(mut spares) = self.0.lock() {
            spares.push(warps);
        }
    }
}
