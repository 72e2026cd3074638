//! Instruction forms: an opcode, a sequence of slots, operands, a meaning.
//!
//! Each slot holds one of a few words and may be optional, in the order of the PTX manual's syntax lines.

use super::{Class, Sem, Type};
use serde::Deserialize;
use std::collections::BTreeMap;

/// How closely a GPU must agree with the model's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
pub enum Agreement {
    /// Bit for bit.
    #[default]
    Exact,
    /// Within this many units in the last place.
    MaxUlp(u64),
    /// Within an absolute error of 2 to this power (the manual's bound for functions that cross zero).
    MaxAbsolute(i32),
    /// Within either.
    MaxUlpOrAbsolute(u64, i32),
}

/// One position of a mnemonic behind the opcode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// What may stand here, without dots.
    pub words: Vec<String>,
    /// Whether nothing may stand here too.
    pub optional: bool,
}

impl Slot {
    /// Whether the slot names a type.
    pub fn is_type(&self) -> bool {
        self.words.iter().all(|w| Type::from_name(w).is_some())
    }

    /// What the slot is called in messages.
    pub(super) fn noun(&self) -> &'static str {
        let all = |set: &[&str]| self.words.iter().all(|w| set.contains(&w.as_str()));
        if self.is_type() {
            "type"
        } else if all(&["rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "approx", "full"]) {
            "rounding"
        } else if all(&["cta", "cluster", "gpu", "sys", "gl"]) {
            "scope"
        } else if all(&["global", "shared", "shared::cta", "local", "const", "param", "param::entry"]) {
            "state space"
        } else if self.words.iter().any(|w| w == "eq") {
            "comparison"
        } else {
            "modifier"
        }
    }
}

/// Which type an operand has, relative to the mnemonic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeRef {
    /// The first type of the mnemonic.
    T,
    /// The second type of the mnemonic.
    U,
    /// Twice the width of the first type, same signedness.
    W,
    /// Always this type.
    Fixed(Type),
}

/// What an operand looks like: the closed vocabulary of the `shape` column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// `a:T`: a register, or (as a source) an immediate.
    Value(TypeRef),
    /// `a:T+`: the same, and the register may be wider than the type (`cvt`).
    Wider(TypeRef),
    /// `{a}:T`: one value, or braces with as many as `.v2`/`.v4` says; registers may be wider (`ld`, `st`).
    Vector(TypeRef),
    /// `a:T*`: a value, a variable's address, or braces around the parts of a value (`mov`, `cvta`).
    Moved(TypeRef),
    /// `a:pred`: a predicate; as a source perhaps negated.
    Predicate,
    /// `p|q=pred`: one predicate or two.
    PredicatePair,
    /// `d|p=T`: a register, perhaps with a predicate.
    ValueAndPredicate(TypeRef),
    /// `a:imm`: an integer written in the text.
    Immediate,
    /// `[a]`: an address.
    Address,
    /// `@a`: a label.
    Label,
}

/// One operand of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandForm {
    /// Its name in the PTX manual.
    pub name: String,
    /// Whether the instruction writes it.
    pub result: bool,
    /// Whether `_` may stand for it (`d_=T`).
    pub sink: bool,
    /// Whether it may be left out (`b:u32?`).
    pub optional: bool,
    /// What it looks like.
    pub kind: OperandKind,
}

/// One row of the instruction set.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The syntax line, as the row writes it.
    pub syntax: String,
    /// The operand shape, as the row writes it.
    pub shape: String,
    /// The first word of the mnemonic.
    pub opcode: String,
    /// What may follow it.
    pub slots: Vec<Slot>,
    /// The operands in order.
    pub operands: Vec<OperandForm>,
    /// What it does.
    pub sem: Sem,
    /// What a machine prices.
    pub class: Class,
    /// How closely a GPU must agree.
    pub agreement: Agreement,
    /// The heading in the PTX manual.
    pub manual: String,
    /// One line on what it does.
    pub doc: String,
}

/// A group of rows, as the reference page shows them.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its title.
    pub title: String,
    /// The indices of its rows.
    pub rows: std::ops::Range<usize>,
}

/// The instruction set.
#[derive(Clone, Debug)]
pub struct Isa {
    pub(super) rows: Vec<Form>,
    pub(super) groups: Vec<Group>,
    pub(super) by_opcode: BTreeMap<String, Vec<u16>>,
    pub(super) unsupported: BTreeMap<String, String>,
}

/// A mnemonic's form and the words that fill its slots.
#[derive(Clone, Debug)]
pub struct FormMatch<'a> {
    /// The row's index in [`Isa::rows`].
    pub index: u16,
    /// The row.
    pub form: &'a Form,
    /// The word in each slot.
    pub words: Vec<Option<&'a str>>,
}

impl<'a> FormMatch<'a> {
    /// The mnemonic as written.
    pub fn mnemonic(&self) -> String {
        self.words.iter().flatten().fold(self.form.opcode.clone(), |text, word| text + "." + word)
    }

    /// Whether `word` stands in some slot.
    pub fn has(&self, word: &str) -> bool {
        self.words.contains(&Some(word))
    }

    /// The first of `table`'s words that stands in the mnemonic, as its value.
    pub fn pick<V: Copy>(&self, table: &[(&str, V)]) -> Option<V> {
        table.iter().find(|(word, _)| self.has(word)).map(|&(_, value)| value)
    }

    /// The `n`th type of the mnemonic.
    fn nth_type(&self, n: usize) -> Option<Type> {
        let slots = self.form.slots.iter().zip(&self.words).filter(|(slot, _)| slot.is_type());
        slots.filter_map(|(_, word)| word.and_then(Type::from_name)).nth(n)
    }

    /// The first type: of the result or of the whole instruction. `b32` for forms without one.
    pub fn ty(&self) -> Type {
        self.nth_type(0).unwrap_or(Type::B32)
    }

    /// The second type (`cvt`, `set`, `slct`); the first where there is only one.
    pub fn second_type(&self) -> Type {
        self.nth_type(1).unwrap_or(self.ty())
    }

    /// The third type; the second where there are only two.
    pub fn third_type(&self) -> Type {
        self.nth_type(2).unwrap_or(self.second_type())
    }

    /// The type an operand's shape refers to.
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
    /// The rows; `Inst::form` indexes them.
    pub fn rows(&self) -> &[Form] {
        &self.rows
    }

    /// The rows by subject.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Opcodes of PTX that the model leaves out, with the reason.
    pub fn unsupported(&self) -> impl Iterator<Item = (&str, &str)> {
        self.unsupported.iter().map(|(opcode, why)| (opcode.as_str(), why.as_str()))
    }
}
