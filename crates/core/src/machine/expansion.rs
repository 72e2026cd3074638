//! Issue of a step that becomes several machine instructions, as `rem` becomes seventeen.
//!
//! The machine instructions form a chain in which each needs the one before. They take issue slots
//! one by one, interleaved with other warps' instructions. The machine file's price of the class is
//! that of the whole chain, measured as a whole: the chain takes the class's latency, and its
//! interval is the time for which the instructions on the class's unit (conversions and a
//! reciprocal, for example) keep that unit busy together. Those instructions come first. On a
//! machine with two integer units (products on the second), the remaining instructions of an
//! integer division alternate between the two, as ptxas distributes them; elsewhere they need an
//! issue slot only. The step takes effect when its first instruction issues, which no other warp
//! can observe; its results are ready after the last.

use super::scheduler::Port;
use crate::isa::{Class, Unit};
use crate::spec::Machine;

/// One machine instruction of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub port: Port,
    /// Port of the next one; `None` after the last one.
    pub next: Option<Port>,
    /// Cycles for which it keeps its unit busy.
    pub interval: u32,
    /// Cycles until the next one, which needs its result, may issue.
    pub gap: u32,
}

/// Machine instructions of a step.
#[derive(Clone, Debug)]
pub(super) struct Expansion {
    parts: Vec<Part>,
    /// Cycles from the issue of the last one to the result.
    pub tail: u32,
}

impl Expansion {
    /// Creates an expansion of `count` instructions, of which `on_unit` use `port`.
    ///
    /// `count` is at least one.
    pub(super) fn new(
        class: Class,
        port: Port,
        count: u32,
        on_unit: u32,
        spec: &Machine,
    ) -> Expansion {
        let price = spec.price(class);
        let on_unit = on_unit.clamp(1, count);
        let even = price.latency / count;
        // An instruction on the special function unit takes its measured latency if the whole is
        // long enough.
        let trip = if port == Port::Sfu { spec.price(Class::Special).latency } else { even };
        let others = count - on_unit;
        let trip = if trip.saturating_mul(on_unit).saturating_add(others) > price.latency {
            even
        } else {
            trip
        };
        let rest = price.latency - trip * on_unit;
        let unit = Part { port, next: None, interval: price.interval / on_unit, gap: trip.max(1) };
        let longer = on_unit - price.interval % on_unit;
        let gap = rest.checked_div(others).unwrap_or(0).max(1);
        let spent =
            if others == 0 { (on_unit - 1) * trip } else { on_unit * trip + (others - 1) * gap };
        let tail = price.latency.saturating_sub(spent).max(1);
        let other = |port, interval| Part { port, next: None, interval, gap };
        let (logic, product) = (spec.price(Class::Logic), spec.price(Class::IntMul));
        let others = match (class, product.unit) {
            (Class::IntDiv | Class::IntDiv64, Some(Unit::Fma)) => {
                [other(Port::Alu, logic.interval), other(Port::Fma, product.interval)]
            }
            _ => [other(Port::None, 0); 2],
        };
        // The unit's intervals add up to the whole: the last ones are a cycle longer.
        let on_unit_part = |i| Part { interval: unit.interval + u32::from(i >= longer), ..unit };
        let part = |i: u32| match i.checked_sub(on_unit) {
            None => on_unit_part(i),
            Some(other) => others[other as usize % 2],
        };
        let next = |i: u32| (i + 1 < count).then(|| part(i + 1).port);
        Expansion { parts: (0..count).map(|i| Part { next: next(i), ..part(i) }).collect(), tail }
    }

    /// Returns the number of machine instructions.
    pub(super) fn count(&self) -> u32 {
        self.parts.len() as u32
    }

    /// Returns the `i`-th instruction.
    #[inline(always)]
    pub(super) fn part(&self, i: u32) -> Part {
        self.parts[i as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_add_up_to_the_measured_whole() {
        let h200 = Machine::preset_text("h200")
            .and_then(|text| Machine::parse(text).ok())
            .unwrap_or_else(|| panic!("a preset"));
        for (class, port, count, on_unit) in [
            (Class::IntDiv, Port::Sfu, 17, 3),
            (Class::IntDiv64, Port::Sfu, 72, 3),
            (Class::Logic, Port::Alu, 2, 1),
        ] {
            let price = h200.price(class);
            let whole = Expansion::new(class, port, count, on_unit, &h200);
            let parts: Vec<Part> = (0..count).map(|i| whole.part(i)).collect();
            let unit = &parts[..on_unit as usize];
            assert_eq!(unit.iter().map(|p| p.interval).sum::<u32>(), price.interval, "{class:?}");
            assert!(unit.iter().all(|p| p.port == port), "{class:?}");
            let chain: u32 = parts[..parts.len() - 1].iter().map(|p| p.gap).sum();
            assert_eq!(chain + whole.tail, price.latency, "{class:?}");
        }
    }
}
