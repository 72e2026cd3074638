//! Operand checking: resolves names and literals to rows, and checks their types.
//!
//! `value` has single values, `group` braces, `address` addresses.
//!
//! The type rules are those of PTX ("Type Checking Rules", "Operand Size Exceeding Instruction-Type
//! Size"). Sizes must agree. Bit types agree with every type of their width, signed and unsigned
//! integers with each other, floats only with floats. Loads, stores and conversions accept wider
//! integer registers.

mod address;
mod fragment;
mod group;
mod image;
mod tile;
mod value;

use super::body::Body;
use super::names::Found;
use super::scope::Used;
use crate::base::LaneMask;
use crate::diag::{Diagnostic, Span};
use crate::isa::{FormMatch, OperandForm, OperandKind, Sem, Space, Type, TypeRef};
use crate::kernel::{
    Address, Clock, Handle, MemberMask, Place, Predicate, PredicateUse, Register, Row, TileAt,
};
use crate::ptx::tree::{Instruction, Name, Operand};

pub(super) use fragment::Product;

/// Value operand: a register, an immediate or a special register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) row: Row,
    /// Register; `None` for immediates and special registers.
    pub(super) register: Option<Register>,
    /// Declared type of the register; for an immediate, the type of the instruction.
    pub(super) ty: Type,
    /// Bits of an immediate.
    pub(super) bits: Option<u64>,
}

/// Resolved operand.
#[derive(Clone, Debug)]
pub(super) enum Arg {
    /// An omitted optional operand.
    Absent,
    /// `_`
    Sink,
    /// A value.
    Value(Value),
    /// `.v2`/`.v4` elements or parts of a packed value (`None` for `_`).
    ///
    /// True for 64-bit rows.
    Parts(Vec<Option<Value>>, bool),
    /// A predicate.
    Predicate(PredicateUse),
    /// `p|q`
    Pair(Option<Predicate>, Option<Predicate>),
    /// `d|p`
    ValueAndPredicate(Option<Row>, Option<Predicate>),
    /// A constant predicate (`mov.pred %p, 1`).
    Truth(bool),
    /// An integer constant.
    Immediate(i64),
    /// An address.
    Address(Address),
    /// A texture or surface, with layer and coordinates unless the instruction queries it.
    Image(Handle, Option<Place>),
    /// A tensor map with the place of a tile.
    Tile(Address, TileAt),
    /// A label.
    Label(Name),
    /// Frame offset of a `.local` variable of a device function.
    FrameAddress(i64),
    /// A clock.
    Clock(Clock),
    /// A special register as a 64-bit value (`%gridid`).
    WideSpecial(Row),
}

/// Operands of an instruction, with the registers they read and write.
#[derive(Clone, Debug, Default)]
pub(super) struct Args {
    pub(super) args: Vec<Arg>,
    pub(super) reads: Vec<Register>,
    pub(super) writes: Vec<Register>,
    /// True if the address is that of a `.param` variable in a frame.
    pub(super) slot: bool,
}

impl Args {
    /// Returns the row of operand `i`. Panics if it is not a value.
    pub(super) fn row(&self, i: usize) -> Row {
        self.value(i).row
    }

    pub(super) fn value(&self, i: usize) -> Value {
        match self.args.get(i) {
            Some(Arg::Value(value)) => *value,
            other => unreachable!("isa/ptx.ron: operand {i}: expected value, found {other:?}"),
        }
    }

    /// Returns operand `i` as a member mask.
    pub(super) fn members(&self, i: usize) -> MemberMask {
        let Value { row, bits, .. } = self.value(i);
        MemberMask { common: bits.map(|bits| LaneMask(bits as u32)), ..MemberMask::from(row) }
    }

    /// Returns the row of operand `i`; `None` if it is `_` or omitted.
    pub(super) fn optional_row(&self, i: usize) -> Option<Row> {
        match self.args.get(i) {
            Some(Arg::Absent | Arg::Sink) => None,
            _ => Some(self.row(i)),
        }
    }

    pub(super) fn predicate(&self, i: usize) -> PredicateUse {
        match self.args.get(i) {
            Some(Arg::Predicate(predicate)) => *predicate,
            other => unreachable!("isa/ptx.ron: operand {i}: expected predicate, found {other:?}"),
        }
    }

    pub(super) fn address(&self, i: usize) -> Address {
        match self.args.get(i) {
            Some(Arg::Address(address)) => *address,
            other => unreachable!("isa/ptx.ron: operand {i}: expected address, found {other:?}"),
        }
    }
}

/// Returns the state space of a mnemonic; generic if it names none.
pub(super) fn space(m: &FormMatch<'_>) -> Space {
    m.pick(&[
        ("global", Space::Global),
        ("shared", Space::Shared),
        ("shared::cta", Space::Shared),
        ("local", Space::Local),
        ("const", Space::Const),
        ("param", Space::Param),
        ("param::entry", Space::Param),
        ("param::func", Space::Param),
    ])
    .unwrap_or(Space::Generic)
}

/// Returns the elements per lane: 2, 4 or 8 with `.v2`, `.v4` or `.v8`, else 1.
pub(super) fn vector_length(m: &FormMatch<'_>) -> u8 {
    m.pick(&[("v2", 2), ("v4", 4), ("v8", 8), ("b128", 2)]).unwrap_or(1)
}

impl Body<'_> {
    /// Resolves all operands of an instruction; `None` after reporting errors.
    pub(super) fn resolve(&mut self, inst: &Instruction, m: &FormMatch<'_>) -> Option<Args> {
        let forms = &m.form.operands;
        let mut given = &inst.operands[..];
        let mut policy = None;
        if m.hint && given.len() > forms.iter().filter(|form| !form.optional).count() {
            policy = given.last();
            given = &given[..given.len() - 1];
        }
        let optional = forms.iter().position(|form| form.optional);
        let left_out = match given.len() {
            n if m.hint && policy.is_none() => Err(n),
            n if n == forms.len() => Ok(None),
            n if n + 1 == forms.len() && optional.is_some() => Ok(optional),
            _ => Err(inst.operands.len()),
        };
        let left_out = match left_out {
            Ok(left_out) => left_out,
            Err(found) => {
                let all = forms.len() + usize::from(m.hint);
                let expected = match (optional, all) {
                    (None, 1) => "1 operand".to_string(),
                    (None, n) => format!("{n} operands"),
                    (Some(_), n) => format!("{} or {n} operands", n - 1),
                };
                let mnemonic = &inst.mnemonic.text;
                let message = format!("expected {expected} for `{mnemonic}`, found {found}");
                let policy = if m.hint { ", cache-policy" } else { "" };
                let form = format!("{mnemonic} {}{policy}", signature(forms));
                let help = format!("use the form `{}`", form.trim_end());
                self.report(Diagnostic::error("operand-count", inst.span, message).help(help));
                return None;
            }
        };
        let mut out = Args::default();
        let mut written = given.iter();
        let mut sound = true;
        // Checks every operand, to report all errors of the instruction.
        for (i, form) in forms.iter().enumerate() {
            let arg = match written.next_if_not(left_out == Some(i)) {
                None => Some(Arg::Absent),
                Some(operand) => self.operand(operand, form, m, &mut out),
            };
            sound &= arg.is_some();
            out.args.extend(arg);
        }
        if let Some(policy) = policy {
            // Read and ignored.
            let form = OperandForm {
                name: "cache-policy".to_owned(),
                result: false,
                sink: false,
                optional: false,
                kind: OperandKind::Value(TypeRef::Fixed(Type::B64)),
            };
            sound &= self.value(policy, Type::B64, false, &form, m, &mut out).is_some();
        }
        sound.then_some(out)
    }

    fn operand(
        &mut self,
        operand: &Operand,
        form: &OperandForm,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Arg> {
        if form.sink && matches!(operand, Operand::Name(name) if name.text == "_") {
            return Some(match form.kind {
                OperandKind::PredicatePair => Arg::Pair(None, None),
                OperandKind::ValueAndPredicate(_) => Arg::ValueAndPredicate(None, None),
                OperandKind::Vector(_) => Arg::Parts(vec![None], false),
                _ => Arg::Sink,
            });
        }
        match form.kind {
            OperandKind::Value(ty) => {
                self.value(operand, m.resolve(ty), false, form, m, out).map(Arg::Value)
            }
            OperandKind::Wider(ty) => {
                self.value(operand, m.resolve(ty), true, form, m, out).map(Arg::Value)
            }
            OperandKind::Vector(ty) => self.vector(operand, m.resolve(ty), form, m, out),
            OperandKind::Fragment => self.fragment(operand, form, m, out),
            OperandKind::Moved(ty) => self.moved(operand, m.resolve(ty), form, m, out),
            OperandKind::Predicate => self.predicate(operand, form, m, out),
            OperandKind::PredicatePair => {
                let (p, q) = match operand {
                    Operand::Pair(p, q, _) => (p, Some(q)),
                    Operand::Name(p) => (p, None),
                    other => return self.wrong(other, "predicate or pair `p|q`"),
                };
                let p = self.written_predicate(p, out)?;
                let q = match q {
                    Some(q) => self.written_predicate(q, out)?,
                    None => None,
                };
                Some(Arg::Pair(p, q))
            }
            OperandKind::ValueAndPredicate(ty) => {
                let (d, p) = match operand {
                    Operand::Pair(d, p, _) => (d, Some(p)),
                    Operand::Name(d) => (d, None),
                    other => return self.wrong(other, "register or pair `d|p`"),
                };
                let row = match d.text.as_str() {
                    "_" if form.sink => None,
                    _ => Some(
                        self.value(&Operand::Name(d.clone()), m.resolve(ty), false, form, m, out)?
                            .row,
                    ),
                };
                let p = match p {
                    Some(p) => self.written_predicate(p, out)?,
                    None => None,
                };
                Some(Arg::ValueAndPredicate(row, p))
            }
            OperandKind::Immediate => match operand {
                Operand::Int { value, .. } => Some(Arg::Immediate(*value)),
                other => self.wrong(other, "integer"),
            },
            OperandKind::ValueOrPredicate => {
                let is_predicate = match operand {
                    Operand::Not(..) => true,
                    Operand::Name(name) => self.is_predicate(name),
                    _ => false,
                };
                if is_predicate {
                    return self.predicate(operand, form, m, out);
                }
                self.value(operand, Type::U32, false, form, m, out).map(Arg::Value)
            }
            OperandKind::Address => self.address(operand, space(m), m, out).map(Arg::Address),
            OperandKind::SharedAddress => {
                self.address(operand, Space::Shared, m, out).map(Arg::Address)
            }
            OperandKind::Image => self.image(operand, m, out),
            OperandKind::Gradient => self.gradient(operand, form, m, out),
            OperandKind::Tile => self.tile(operand, m, out),
            OperandKind::Label => match operand {
                Operand::Name(name) => Some(Arg::Label(name.clone())),
                other => self.wrong(other, "label"),
            },
        }
    }

    /// Reports an operand of the wrong kind.
    pub(super) fn wrong<T>(&mut self, operand: &Operand, expected: &str) -> Option<T> {
        let message = format!("expected {expected}, found {}", kind(operand));
        let error = Diagnostic::error("operand-kind", operand.span(), message);
        self.report(match operand {
            Operand::Address { .. } => {
                error.help("remove the brackets; they mark the address of a load, store or atomic")
            }
            Operand::Not(..) => {
                error.help("use `not` or `cnot` for registers; `!` negates predicates only")
            }
            _ => error,
        });
        None
    }

    /// Records a register as read or written, in its scope and in the instruction.
    pub(super) fn note(
        &mut self,
        used: Used,
        form_result: bool,
        span: Span,
        out: &mut Args,
    ) -> (Register, Type) {
        let (register, ty) = self.scopes.about(used);
        let list = if form_result { &mut out.writes } else { &mut out.reads };
        if !list.contains(&register) {
            list.push(register);
        }
        if form_result {
            self.scopes.wrote(used);
        } else {
            self.scopes.read(used, span);
        }
        (register, ty)
    }

    fn predicate(
        &mut self,
        operand: &Operand,
        form: &OperandForm,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Arg> {
        let (name, negated) = match operand {
            Operand::Name(name) => (name, false),
            Operand::Not(name, _) if !form.result => (name, true),
            Operand::Int { value, .. }
                if matches!(m.form.sem, Sem::PredicateMov | Sem::GroupMma) && !form.result =>
            {
                return Some(Arg::Truth(*value != 0));
            }
            Operand::Int { value, .. } if !form.result => {
                return Some(Arg::Predicate(self.rows.truth(*value != 0)));
            }
            other => return self.wrong(other, "predicate"),
        };
        let predicate = self.predicate_name(name, form.result, out)?;
        Some(Arg::Predicate(PredicateUse { predicate, negated }))
    }

    /// Resolves a predicate of a pair; `Some(None)` for `_`.
    fn written_predicate(&mut self, name: &Name, out: &mut Args) -> Option<Option<Predicate>> {
        if name.text == "_" { Some(None) } else { self.predicate_name(name, true, out).map(Some) }
    }

    /// Returns true if a name is that of a predicate register.
    fn is_predicate(&mut self, name: &Name) -> bool {
        let used = self.scopes.register(&name.text, &mut self.rows);
        used.is_some_and(|used| matches!(self.scopes.about(used).0, Register::Predicate(_)))
    }

    /// Resolves a predicate register by name.
    pub(super) fn predicate_name(
        &mut self,
        name: &Name,
        result: bool,
        out: &mut Args,
    ) -> Option<Predicate> {
        let found = self.find(name)?;
        if let Found::Register(used) = found {
            let (register, declared) = self.note(used, result, name.span, out);
            if let Register::Predicate(predicate) = register {
                return Some(predicate);
            }
            let message = format!(
                "expected predicate, found `.{}` register `{}`",
                declared.name(),
                name.text
            );
            let help = match (result, declared.bits()) {
                (true, _) => {
                    "declare it as `.pred`, or use an instruction with a numeric result".to_string()
                }
                (false, bits) => format!("compare first: `setp.ne.b{bits} %p, {}, 0;`", name.text),
            };
            self.report(Diagnostic::error("type-mismatch", name.span, message).help(help));
            return None;
        }
        self.wrong(&Operand::Name(name.clone()), "predicate")
    }
}

/// Describes an operand for a message.
fn kind(operand: &Operand) -> String {
    match operand {
        Operand::Name(name) => format!("`{}`", name.text),
        Operand::Symbol { name, offset, .. } => format!("`{}{offset:+}`", name.text),
        Operand::Element { name, index, .. } => format!("`{}[{index}]`", name.text),
        Operand::Not(name, _) => format!("`!{}`", name.text),
        Operand::Pair(p, q, _) => format!("pair `{}|{}`", p.text, q.text),
        Operand::Int { .. } => "integer".to_string(),
        Operand::Double { .. } | Operand::Single { .. } => "float".to_string(),
        Operand::Address { .. } | Operand::Coordinates(..) => "address".to_string(),
        Operand::Vector(..) => "vector".to_string(),
        Operand::List(..) => "list".to_string(),
    }
}

/// Formats the operand list of a form for a help line.
fn signature(forms: &[OperandForm]) -> String {
    let mut text = String::new();
    for (i, form) in forms.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        let name = match form.kind {
            OperandKind::Address | OperandKind::SharedAddress => format!("[{}]", form.name),
            OperandKind::Image | OperandKind::Tile => format!("[{}, {{..}}]", form.name),
            _ => form.name.clone(),
        };
        text.push_str(&if form.optional {
            format!("{{{comma}{name}}}")
        } else {
            format!("{comma}{name}")
        });
    }
    text
}

/// Iterator whose `next` can be skipped for an omitted operand.
trait NextIfNot: Iterator {
    fn next_if_not(&mut self, skip: bool) -> Option<Self::Item>;
}

impl<I: Iterator> NextIfNot for I {
    fn next_if_not(&mut self, skip: bool) -> Option<I::Item> {
        if skip { None } else { self.next() }
    }
}
