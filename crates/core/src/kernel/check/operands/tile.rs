//! Tensor maps with the coordinates of a tile: `[map, {x, y}]`.

use super::super::body::Body;
use super::{Arg, Args};
use crate::diag::Diagnostic;
use crate::isa::{FormMatch, Space, Type};
use crate::kernel::{MAX_RANK, Row, TileAt};
use crate::ptx::tree::Operand;

impl Body<'_> {
    /// Resolves a tensor map and the coordinates of a tile.
    pub(super) fn tile(
        &mut self,
        operand: &Operand,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Arg> {
        let parts = match operand {
            Operand::Coordinates(parts, _) => parts.as_slice(),
            _ => &[],
        };
        let [Operand::Name(map), coordinates] = parts else {
            return self.wrong(operand, "tensor map with coordinates, as `[map, {x, y}]`");
        };
        let map = Operand::Address { base: Some(map.clone()), offset: 0, span: map.span };
        let map = self.address(&map, Space::Generic, m, out)?;
        let elements = match coordinates {
            Operand::Vector(elements, _) => elements.as_slice(),
            other => std::slice::from_ref(other),
        };
        let rank = (1..=MAX_RANK).find(|rank| m.has(&format!("{rank}d"))).unwrap_or(1);
        if elements.len() != rank {
            let message = format!("expected {rank} coordinates, found {}", elements.len());
            self.report(Diagnostic::error("vector-length", coordinates.span(), message));
            return None;
        }
        let mut at = TileAt { coordinates: [Row(0); MAX_RANK], rank: rank as u8 };
        for (place, element) in at.coordinates.iter_mut().zip(elements) {
            *place = self.coordinate(element, Type::S32, m, out)?;
        }
        Some(Arg::Tile(map, at))
    }
}
