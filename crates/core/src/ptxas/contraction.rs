//! Contraction of products and sums of floats.
//!
//! PTX lets the compiler fuse a product with a sum or difference that uses it, unless one of them
//! names its rounding (`mul.rn`): the product is not rounded. The rules were read off machine code
//! for sm_90 that ptxas 13.0 makes of some seventy small kernels, each for f32, f64, f16, bf16 and
//! pairs of f16:
//!
//! - Product and sum are in one basic block and have the same `.ftz`; the product has no guard and
//!   no `.sat`. Every use of the product is such a sum, by one operand.
//! - Of a sum of two products, the one with no other use is fused, else the first operand.
//! - Products with several uses come after all those with one, sum by sum. One of them stays if a
//!   sum has fused another product with it before.
//!
//! An approximate quotient ends with a product, for which the same holds: a division under
//! `-use_fast_math` and a sum.
//!
//! A product of which every use is fused takes no issue slot, and a quotient one fewer.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::values::Values;
use crate::kernel::{BasicBlock, FusedSum, Inst, Kernel, LaneFn, LaneOp, Op, Register, Row};

impl Draft {
    /// Fuses products with sums.
    pub(super) fn with_contractions(self) -> Contracted {
        let contractions = Contractions::of(&self.kernel);
        if contractions.fused.is_empty() {
            return Contracted { draft: self, unused: Vec::new() };
        }
        let mut insts = self.kernel.insts.clone();
        for (&sum, &product) in &contractions.fused {
            insts[sum] = fused(&insts[sum], &self.kernel.insts[product]);
        }
        let unused = contractions.unused();
        let functions = self.kernel.functions.clone();
        Contracted { draft: self.with(insts, functions, self.predicated.clone()), unused }
    }
}

/// Result of the pass.
pub(super) struct Contracted {
    pub(super) draft: Draft,
    /// Products and quotients of which every use is fused.
    unused: Vec<usize>,
}

impl Contracted {
    /// Takes the products that are fused from the counts of machine instructions.
    pub(super) fn discount(&self, counts: &mut [u32]) {
        for &at in &self.unused {
            let is_product = matches!(
                lane(&self.draft.kernel.insts[at]),
                Some(LaneOp { f: LaneFn::FMul(_), .. })
            );
            counts[at] = if is_product { 0 } else { counts[at].saturating_sub(1) };
        }
    }
}

/// Products of a kernel, and the sums that fuse them.
struct Contractions {
    /// Products that may be fused, by their number of an instruction, with the sums that use them.
    products: BTreeMap<usize, Vec<usize>>,
    /// The products among them that a sum uses: first operand, second operand.
    operands: BTreeMap<usize, [Option<usize>; 2]>,
    /// Product that each sum fuses.
    fused: BTreeMap<usize, usize>,
}

impl Contractions {
    fn of(kernel: &Kernel) -> Contractions {
        let values = Values::new(kernel);
        let blocks = kernel.flow.blocks().iter().map(BasicBlock::range);
        let products: BTreeMap<usize, Vec<usize>> = blocks
            .flat_map(|block| block.clone().map(move |at| (at, block.end)))
            .filter_map(|(at, end)| Some((at, sums_of(kernel, &values, at, end)?)))
            .collect();
        let mut operands: BTreeMap<usize, [Option<usize>; 2]> = BTreeMap::new();
        for (&product, sums) in &products {
            let result = lane(&kernel.insts[product]).map(|op| op.d);
            for &sum in sums {
                let Some(LaneOp { s, .. }) = lane(&kernel.insts[sum]) else { continue };
                let place = usize::from(Some(s[0]) != result);
                operands.entry(sum).or_default()[place] = Some(product);
            }
        }
        let mut contractions = Contractions { products, operands, fused: BTreeMap::new() };
        contractions.fuse(|this, product| this.products[&product].len() == 1);
        contractions.fuse(Contractions::is_free);
        contractions
    }

    /// Fuses each sum with its first product that `fits`, in the order of sums.
    fn fuse(&mut self, fits: fn(&Contractions, usize) -> bool) {
        let sums: Vec<usize> = self.operands.keys().copied().collect();
        for sum in sums {
            let mut products = self.operands[&sum].into_iter().flatten();
            if !self.fused.contains_key(&sum)
                && let Some(product) = products.find(|&product| fits(self, product))
            {
                self.fused.insert(sum, product);
            }
        }
    }

    /// Returns true if no sum that uses a product has fused another one with it.
    fn is_free(&self, product: usize) -> bool {
        let by = |sum| self.fused.get(sum);
        self.products[&product].iter().all(|sum| by(sum).is_none_or(|&other| other == product))
    }

    /// Returns the products of which every use is fused.
    fn unused(&self) -> Vec<usize> {
        let is_fused = |product, sum| self.fused.get(sum) == Some(product);
        let unused = self.products.iter().filter(|(p, sums)| sums.iter().all(|s| is_fused(p, s)));
        unused.map(|(&product, _)| product).collect()
    }
}

fn lane(inst: &Inst) -> Option<&LaneOp> {
    if let Op::Lane(op) = &inst.op { Some(op) } else { None }
}

/// Returns the sums that use product `at` of a block that ends at `end`, if they can fuse it.
fn sums_of(kernel: &Kernel, values: &Values<'_>, at: usize, end: usize) -> Option<Vec<usize>> {
    let product = &kernel.insts[at];
    let &LaneOp { f, ty, d, .. } = lane(product)?;
    let ftz = match f {
        LaneFn::FMul(mode) if !mode.sat => mode.ftz,
        LaneFn::DivApprox { ftz, .. } => ftz,
        _ => return None,
    };
    if !product.contracts || product.guard.is_some() {
        return None;
    }
    let &[result] = product.writes.as_slice() else { return None };
    let sums = values.uses(result, at).filter(|sums| !sums.is_empty())?;
    let is_sum = |&sum: &usize| {
        let inst = &kernel.insts[sum];
        let Some(&LaneOp { f, ty: own, s: [a, b, ..], .. }) = lane(inst) else { return false };
        let (LaneFn::FAdd(mode) | LaneFn::FSub(mode)) = f else { return false };
        let same = own == ty && mode.ftz == ftz;
        (at + 1..end).contains(&sum) && inst.contracts && same && (a == d) != (b == d)
    };
    let last = *sums.last()?;
    let between = kernel.insts.get(at + 1..last)?;
    let writes = |inst: &Inst, register: &Register| inst.writes.contains(register);
    // A guarded write leaves the product in some lanes.
    let stays = |inst: &Inst| inst.guard.is_some() && writes(inst, &result);
    // An exit of some lanes begins a block.
    let keeps = |inst: &Inst| {
        inst.op != Op::Exit && !product.reads.iter().any(|register| writes(inst, register))
    };
    let fits = sums.iter().all(is_sum)
        && between.iter().all(keeps)
        && !kernel.insts[at + 1..end].iter().any(stays);
    fits.then_some(sums)
}

/// Returns a sum or difference that computes its product, too.
fn fused(sum: &Inst, product: &Inst) -> Inst {
    let mut fused = sum.clone();
    let (Op::Lane(op), Some(&LaneOp { f, d, s: [x, y, ..], .. })) = (&mut fused.op, lane(product))
    else {
        return fused;
    };
    let (LaneFn::FAdd(mode) | LaneFn::FSub(mode)) = op.f else { return fused };
    let [a, b, ..] = op.s;
    op.s = [x, y, if a == d { b } else { a }, Row::default()];
    let sum = match op.f {
        LaneFn::FAdd(_) => FusedSum::Add,
        _ if b == d => FusedSum::From,
        _ => FusedSum::Sub,
    };
    op.f = match (f, sum) {
        (LaneFn::DivApprox { full, .. }, _) => LaneFn::FusedQuotient { full, mode, sum },
        (_, FusedSum::Add) => LaneFn::Fma(mode),
        _ => LaneFn::FusedProduct { mode, sum },
    };
    fused.reads.retain(|register| !product.writes.contains(register));
    let more: Vec<Register> =
        product.reads.iter().filter(|register| !fused.reads.contains(register)).copied().collect();
    fused.reads.extend(more);
    fused
}

#[cfg(test)]
mod tests;
