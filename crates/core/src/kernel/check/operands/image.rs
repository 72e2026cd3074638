//! Textures and surfaces with their coordinates: `[object, {x, y}]`.

use super::super::body::Body;
use super::super::names::Found;
use super::{Arg, Args};
use crate::diag::Diagnostic;
use crate::isa::{FormMatch, OperandForm, OperandKind, Sem, Space, Type, TypeRef};
use crate::kernel::{Geometry, Handle, Place, Register, Row};
use crate::ptx::tree::{Name, Operand};

/// Bytes of a reference (`.texref`).
const REFERENCE: u64 = 8;

impl Body<'_> {
    /// Resolves a texture or surface.
    pub(super) fn image(
        &mut self,
        operand: &Operand,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Arg> {
        let query = m.form.sem == Sem::ImageQuery;
        let (object, coordinates) = match operand {
            Operand::Address { base: Some(name), offset: 0, .. } if query => (name, None),
            Operand::Coordinates(parts, _) if !query => match parts.as_slice() {
                [Operand::Name(name), coordinates] => (name, Some(coordinates)),
                [Operand::Name(name), Operand::Name(sampler), coordinates] => {
                    self.sampler(sampler, out)?;
                    (name, Some(coordinates))
                }
                _ => return self.wrong(operand, "texture or surface with coordinates"),
            },
            other => {
                let form = if query { "[object]" } else { "[object, {x, y}]" };
                return self.wrong(other, &format!("texture or surface, as `{form}`"));
            }
        };
        let handle = self.handle(object, out)?;
        let Some(coordinates) = coordinates else { return Some(Arg::Image(handle, None)) };
        let words = m.words.iter().flatten();
        let geometry = words.filter_map(|word| Geometry::from_name(word)).next();
        let geometry = geometry.unwrap_or(Geometry::D2);
        let elements = match coordinates {
            Operand::Vector(elements, _) => elements.as_slice(),
            other => std::slice::from_ref(other),
        };
        let count = geometry.coordinates() + usize::from(geometry.layered());
        // Vectors of three are written with a fourth element, which is not read.
        let padded = count == 3 && elements.len() == 4;
        if elements.len() != count && !padded {
            let message = format!(
                "expected {count} coordinates for `.{}`, found {}",
                geometry.name(),
                elements.len()
            );
            self.report(Diagnostic::error("vector-length", coordinates.span(), message));
            return None;
        }
        let ty = match m.form.sem {
            Sem::Texture => m.second_type(),
            _ => Type::S32,
        };
        let mut rows = Vec::new();
        for (i, element) in elements.iter().take(count).enumerate() {
            let layer = i == 0 && geometry.layered();
            rows.push(self.coordinate(element, if layer { Type::U32 } else { ty }, m, out)?);
        }
        let layer = geometry.layered().then(|| rows.remove(0));
        let mut at = [Row(0); 3];
        at.iter_mut().zip(rows).for_each(|(place, row)| *place = row);
        Some(Arg::Image(handle, Some(Place { geometry, layer, at })))
    }

    /// Reads a sampler of its own, which has no effect: with CUDA's driver, the texture's own one
    /// filters, and a `.samplerref` is not loaded.
    fn sampler(&mut self, name: &Name, out: &mut Args) -> Option<()> {
        match self.find(name)? {
            Found::Register(used) => {
                self.note(used, false, name.span, out);
                Some(())
            }
            _ => {
                let message = format!(
                    "`{}` is a sampler apart from textures, which CUDA's driver does not load",
                    name.text
                );
                let error = Diagnostic::error("operand-kind", name.span, message);
                let help =
                    "write `.target texmode_unified` and no sampler: the texture has its own";
                self.report(error.help(help));
                None
            }
        }
    }

    /// Resolves a gradient.
    pub(super) fn gradient(
        &mut self,
        operand: &Operand,
        form: &OperandForm,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Arg> {
        let elements = match operand {
            Operand::Vector(elements, _) => elements.as_slice(),
            other => std::slice::from_ref(other),
        };
        let mut parts = Vec::new();
        for element in elements {
            parts.push(Some(self.value(element, Type::F32, false, form, m, out)?));
        }
        Some(Arg::Parts(parts, false))
    }

    pub(super) fn coordinate(
        &mut self,
        operand: &Operand,
        ty: Type,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Row> {
        let form = OperandForm {
            name: "coordinate".to_owned(),
            result: false,
            sink: false,
            optional: false,
            kind: OperandKind::Value(TypeRef::Fixed(ty)),
        };
        self.value(operand, ty, false, &form, m, out).map(|value| value.row)
    }

    /// Resolves the object: a 64-bit register, or the name of a reference.
    fn handle(&mut self, name: &Name, out: &mut Args) -> Option<Handle> {
        match self.find(name)? {
            Found::Register(used) => match self.note(used, false, name.span, out) {
                (Register::Wide(row), ty) if !ty.is_float() => Some(Handle::Wide(row)),
                _ => self.wrong(&Operand::Name(name.clone()), "64-bit register with an object"),
            },
            Found::Symbol(symbol) if symbol.space == Space::Global && symbol.bytes == REFERENCE => {
                Some(Handle::Reference(symbol.address))
            }
            _ => self.wrong(&Operand::Name(name.clone()), "texture or surface"),
        }
    }
}
