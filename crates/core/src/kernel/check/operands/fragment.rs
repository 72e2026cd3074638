//! Fragments of matrices: their shapes, their registers, and operands in braces.

use super::super::body::Body;
use super::{Arg, Args};
use crate::diag::Diagnostic;
use crate::isa::{FormMatch, OperandForm, Sem, Type};
use crate::kernel::{FactorType, Mma, SumType};
use crate::ptx::tree::Operand;

/// Shape and types of a matrix product or of one of its fragments.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Product {
    /// Rows of A, columns of B, columns of A.
    pub(in super::super) shape: [u32; 3],
    /// Types of A and B.
    pub(in super::super) factors: [FactorType; 2],
    /// Types of D and C.
    pub(in super::super) sums: [SumType; 2],
    /// True for `wmma`.
    pub(in super::super) wmma: bool,
}

impl Product {
    /// Returns the shape and types that a mnemonic names.
    ///
    /// A fragment of a factor leaves the types of the sums open, one of a sum those of the factors.
    pub(in super::super) fn of(m: &FormMatch<'_>) -> Product {
        let words: Vec<&str> = m.words.iter().flatten().copied().collect();
        let number = |text: &str| text.parse::<u32>().ok();
        let shape = words.iter().find_map(|word| {
            let (rows, rest) = word.strip_prefix('m')?.split_once('n')?;
            let (columns, depth) = rest.split_once('k')?;
            Some([number(rows)?, number(columns)?, number(depth)?])
        });
        let start = words.iter().position(|word| word.starts_with("m") && word.contains('k'));
        let types: Vec<&str> = words[start.map_or(0, |at| at + 1)..]
            .iter()
            .copied()
            .filter(|w| FactorType::from_name(w).is_some() || SumType::from_name(w).is_some())
            .collect();
        let sum = |at: usize| types.get(at).and_then(|name| SumType::from_name(name));
        let factor = |at: usize| types.get(at).and_then(|name| FactorType::from_name(name));
        let last = types.len().saturating_sub(1);
        // `.d.a.b.c`, of f16 `.d.c`, of a warpgroup `.d.a.b`, of a fragment its own type.
        let factors = if types.len() >= 3 { [factor(1), factor(2)] } else { [factor(0); 2] };
        let factors = if types.len() == 2 { [Some(FactorType::F16); 2] } else { factors };
        Product {
            shape: shape.unwrap_or([16, 8, 8]),
            factors: factors.map(|ty| ty.unwrap_or(FactorType::F16)),
            sums: [sum(0), sum(if types.len() == 3 { 0 } else { last })]
                .map(|ty| ty.unwrap_or(SumType::F32)),
            wmma: m.form.opcode == "wmma",
        }
    }

    /// Returns the registers of A, B, C and D.
    pub(in super::super) fn counts(&self) -> [usize; 4] {
        let [m, n, k] = self.shape;
        let [d, c] = self.sums.map(|ty| m * n / if ty == SumType::F16 { 64 } else { 32 });
        let [a, b] = [(m, 0), (n, 1)].map(|(outer, i)| {
            // Fragments of f16 always have eight registers; some are copies.
            match self.factors[i] {
                FactorType::F16 if self.wmma => 8,
                ty => outer * k / (32 * ty.per_register()),
            }
        });
        // A warp has sixteen of the 64 rows of its warpgroup.
        let (a, c, d) = if m == 64 { (a / 4, c / 4, d / 4) } else { (a, c, d) };
        [a, b, c, d].map(|count| count as usize)
    }

    /// Returns the type of a register of the operand, and the number of registers.
    fn registers(&self, m: &FormMatch<'_>, operand: &OperandForm) -> (Type, usize) {
        let [a, b, c, d] = self.counts();
        let sum = |ty: SumType| match ty {
            SumType::F16 => Type::B32,
            SumType::F32 => Type::F32,
            SumType::F64 => Type::F64,
            SumType::S32 => Type::S32,
        };
        let factor = |ty: FactorType| if ty == FactorType::F64 { Type::F64 } else { Type::B32 };
        match (m.form.sem, operand.name.as_str()) {
            (Sem::MatrixLoad | Sem::MatrixStore, _) => {
                let count = m.pick(&[("x2", 2), ("x4", 4)]).unwrap_or(1);
                (Type::B32, count)
            }
            (Sem::FragmentLoad, _) if m.has("a") => (factor(self.factors[0]), a),
            (Sem::FragmentLoad, _) if m.has("b") => (factor(self.factors[0]), b),
            (Sem::FragmentLoad | Sem::FragmentStore, _) => (sum(self.sums[0]), d),
            (_, "a") => (factor(self.factors[0]), a),
            (_, "b") => (factor(self.factors[1]), b),
            (_, "c") => (sum(self.sums[1]), c),
            _ => (sum(self.sums[0]), d),
        }
    }

    /// Returns the product of a warp that `mma` names, without its registers.
    pub(in super::super) fn mma(&self, sum: SumType) -> Mma {
        let [m, _, k] = self.shape;
        Mma {
            m: m as u8,
            k: k as u16,
            factors: self.factors,
            sum,
            combine: crate::kernel::Combine::Multiply,
            saturates: false,
            a: Vec::new(),
            b: Vec::new(),
            c: Vec::new(),
            d: None,
            pairs: false,
        }
    }
}

impl Body<'_> {
    /// Resolves the registers of a fragment.
    pub(super) fn fragment(
        &mut self,
        operand: &Operand,
        form: &OperandForm,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Arg> {
        let (ty, count) = Product::of(m).registers(m, form);
        let elements = match operand {
            Operand::Vector(elements, _) => elements.as_slice(),
            // A in shared memory has a descriptor.
            other if m.form.sem == Sem::GroupMma && form.name == "a" => {
                return self.value(other, Type::B64, false, form, m, out).map(Arg::Value);
            }
            other => std::slice::from_ref(other),
        };
        if elements.len() != count {
            let plural = if count == 1 { "" } else { "s" };
            let message = format!(
                "expected {count} register{plural} for `{}` of `{}`, found {}",
                form.name,
                m.mnemonic(),
                elements.len()
            );
            self.report(Diagnostic::error("vector-length", operand.span(), message));
            return None;
        }
        let mut parts = Vec::new();
        for element in elements {
            parts.push(Some(self.value(element, ty, false, form, m, out)?));
        }
        Some(Arg::Parts(parts, ty.is_wide()))
    }
}
