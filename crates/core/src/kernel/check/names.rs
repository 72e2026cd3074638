//! Name resolution: registers, variables, special registers, functions, constants.

use super::body::Body;
use super::scope::Used;
use super::system::HOST_LAUNCH;
use super::variables::Symbol;
use crate::diag::Diagnostic;
use crate::kernel::layout::{RESERVED_SHARED, RESERVED_SHARED_END};
use crate::kernel::{Clock, Special};
use crate::ptx::tree::Name;

/// Value of `WARP_SZ`, also on machines with fewer lanes per warp.
pub(super) const WARP_SIZE: u32 = 32;

/// Entity that a name refers to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Found {
    /// A declared register.
    Register(Used),
    /// A variable or parameter.
    Symbol(Symbol),
    /// A special register that is constant during the lifetime of a thread.
    Special(Special),
    /// Address of a device function.
    Function(u64),
    /// A clock.
    Clock(Clock),
    /// `WARP_SZ`, or a special register with the same value in every run.
    Constant(u32),
}

const SPECIALS: &[(&str, Special)] = &[
    ("%tid.x", Special::Tid(0)),
    ("%tid.y", Special::Tid(1)),
    ("%tid.z", Special::Tid(2)),
    ("%ntid.x", Special::Ntid(0)),
    ("%ntid.y", Special::Ntid(1)),
    ("%ntid.z", Special::Ntid(2)),
    ("%ctaid.x", Special::Ctaid(0)),
    ("%ctaid.y", Special::Ctaid(1)),
    ("%ctaid.z", Special::Ctaid(2)),
    ("%nctaid.x", Special::Nctaid(0)),
    ("%nctaid.y", Special::Nctaid(1)),
    ("%nctaid.z", Special::Nctaid(2)),
    ("%laneid", Special::Laneid),
    ("%warpid", Special::Warpid),
    ("%nwarpid", Special::Nwarpid),
    ("%smid", Special::Smid),
    ("%nsmid", Special::Nsmid),
    ("%gridid", Special::Gridid),
    ("%lanemask_eq", Special::LanemaskEq),
    ("%lanemask_le", Special::LanemaskLe),
    ("%lanemask_lt", Special::LanemaskLt),
    ("%lanemask_ge", Special::LanemaskGe),
    ("%lanemask_gt", Special::LanemaskGt),
    ("%dynamic_smem_size", Special::DynamicSmemSize),
    ("%total_smem_size", Special::TotalSmemSize),
    ("%aggr_smem_size", Special::AggrSmemSize),
];

/// Special registers with the offsets of the reserved shared memory.
///
/// Cooperative groups use the second of its two areas.
const RESERVED: &[(&str, u32)] = &[
    ("%reserved_smem_offset_begin", 0),
    ("%reserved_smem_offset_end", RESERVED_SHARED_END),
    ("%reserved_smem_offset_cap", RESERVED_SHARED),
    ("%reserved_smem_offset_0", 0),
    ("%reserved_smem_offset_1", RESERVED_SHARED / 2),
];

/// Returns true for a special register with an offset of reserved shared memory.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.iter().any(|(reserved, _)| *reserved == name)
}

const CLOCKS: &[(&str, Clock)] = &[
    ("%clock", Clock::Low),
    ("%clock_hi", Clock::High),
    ("%clock64", Clock::Wide),
    ("%globaltimer", Clock::Timer),
    ("%globaltimer_lo", Clock::TimerLow),
    ("%globaltimer_hi", Clock::TimerHigh),
];

/// Returns the predefined entity of this name.
pub(super) fn special_of(name: &str) -> Option<Found> {
    match name {
        "WARP_SZ" => Some(Found::Constant(WARP_SIZE)),
        // Without clusters, every block is a cluster of one block.
        "%cluster_ctaid.x" | "%cluster_ctaid.y" | "%cluster_ctaid.z" | "%cluster_ctarank" => {
            Some(Found::Constant(0))
        }
        "%cluster_nctaid.x" | "%cluster_nctaid.y" | "%cluster_nctaid.z" | "%cluster_nctarank" => {
            Some(Found::Constant(1))
        }
        "%clusterid.x" => Some(Found::Special(Special::Ctaid(0))),
        "%clusterid.y" => Some(Found::Special(Special::Ctaid(1))),
        "%clusterid.z" => Some(Found::Special(Special::Ctaid(2))),
        "%nclusterid.x" => Some(Found::Special(Special::Nctaid(0))),
        "%nclusterid.y" => Some(Found::Special(Special::Nctaid(1))),
        "%nclusterid.z" => Some(Found::Special(Special::Nctaid(2))),
        // A driver sets two of these, for cooperative launches.
        "%envreg1" => Some(Found::Special(Special::Workspace(1))),
        "%envreg2" => Some(Found::Special(Special::Workspace(0))),
        _ if name
            .strip_prefix("%envreg")
            .is_some_and(|n| n.parse::<u8>().is_ok_and(|n| n < 32)) =>
        {
            Some(Found::Constant(0))
        }
        _ => {
            if let Some(&(_, offset)) = RESERVED.iter().find(|(n, _)| *n == name) {
                return Some(Found::Constant(offset));
            }
            let clock =
                CLOCKS.iter().find(|(n, _)| *n == name).map(|&(_, clock)| Found::Clock(clock));
            clock.or_else(|| {
                SPECIALS
                    .iter()
                    .find(|(n, _)| *n == name)
                    .map(|&(_, special)| Found::Special(special))
            })
        }
    }
}

impl Body<'_> {
    /// Resolves `name`; `None` after reporting that it is unknown.
    pub(super) fn find(&mut self, name: &Name) -> Option<Found> {
        if let Some(used) = self.scopes.register(&name.text, &mut self.rows) {
            return Some(Found::Register(used));
        }
        let symbol = self
            .scopes
            .symbol(&name.text)
            .or_else(|| self.statics.symbols.get(name.text.as_str()).copied());
        if let Some(symbol) = symbol {
            return Some(Found::Symbol(symbol));
        }
        if let Some(found) = special_of(&name.text) {
            return Some(found);
        }
        if let Some(function) = self.functions.find(&name.text) {
            return Some(Found::Function(self.functions.list[function].address));
        }
        let is_register = name.text.starts_with('%');
        let is_kernel = self.functions.kernels.contains(&name.text.as_str());
        let message = match name.text.as_str() {
            "_" => "unexpected `_`".to_string(),
            text if is_register => format!("register `{text}` is not declared"),
            text if is_kernel => format!(
                "the address of kernel `{text}` is not supported: the simulator has no device-side \
                 launch (dynamic parallelism)"
            ),
            text => format!("cannot find variable or register `{text}`"),
        };
        let mut error = Diagnostic::error("unknown-name", name.span, message);
        if is_kernel {
            error = error.help(HOST_LAUNCH);
        } else if ["%tid", "%ntid", "%ctaid", "%nctaid"].contains(&name.text.as_str()) {
            error = error.help(format!("name a dimension: `{}.x`", name.text));
        } else {
            let specials = SPECIALS.iter().map(|(n, _)| *n).chain(CLOCKS.iter().map(|(n, _)| *n));
            let shared = self.statics.shared.iter().map(|variable| variable.name.text.as_str());
            let others = specials.chain(self.statics.symbols.keys().copied());
            let others: Vec<&str> = others.chain(shared).chain(self.functions.names()).collect();
            error.help = self.scopes.suggestion(&name.text, &others);
        }
        // Each missing declaration is reported once.
        if self.unknown.insert(name.text.clone()) {
            self.report(error);
        } else {
            self.failed = true;
        }
        None
    }
}
