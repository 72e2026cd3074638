//! Instruction forms, and how a written mnemonic finds its form.
//!
//! A form is an opcode and a sequence of slots; each slot holds one of a few words and may be optional, in the order
//! of the PTX manual's syntax lines. A mnemonic matches a form when its words fill the slots in order. When none
//! matches, [`Isa::lookup`] says which word is wrong and what could stand there.

use super::{Class, Sem, Type};
use crate::diag::{Diagnostic, Span, closest};
use serde::Deserialize;
use std::collections::BTreeMap;

/// How closely a GPU must agree with the model's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
pub enum Agreement {
    /// Bit for bit.
    #[default]
    Exact,
    /// Within this many units in the last place.
    MaxUlp(u32),
    /// Within an absolute error of 2 to this power (the manual's bound for functions that cross zero).
    MaxAbsolute(i32),
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
    fn noun(&self) -> &'static str {
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
        self.words.iter().any(|w| *w == Some(word))
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

/// Why a mnemonic has no form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupError {
    /// The diagnostic's code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl LookupError {
    fn new(code: &'static str, message: String, help: Option<String>) -> LookupError {
        LookupError { code, message, help }
    }

    /// The error as a diagnostic at `span`.
    pub fn at(self, span: Span) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.code, span, self.message);
        diagnostic.help = self.help;
        diagnostic
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

    /// The form of a mnemonic such as `setp.lt.and.u32`.
    pub fn lookup(&self, mnemonic: &str) -> Result<FormMatch<'_>, LookupError> {
        let words: Vec<&str> = mnemonic.split('.').collect();
        let (opcode, words) = words.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
        let Some(rows) = self.by_opcode.get(opcode) else {
            return Err(self.unknown_opcode(opcode));
        };
        for &index in rows {
            let form = &self.rows[usize::from(index)];
            if let Some(words) = fill(&form.slots, words) {
                return Ok(FormMatch { index, form, words });
            }
        }
        let forms: Vec<&Form> = rows.iter().map(|&i| &self.rows[usize::from(i)]).collect();
        Err(explain(opcode, words, &forms, mnemonic))
    }

    fn unknown_opcode(&self, opcode: &str) -> LookupError {
        if let Some(why) = self.unsupported.get(opcode) {
            let message = format!("`{opcode}` is not supported: {why}");
            return LookupError::new("unsupported-instruction", message, None);
        }
        let help = closest(opcode, self.by_opcode.keys().map(String::as_str)).map(|c| format!("did you mean `{c}`?"));
        LookupError::new("unknown-instruction", format!("there is no instruction `{opcode}`"), help)
    }
}

/// The word in each slot if `words` fill `slots` exactly, trying to fill an optional slot before skipping it.
fn fill<'a>(slots: &'a [Slot], words: &[&str]) -> Option<Vec<Option<&'a str>>> {
    let Some((slot, rest)) = slots.split_first() else {
        return words.is_empty().then(Vec::new);
    };
    let filled = words.split_first().and_then(|(word, others)| {
        let word = slot.words.iter().find(|w| w == word)?;
        Some((Some(word.as_str()), fill(rest, others)?))
    });
    let (word, mut tail) = match filled {
        Some(filled) => filled,
        None if slot.optional => (None, fill(rest, words)?),
        None => return None,
    };
    tail.insert(0, word);
    Some(tail)
}

/// How far `words` get in `slots`: the number of words placed, and what could have stood at the next place.
fn progress<'a>(slots: &'a [Slot], words: &[&str]) -> (usize, Vec<&'a Slot>) {
    let mut best = (0, Vec::new());
    let mut expected = Vec::new();
    for (i, slot) in slots.iter().enumerate() {
        expected.push(slot);
        if let Some((word, rest)) = words.split_first()
            && slot.words.iter().any(|w| w == word)
        {
            let (placed, next) = progress(&slots[i + 1..], rest);
            if placed + 1 > best.0 {
                best = (placed + 1, next);
            }
        }
        if !slot.optional {
            break;
        }
    }
    if best.0 == 0 { (0, expected) } else { best }
}

fn explain(opcode: &str, words: &[&str], forms: &[&Form], mnemonic: &str) -> LookupError {
    if let Some(error) = one_word_missing(words, forms, mnemonic) {
        return error;
    }
    let reached: Vec<(usize, Vec<&Slot>)> = forms.iter().map(|form| progress(&form.slots, words)).collect();
    let furthest = reached.iter().map(|(placed, _)| *placed).max().unwrap_or(0);
    let expected: Vec<&Slot> = reached.iter().filter(|r| r.0 == furthest).flat_map(|r| r.1.iter().copied()).collect();
    let upto = std::iter::once(opcode).chain(words[..furthest].iter().copied()).collect::<Vec<_>>().join(".");
    let choices = |types_only: bool| {
        let mut choices: Vec<&str> = Vec::new();
        for slot in expected.iter().filter(|slot| !types_only || slot.is_type()) {
            for word in slot.words.iter().filter(|w| !choices.contains(&w.as_str())).collect::<Vec<_>>() {
                choices.push(word);
            }
        }
        choices
    };
    let Some(word) = words.get(furthest) else {
        let help = format!("`{upto}` goes on with {}", list(&choices(false)));
        return LookupError::new("incomplete-instruction", format!("`{mnemonic}` is incomplete"), Some(help));
    };
    let is_type = Type::from_name(word).is_some();
    let candidates = choices(is_type && expected.iter().any(|slot| slot.is_type()));
    if candidates.is_empty() {
        let message = format!("`{upto}` takes nothing more, `.{word}` is too much");
        return LookupError::new("unknown-modifier", message, None);
    }
    let noun = if is_type { "type" } else { "modifier" };
    let help = match closest(word, candidates.iter().copied()) {
        Some(near) if !is_type => format!("did you mean `.{near}`? It takes {}", list(&candidates)),
        _ => format!("it takes {}", list(&candidates)),
    };
    LookupError::new("unknown-modifier", format!("`{upto}` has no {noun} `.{word}`"), Some(help))
}

/// The error for a mnemonic that would match if one required word were added.
fn one_word_missing(words: &[&str], forms: &[&Form], mnemonic: &str) -> Option<LookupError> {
    for form in forms {
        for (i, slot) in form.slots.iter().enumerate().filter(|(_, slot)| !slot.optional) {
            let mut relaxed = form.slots.clone();
            relaxed[i].optional = true;
            if fill(&relaxed, words).is_some() {
                let choices: Vec<&str> = slot.words.iter().map(String::as_str).collect();
                let help = format!("the form is `{}`; add {}", form.syntax, list(&choices));
                let message = format!("`{mnemonic}` lacks a {}", slot.noun());
                return Some(LookupError::new("incomplete-instruction", message, Some(help)));
            }
        }
    }
    None
}

/// `.a .b .c`, shortened when long.
fn list(words: &[&str]) -> String {
    const SHOWN: usize = 20;
    let mut text = words.iter().take(SHOWN).map(|w| format!(".{w}")).collect::<Vec<_>>().join(" ");
    if words.len() > SHOWN {
        text.push_str(" ..");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::Isa;

    fn error(mnemonic: &str) -> String {
        let e = Isa::ptx().lookup(mnemonic).expect_err(mnemonic);
        format!("{}: {} ({})", e.code, e.message, e.help.unwrap_or_default())
    }

    #[test]
    fn a_wrong_word_is_named_with_what_could_stand_there() {
        for (mnemonic, expected) in [
            ("add.b32", "unknown-modifier: `add` has no type `.b32` (it takes .u16 .s16 .u32 .s32 .u64 .s64"),
            ("ad.u32", "unknown-instruction: there is no instruction `ad` (did you mean `add`?)"),
            ("cvt.f32.s32", "incomplete-instruction: `cvt.f32.s32` lacks a rounding"),
            ("mul.u32", "incomplete-instruction: `mul.u32` lacks a modifier"),
            ("add", "incomplete-instruction: `add` lacks a type"),
            ("setp.lt", "incomplete-instruction: `setp.lt` lacks a type"),
            ("setp.tl.u32", "unknown-modifier: `setp` has no modifier `.tl`"),
            ("ret.uni.x", "unknown-modifier: `ret.uni` takes nothing more, `.x` is too much"),
            ("call.uni", "unsupported-instruction: `call` is not supported"),
            ("ld.globl.u32", "did you mean `.global`?"),
            ("", "unknown-instruction"),
        ] {
            let text = error(mnemonic);
            assert!(text.contains(expected), "{mnemonic}: {text}");
        }
    }

    #[test]
    fn slots_are_filled_in_order() {
        let isa = Isa::ptx();
        let m = isa.lookup("ld.volatile.shared.v2.u32").expect("a form");
        assert!(m.has("volatile") && m.has("shared") && m.has("v2"));
        assert_eq!(m.ty().name(), "u32");
        let m = isa.lookup("cvt.rzi.ftz.s16.f32").expect("a form");
        assert_eq!((m.ty().name(), m.second_type().name()), ("s16", "f32"));
        assert!(isa.lookup("ld.u32.global").is_err());
    }
}
