//! Instruction forms: an opcode, modifier slots, operands and a meaning.
//!
//! A slot takes one of several words and may be optional. Slots are in the order of the syntax
//! lines of the PTX ISA.

use super::{Class, Sem, Type};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Required agreement between the results of the simulator and a GPU.
///
/// An H200 gives the same bits in every form. For approximations, other GPUs need only keep to the
/// manual's bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
pub enum Agreement {
    /// Identical bits.
    #[default]
    Exact,
    /// Maximum error in units in the last place.
    MaxUlp(u64),
    /// Maximum absolute error, as a power of 2.
    ///
    /// The PTX ISA has such bounds for functions that cross zero.
    MaxAbsolute(i32),
    /// Either of the two bounds.
    MaxUlpOrAbsolute(u64, i32),
}

/// Position of a modifier in a mnemonic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Valid words, without dots.
    pub words: Vec<String>,
    /// True if the modifier may be omitted.
    pub optional: bool,
}

impl Slot {
    /// Returns true if the slot takes a type.
    pub fn is_type(&self) -> bool {
        self.words.iter().all(|w| Type::from_name(w).is_some())
    }

    /// Returns the name of the slot for messages.
    pub(super) fn noun(&self) -> &'static str {
        let all = |set: &[&str]| self.words.iter().all(|w| set.contains(&w.as_str()));
        if self.is_type() {
            "type"
        } else if all(&["rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "approx", "full"]) {
            "rounding mode"
        } else if all(&["cta", "cluster", "gpu", "sys", "gl"]) {
            "scope"
        } else if all(&[
            "global",
            "shared",
            "shared::cta",
            "local",
            "const",
            "param",
            "param::entry",
        ]) {
            "state space"
        } else if self.words.iter().any(|w| w == "eq") {
            "comparison"
        } else {
            "modifier"
        }
    }
}

/// Type of an operand, relative to the mnemonic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeRef {
    /// The first type of the mnemonic.
    T,
    /// The second type of the mnemonic.
    U,
    /// Twice the width of the first type, same signedness.
    W,
    /// A fixed type.
    Fixed(Type),
}

/// Kind of an operand, as written in the `shape` column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// `a:T`: a register, or (as a source) an immediate.
    Value(TypeRef),
    /// `a:T+`: a value whose register may be wider than the type (`cvt`).
    Wider(TypeRef),
    /// `{a}:T`: one value, or a `.v2`/`.v4` vector in braces.
    ///
    /// Registers may be wider (`ld`, `st`).
    Vector(TypeRef),
    /// `a:T*`: a value, an address, or parts of a value in braces (`mov`, `cvta`).
    Moved(TypeRef),
    /// `a:frag`: registers of a fragment of a matrix, in braces.
    Fragment,
    /// `a:pred`: a predicate; a source may be negated.
    Predicate,
    /// `p|q=pred`: one predicate or two.
    PredicatePair,
    /// `d|p=T`: a register, optionally with a predicate.
    ValueAndPredicate(TypeRef),
    /// `a:imm`: an integer constant.
    Immediate,
    /// `a:u32|pred`: a 32-bit value or a predicate.
    ValueOrPredicate,
    /// `[a]`: an address.
    Address,
    /// `image[a]`: a texture or surface with coordinates, `[object, {x, y}]`.
    Image,
    /// `a:gradient`: a gradient of a texture's coordinates, in braces.
    Gradient,
    /// `tile[a]`: a tensor map with the coordinates of a tile, `[map, {x, y}]`.
    Tile,
    /// `shared[a]`: an address in shared memory, whatever space the mnemonic names.
    SharedAddress,
    /// `@a`: a label.
    Label,
}

/// Operand of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandForm {
    /// Name in the PTX ISA.
    pub name: String,
    /// True if the instruction writes the operand.
    pub result: bool,
    /// True if `_` is allowed (`d_=T`).
    pub sink: bool,
    /// True if the operand may be omitted (`b:u32?`).
    pub optional: bool,
    /// Kind of the operand.
    pub kind: OperandKind,
}

/// Row of the instruction set.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// Syntax line, as written in the row.
    pub syntax: String,
    /// Operand shape, as written in the row.
    pub shape: String,
    /// First word of the mnemonic.
    pub opcode: String,
    /// Modifiers after the opcode.
    pub slots: Vec<Slot>,
    /// Operands in order.
    pub operands: Vec<OperandForm>,
    /// Meaning.
    pub sem: Sem,
    /// Instruction class, which has costs in the machine file.
    pub class: Class,
    /// Required agreement with a GPU.
    pub agreement: Agreement,
    /// Section heading in the PTX ISA.
    pub manual: String,
    /// Description in one line.
    pub doc: String,
}

/// Group of rows on the reference page.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Title.
    pub title: String,
    /// Indices of the rows.
    pub rows: std::ops::Range<usize>,
}

/// Instruction set.
#[derive(Clone, Debug)]
pub struct Isa {
    pub(super) rows: Vec<Form>,
    pub(super) groups: Vec<Group>,
    pub(super) by_opcode: BTreeMap<String, Vec<u16>>,
    /// Reasons by opcode or start of a mnemonic, each with a way out.
    pub(super) unsupported: BTreeMap<String, (String, Option<String>)>,
}

/// Form of a mnemonic, with the words in its slots.
#[derive(Clone, Debug)]
pub struct FormMatch<'a> {
    /// Index of the row in [`Isa::rows`].
    pub index: u16,
    /// Row.
    pub form: &'a Form,
    /// Word in each slot.
    pub words: Vec<Option<&'a str>>,
    /// True if the mnemonic has `.L2::cache_hint`, whose operand comes last.
    ///
    /// Loads, stores and atomics have it in any form that may access global memory.
    pub hint: bool,
}

impl<'a> FormMatch<'a> {
    /// Returns the complete mnemonic.
    pub fn mnemonic(&self) -> String {
        self.words.iter().flatten().fold(self.form.opcode.clone(), |text, word| text + "." + word)
    }

    /// Returns true if the mnemonic contains `word`.
    pub fn has(&self, word: &str) -> bool {
        self.words.contains(&Some(word))
    }

    /// Returns the value of the first word of `table` that the mnemonic contains.
    pub fn pick<V: Copy>(&self, table: &[(&str, V)]) -> Option<V> {
        table.iter().find(|(word, _)| self.has(word)).map(|&(_, value)| value)
    }

    /// Returns the `n`th type of the mnemonic.
    fn nth_type(&self, n: usize) -> Option<Type> {
        let slots = self.form.slots.iter().zip(&self.words).filter(|(slot, _)| slot.is_type());
        slots.filter_map(|(_, word)| word.and_then(Type::from_name)).nth(n)
    }

    /// Returns the first type, of the result or the instruction.
    ///
    /// `b32` if there is none.
    pub fn ty(&self) -> Type {
        self.nth_type(0).unwrap_or(Type::B32)
    }

    /// Returns the second type (`cvt`, `set`, `slct`); the first if there is only one.
    pub fn second_type(&self) -> Type {
        self.nth_type(1).unwrap_or(self.ty())
    }

    /// Returns the third type; the second if there are only two.
    pub fn third_type(&self) -> Type {
        self.nth_type(2).unwrap_or(self.second_type())
    }

    /// Returns the type that an operand's shape refers to.
    pub fn resolve(&self, ty: TypeRef) -> Type {
        match ty {
            TypeRef::T => self.ty(),
            TypeRef::U => self.second_type(),
            TypeRef::Fixed(ty) => ty,
            TypeRef::W => match self.ty() {
                Type::U16 => Type::U32,
                Type::S16 => Type::S32,
                Type::U32 => Type::U64,
                Type::S32 => Type::S64,
                other => other,
            },
        }
    }
}

impl Isa {
    /// Returns the rows; `Inst::form` indexes them.
    pub fn rows(&self) -> &[Form] {
        &self.rows
    }

    /// Returns the rows by subject.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Returns why an opcode, or the start of a mnemonic, is unsupported, and the way out.
    pub fn absence(&self, start: &str) -> Option<(&str, Option<&str>)> {
        let (why, help) = self.unsupported.get(start)?;
        Some((why, help.as_deref()))
    }

    /// Returns the unsupported PTX opcodes and starts of mnemonics, with the reasons.
    pub fn unsupported(&self) -> impl Iterator<Item = (&str, &str)> {
        self.unsupported.iter().map(|(opcode, (why, _))| (opcode.as_str(), why.as_str()))
    }
}
