//! Lowering of `wmma.load` and `wmma.store` to loads and stores, as NVIDIA's compiler does.
//!
//! The manual leaves the layout of these fragments open; this is that of an H200
//! (tests/observations/h200/tensor.txt). Lane `l` is in group `g = l / 4` with place `t = l % 4`.
//! An element has an outer index `g + ..` and an inner one `s t + ..`: rows and columns of A, the
//! reverse for B; of C and D rows and columns, or the reverse in `m8n32k16`. `s` is the number of
//! elements in a register, of C and D 2. Neighbors of the inner index that are neighbors in memory
//! are loaded together.

use super::super::body::{Body, Origin};
use super::super::operands::{Args, Product, Value, space};
use super::lane;
use super::matrix::{fragment, repeats};
use crate::isa::{Class, FormMatch, Sem, Type};
use crate::kernel::{
    Access, Address, AddressBase, LaneFn, Load, MatrixAccess, MatrixMove, MemoryOrder, Op,
    Register, Row, Scope, Special, Store, SumType,
};

/// Elements of a fragment that one lane holds, relative to its outer and inner base.
struct Layout {
    /// Outer and inner index of each element, register by register.
    elements: Vec<(u32, u32)>,
    /// Elements in a register.
    per_register: usize,
    /// Bits of an element.
    bits: u32,
    /// Inner index of a group's second lane.
    step: u32,
    /// True if the outer index is that of rows.
    outer_is_row: bool,
    /// Rows and columns of the matrix.
    size: [u32; 2],
}

impl Layout {
    fn of(m: &FormMatch<'_>, product: &Product) -> Layout {
        let [rows, columns, depth] = product.shape;
        let is_a = m.form.sem == Sem::FragmentLoad && m.has("a");
        let is_b = m.form.sem == Sem::FragmentLoad && m.has("b");
        if !is_a && !is_b {
            return Layout::of_sum(product);
        }
        let (outer, size) = if is_a { (rows, [rows, depth]) } else { (columns, [depth, columns]) };
        let ty = product.factors[0];
        let per = ty.per_register();
        let steps = (depth / (4 * per)).max(1);
        let count = outer / 8 * steps;
        let place = |r: u32| match outer {
            8 => (0, r),
            16 if is_b => (8 * (r / steps), r % steps),
            _ => (8 * (r % 2) + 16 * (r / (2 * steps)), r / 2 % steps),
        };
        let elements = (0..count).flat_map(|r| {
            let (outer, step) = place(r);
            (0..per).map(move |h| (outer, h + 4 * per * step))
        });
        Layout {
            elements: elements.collect(),
            per_register: per as usize,
            bits: ty.bits(),
            step: per,
            outer_is_row: is_a,
            size,
        }
    }

    fn of_sum(product: &Product) -> Layout {
        let [rows, columns, _] = product.shape;
        let count = rows * columns / 32;
        let place = |v: u32| {
            let (outer, inner, block) = (8 * (v % 4 / 2), v % 2, v / 4);
            if columns == 16 { (outer, inner + 8 * block) } else { (outer + 16 * block, inner) }
        };
        let (bits, per_register) = match product.sums[0] {
            SumType::F16 => (16, 2),
            SumType::F64 => (64, 1),
            SumType::F32 | SumType::S32 => (32, 1),
        };
        Layout {
            elements: (0..count).map(place).collect(),
            per_register,
            bits,
            step: 2,
            outer_is_row: columns != 32,
            size: [rows, columns],
        }
    }
}

/// Addresses of a lane's elements.
struct Addresses {
    /// Address of the element with both indices at the lane's base.
    base: AddressBase,
    offset: i64,
    registers: Vec<Register>,
    /// Elements from one major index to the next, and their registers.
    stride: (Row, Vec<Register>),
    /// Major indices with an address of their own.
    known: Vec<(u32, AddressBase, Vec<Register>)>,
}

/// Returns the type of a word of `bits` bits.
fn word(bits: u32) -> Type {
    match bits {
        8 => Type::U8,
        16 => Type::U16,
        64 => Type::B64,
        _ => Type::B32,
    }
}

impl Body<'_> {
    /// Lowers `wmma.load` and `wmma.store`.
    pub(super) fn fragment_access(&mut self, m: &FormMatch<'_>, args: &Args, origin: Origin) {
        let product = Product::of(m);
        let layout = Layout::of(m, &product);
        let stores = m.form.sem == Sem::FragmentStore;
        let (list, at) = if stores { (1, 0) } else { (0, 1) };
        let values = fragment(args, list);
        self.together(m, origin);
        let row_major = m.has("row");
        let outer_is_major = layout.outer_is_row == row_major;
        let mut addresses = self.addresses(m, args, at, &layout, outer_is_major, origin);
        // Elements of one access: all of a register, or two sums, if they are neighbors in memory.
        let per = layout.per_register;
        let registers = layout.elements.len() / per;
        let pairs = per == 1 && layout.step == 2;
        let at_once = match (outer_is_major, pairs) {
            (true, true) => 2,
            (true, false) => per,
            (false, _) => 1,
        };
        let chunks: Vec<&[(u32, u32)]> = layout.elements.chunks(at_once).collect();
        for (i, chunk) in chunks.iter().enumerate() {
            let (outer, inner) = chunk[0];
            let (major, minor) = if outer_is_major { (outer, inner) } else { (inner, outer) };
            let (address, reads) =
                self.address_of(&mut addresses, (major, minor), layout.bits, origin);
            let first = i * at_once / per;
            let covered: Vec<Value> =
                values.iter().skip(first).take(at_once.div_ceil(per)).copied().collect();
            let access = |ty: Type, count: u8| Access {
                space: space(m),
                ty,
                count,
                wide: ty.is_wide(),
                order: MemoryOrder::Weak,
                scope: Scope::Gpu,
                bypass_l1: false,
            };
            let whole = at_once >= per;
            let ty = if whole && per > 1 { Type::B32 } else { word(layout.bits) };
            let access = access(ty, covered.len() as u8);
            match (stores, whole) {
                (false, true) => {
                    let mut d = [None; 4];
                    d.iter_mut().zip(&covered).for_each(|(d, value)| *d = Some(value.row));
                    let writes: Vec<Register> = covered.iter().filter_map(|v| v.register).collect();
                    let op = Op::Load(Load { access, d, address, uniform: false });
                    self.emit(origin, op, &reads, &writes);
                }
                (false, false) => {
                    let (row, register) = self.rows.scratch(false);
                    let d = [Some(row), None, None, None];
                    let op = Op::Load(Load { access, d, address, uniform: false });
                    self.emit(origin, op, &reads, &[register]);
                    self.pack_part(covered[0], i % per, per, (row, register), origin);
                }
                (true, _) => {
                    let mut s = [Row(0); 4];
                    let mut all = reads.clone();
                    for (place, value) in s.iter_mut().zip(&covered) {
                        let part = if whole { 0 } else { i % per };
                        let (row, register) = self.part(*value, part, per, origin);
                        *place = row;
                        all.extend(register);
                    }
                    let op = Op::Store(Store { access, s, address });
                    self.emit(origin, op, &all, &[]);
                }
            }
        }
        if !stores && repeats(&product) && !m.has("c") {
            let origin = Origin { class: Class::Move, ..origin };
            for (i, copy) in values.iter().enumerate().skip(registers) {
                let source = values[i % registers];
                let op = lane(LaneFn::Mov, Type::B32, copy.row, &[source.row]);
                let reads: Vec<Register> = source.register.into_iter().collect();
                let writes: Vec<Register> = copy.register.into_iter().collect();
                self.emit(origin, op, &reads, &writes);
            }
        }
    }

    /// Emits the step at which all lanes of the warp meet.
    fn together(&mut self, m: &FormMatch<'_>, origin: Origin) {
        let op = Op::MatrixAccess(Box::new(MatrixAccess {
            direction: MatrixMove::Load,
            space: space(m),
            address: Address { base: AddressBase::Zero, offset: 0 },
            transposed: false,
            rows: Vec::new(),
        }));
        self.emit(Origin { class: Class::WarpSync, ..origin }, op, &[], &[]);
    }

    /// Emits an element-wise step with a new result.
    fn computed(
        &mut self,
        f: LaneFn,
        (ty, wide): (Type, bool),
        sources: &[(Row, Vec<Register>)],
        origin: Origin,
    ) -> (Row, Vec<Register>) {
        let (row, register) = self.rows.scratch(wide);
        let rows: Vec<Row> = sources.iter().map(|(row, _)| *row).collect();
        let reads: Vec<Register> = sources.iter().flat_map(|(_, list)| list.clone()).collect();
        self.emit(origin, lane(f, ty, row, &rows), &reads, &[register]);
        (row, vec![register])
    }

    /// Emits the address of the lane's base, and returns what the other addresses need.
    fn addresses(
        &mut self,
        m: &FormMatch<'_>,
        args: &Args,
        at: usize,
        layout: &Layout,
        outer_is_major: bool,
        origin: Origin,
    ) -> Addresses {
        let number = |body: &mut Self, n: u32| (body.rows.constant(n.into(), false), Vec::new());
        let shift = Origin { class: Class::Shift, ..origin };
        let logic = Origin { class: Class::Logic, ..origin };
        let product = Origin { class: Class::IntMul, ..origin };
        let narrow = (Type::U32, false);
        let lane_id = (self.rows.special(Special::Laneid), Vec::new());
        let two = number(self, 2);
        let group = self.computed(LaneFn::Shr, narrow, &[lane_id.clone(), two], shift);
        let three = number(self, 3);
        let mut place = self.computed(LaneFn::And, (Type::B32, false), &[lane_id, three], logic);
        if layout.step > 1 {
            let by = number(self, layout.step.ilog2());
            place = self.computed(LaneFn::Shl, (Type::B32, false), &[place, by], shift);
        }
        let (major, minor) = if outer_is_major { (group, place) } else { (place, group) };
        let stride = match args.args.get(2).map(|_| args.optional_row(2)) {
            Some(Some(row)) => (row, args.value(2).register.into_iter().collect()),
            _ => {
                let [rows, columns] = layout.size;
                number(self, if m.has("row") { columns } else { rows })
            }
        };
        let mut elements =
            self.computed(LaneFn::MadLo, narrow, &[major, stride.clone(), minor], product);
        if layout.bits < 8 {
            let by = number(self, (8 / layout.bits).ilog2());
            elements = self.computed(LaneFn::Shr, narrow, &[elements, by], shift);
        }
        let Address { base, offset } = args.address(at);
        let known: Vec<Register> = match base {
            AddressBase::Narrow(row) => vec![Register::Narrow(row)],
            AddressBase::Wide(row) => vec![Register::Wide(row)],
            AddressBase::Zero | AddressBase::Native(_) => Vec::new(),
        };
        let known = known.into_iter().filter(|register| args.reads.contains(register)).collect();
        let bytes = number(self, (layout.bits / 8).max(1));
        let (base, registers) = self.sum_of(base, known, elements, bytes, origin);
        Addresses { base, offset, registers, stride, known: Vec::new() }
    }

    /// Emits `base + count * bytes`, as wide as the base.
    fn sum_of(
        &mut self,
        base: AddressBase,
        known: Vec<Register>,
        count: (Row, Vec<Register>),
        bytes: (Row, Vec<Register>),
        origin: Origin,
    ) -> (AddressBase, Vec<Register>) {
        let origin = Origin { class: Class::IntMulHi, ..origin };
        let narrow = |row| (row, known.clone());
        match base {
            AddressBase::Wide(row) => {
                let sources = [count, bytes, (row, known)];
                let (row, list) =
                    self.computed(LaneFn::MadWide, (Type::U32, true), &sources, origin);
                (AddressBase::Wide(row), list)
            }
            AddressBase::Narrow(row) => {
                let origin = Origin { class: Class::IntMul, ..origin };
                let sources = [count, bytes, narrow(row)];
                let (row, list) =
                    self.computed(LaneFn::MadLo, (Type::U32, false), &sources, origin);
                (AddressBase::Narrow(row), list)
            }
            AddressBase::Zero | AddressBase::Native(_) => {
                let origin = Origin { class: Class::IntMul, ..origin };
                let (row, list) =
                    self.computed(LaneFn::MulLo, (Type::U32, false), &[count, bytes], origin);
                (AddressBase::Narrow(row), list)
            }
        }
    }

    /// Returns the address of an element, and the registers that it names.
    fn address_of(
        &mut self,
        addresses: &mut Addresses,
        (major, minor): (u32, u32),
        bits: u32,
        origin: Origin,
    ) -> (Address, Vec<Register>) {
        let offset = addresses.offset + i64::from(minor * bits / 8);
        let known = addresses.known.iter().find(|(at, ..)| *at == major);
        let (base, registers) = match known {
            _ if major == 0 => (addresses.base, addresses.registers.clone()),
            Some((_, base, registers)) => (*base, registers.clone()),
            None => {
                let bytes = (self.rows.constant((major * bits / 8).into(), false), Vec::new());
                let (base, registers) = self.sum_of(
                    addresses.base,
                    addresses.registers.clone(),
                    addresses.stride.clone(),
                    bytes,
                    origin,
                );
                addresses.known.push((major, base, registers.clone()));
                (base, registers)
            }
        };
        (Address { base, offset }, registers)
    }

    /// Emits the insertion of an element into part `part` of a register.
    fn pack_part(
        &mut self,
        d: Value,
        part: usize,
        parts: usize,
        (element, register): (Row, Register),
        origin: Origin,
    ) {
        let origin = Origin { class: Class::Logic, ..origin };
        let writes: Vec<Register> = d.register.into_iter().collect();
        if part == 0 {
            let op = lane(LaneFn::Mov, Type::B32, d.row, &[element]);
            return self.emit(Origin { class: Class::Move, ..origin }, op, &[register], &writes);
        }
        // PRMT: the bytes below stay, those of the element follow.
        let bytes = 4 / parts;
        let selector = (0..4usize).fold(0u64, |all, at| {
            let from = if at / bytes == part { 4 + at % bytes } else { at };
            all | (from as u64) << (4 * at)
        });
        let selector = self.rows.constant(selector, false);
        let op = lane(
            LaneFn::Prmt(crate::kernel::PrmtMode::Index),
            Type::B32,
            d.row,
            &[d.row, element, selector],
        );
        let mut reads = vec![register];
        reads.extend(d.register);
        self.emit(origin, op, &reads, &writes);
    }

    /// Returns part `part` of a register, in the low bits of a row.
    fn part(
        &mut self,
        value: Value,
        part: usize,
        parts: usize,
        origin: Origin,
    ) -> (Row, Vec<Register>) {
        let own: Vec<Register> = value.register.into_iter().collect();
        if part == 0 {
            return (value.row, own);
        }
        let unpack = LaneFn::Unpack { parts: parts as u8, part: part as u8 };
        let origin = Origin { class: Class::Logic, ..origin };
        self.computed(unpack, (Type::B32, false), &[(value.row, own)], origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_holds_neighbors_of_the_inner_index() {
        let layout = |mnemonic: &str| {
            let m = crate::isa::Isa::ptx().lookup(mnemonic).expect("a form");
            Layout::of(&m, &Product::of(&m)).elements
        };
        let a = layout("wmma.load.a.sync.aligned.row.m16n16k16.bf16");
        assert_eq!(a, [(0, 0), (0, 1), (8, 0), (8, 1), (0, 8), (0, 9), (8, 8), (8, 9)]);
        let b = layout("wmma.load.b.sync.aligned.col.m16n16k16.bf16");
        assert_eq!(b, [(0, 0), (0, 1), (0, 8), (0, 9), (8, 0), (8, 1), (8, 8), (8, 9)]);
        let c = layout("wmma.load.c.sync.aligned.row.m8n32k16.s32");
        assert_eq!(c[..5], [(0, 0), (0, 1), (8, 0), (8, 1), (16, 0)]);
    }
}
