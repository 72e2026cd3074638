//! Operands: names and literals become rows, each held against the shape and types that the form asks for.
//!
//! The type rules are PTX's ("Type Checking Rules", "Operand Size Exceeding Instruction-Type Size"): sizes must agree,
//! bit types agree with every type of their width, signed and unsigned integers with one another, floats only with
//! floats; loads, stores and conversions take wider integer registers.

use super::body::Body;
use super::literals::literal;
use super::names::{Found, special_of};
use super::scope::Used;
use crate::diag::{Diagnostic, Span};
use crate::isa::{FormMatch, OperandForm, OperandKind, Sem, Space, Type};
use crate::kernel::{Address, AddressBase, Predicate, PredicateUse, Register, Row, Special};
use crate::text::tree::{Instruction, Name, Operand};

/// A value operand: its row, and the register behind it unless it is an immediate or a special register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) row: Row,
    pub(super) register: Option<Register>,
    /// The declared type of the register; the instruction's type for immediates.
    pub(super) ty: Type,
}

/// A resolved operand.
#[derive(Clone, Debug)]
pub(super) enum Arg {
    /// An optional operand that is not there.
    Absent,
    /// `_`
    Sink,
    /// A value.
    Value(Value),
    /// `.v2`/`.v4` elements or the parts of a packed value; `None` for `_`. Whether they live in 64-bit rows.
    Parts(Vec<Option<Value>>, bool),
    /// A predicate read or written.
    Predicate(PredicateUse),
    /// `p|q`
    Pair(Option<Predicate>, Option<Predicate>),
    /// `d|p`
    ValueAndPredicate(Option<Row>, Option<Predicate>),
    /// A predicate known from the text (`mov.pred %p, 1`).
    Truth(bool),
    /// An integer in the text.
    Immediate(i64),
    /// An address.
    Address(Address),
    /// A label.
    Label(Name),
    /// `%clock` or `%clock64`.
    Clock,
    /// A special register as a 64-bit value (`%gridid`).
    WideSpecial(Row),
}

/// The operands of one instruction, and the registers they read and write.
#[derive(Clone, Debug, Default)]
pub(super) struct Args {
    pub(super) args: Vec<Arg>,
    pub(super) reads: Vec<Register>,
    pub(super) writes: Vec<Register>,
}

impl Args {
    /// The row of operand `i`. The shape column says that a value stands there.
    pub(super) fn row(&self, i: usize) -> Row {
        self.value(i).row
    }

    pub(super) fn value(&self, i: usize) -> Value {
        match self.args.get(i) {
            Some(Arg::Value(value)) => *value,
            other => unreachable!("isa/ptx.ron: operand {i} is {other:?}, and its meaning needs a value"),
        }
    }

    /// The row of operand `i` unless it is `_` or left out.
    pub(super) fn optional_row(&self, i: usize) -> Option<Row> {
        match self.args.get(i) {
            Some(Arg::Absent | Arg::Sink) => None,
            _ => Some(self.row(i)),
        }
    }

    pub(super) fn predicate(&self, i: usize) -> PredicateUse {
        match self.args.get(i) {
            Some(Arg::Predicate(predicate)) => *predicate,
            other => unreachable!("isa/ptx.ron: operand {i} is {other:?}, and its meaning needs a predicate"),
        }
    }

    pub(super) fn address(&self, i: usize) -> Address {
        match self.args.get(i) {
            Some(Arg::Address(address)) => *address,
            other => unreachable!("isa/ptx.ron: operand {i} is {other:?}, and its meaning needs an address"),
        }
    }
}

/// The state space a mnemonic names.
pub(super) fn space(m: &FormMatch<'_>) -> Space {
    m.pick(&[
        ("global", Space::Global),
        ("shared", Space::Shared),
        ("shared::cta", Space::Shared),
        ("local", Space::Local),
        ("const", Space::Const),
        ("param", Space::Param),
        ("param::entry", Space::Param),
    ])
    .unwrap_or(Space::Generic)
}

/// Elements a lane: 2 or 4 with `.v2`/`.v4`.
pub(super) fn vector_length(m: &FormMatch<'_>) -> u8 {
    m.pick(&[("v2", 2), ("v4", 4)]).unwrap_or(1)
}

/// Whether a register of type `register` can stand where the instruction says `ty`.
pub(super) fn fits(register: Type, ty: Type, wider: bool) -> bool {
    if register == Type::Pred || ty == Type::Pred {
        return register == ty;
    }
    let bits = |t: Type| matches!(t, Type::B8 | Type::B16 | Type::B32 | Type::B64);
    if register.bits() == ty.bits() {
        return bits(register) || bits(ty) || register.is_float() == ty.is_float();
    }
    wider && register.bits() > ty.bits() && !register.is_float() && !ty.is_float()
}

impl Body<'_> {
    /// All operands of an instruction; `None` after reporting what is wrong with them.
    pub(super) fn resolve(&mut self, inst: &Instruction, m: &FormMatch<'_>) -> Option<Args> {
        let forms = &m.form.operands;
        let optional = forms.iter().position(|form| form.optional);
        let left_out = match inst.operands.len() {
            n if n == forms.len() => None,
            n if n + 1 == forms.len() && optional.is_some() => optional,
            found => {
                let wanted = forms.len();
                let plural = if wanted == 1 { "" } else { "s" };
                let mnemonic = &inst.mnemonic.text;
                let message = format!("`{mnemonic}` takes {wanted} operand{plural}, not {found}");
                let help = format!("the form is `{mnemonic} {}`", signature(forms));
                self.report(Diagnostic::error("operand-count", inst.span, message).help(help.replace(" `", "`")));
                inst.operands.iter().for_each(|operand| self.touch(operand));
                return None;
            }
        };
        let mut out = Args::default();
        let mut written = inst.operands.iter();
        let mut sound = true;
        // Every operand is looked at, so that all errors of a line come out at once.
        for (i, form) in forms.iter().enumerate() {
            let arg = match written.next_if_not(left_out == Some(i)) {
                None => Some(Arg::Absent),
                Some(operand) => self.operand(operand, form, m, &mut out),
            };
            sound &= arg.is_some();
            out.args.extend(arg);
        }
        sound.then_some(out)
    }

    fn operand(&mut self, operand: &Operand, form: &OperandForm, m: &FormMatch<'_>, out: &mut Args) -> Option<Arg> {
        if form.sink && matches!(operand, Operand::Name(name) if name.text == "_") {
            return Some(match form.kind {
                OperandKind::PredicatePair => Arg::Pair(None, None),
                OperandKind::ValueAndPredicate(_) => Arg::ValueAndPredicate(None, None),
                OperandKind::Vector(_) => Arg::Parts(vec![None], false),
                _ => Arg::Sink,
            });
        }
        match form.kind {
            OperandKind::Value(ty) => self.value(operand, m.resolve(ty), false, form, m, out).map(Arg::Value),
            OperandKind::Wider(ty) => self.value(operand, m.resolve(ty), true, form, m, out).map(Arg::Value),
            OperandKind::Vector(ty) => self.vector(operand, m.resolve(ty), form, m, out),
            OperandKind::Moved(ty) => self.moved(operand, m.resolve(ty), form, m, out),
            OperandKind::Predicate => self.predicate(operand, form, m, out),
            OperandKind::PredicatePair => {
                let (p, q) = match operand {
                    Operand::Pair(p, q, _) => (p, Some(q)),
                    Operand::Name(p) => (p, None),
                    other => return self.wrong(other, "a predicate or a pair `p|q`"),
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
                    other => return self.wrong(other, "a register or a pair `d|p`"),
                };
                let row = match d.text.as_str() {
                    "_" if form.sink => None,
                    _ => Some(self.value(&Operand::Name(d.clone()), m.resolve(ty), false, form, m, out)?.row),
                };
                let p = match p {
                    Some(p) => self.written_predicate(p, out)?,
                    None => None,
                };
                Some(Arg::ValueAndPredicate(row, p))
            }
            OperandKind::Immediate => match operand {
                Operand::Int { value, .. } => Some(Arg::Immediate(*value)),
                other => self.wrong(other, "an integer"),
            },
            OperandKind::Address => self.address(operand, m, out).map(Arg::Address),
            OperandKind::Label => match operand {
                Operand::Name(name) => Some(Arg::Label(name.clone())),
                other => self.wrong(other, "a label"),
            },
        }
    }

    /// Reports that something else should stand there.
    pub(super) fn wrong<T>(&mut self, operand: &Operand, wanted: &str) -> Option<T> {
        self.touch(operand);
        let error = Diagnostic::error("operand-kind", operand.span(), format!("expected {wanted}"));
        self.report(match operand {
            Operand::Address { .. } => error.help("brackets are for the addresses of loads, stores and atomics"),
            Operand::Not(..) => error.help("`!` negates predicates only; use `not` or `cnot` for registers"),
            _ => error,
        });
        None
    }

    /// Notes a register as read or written, in its scope and in the instruction.
    fn note(&mut self, used: Used, form_result: bool, span: Span, out: &mut Args) -> (Register, Type) {
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

    /// A register or, as a source, an immediate or a special register.
    fn value(
        &mut self,
        operand: &Operand,
        ty: Type,
        wider: bool,
        form: &OperandForm,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Value> {
        if !form.result
            && let Some(bits) = literal(operand, ty)
        {
            let bits = self.ok(bits)?;
            return Some(Value { row: self.rows.constant(bits, ty.is_wide()), register: None, ty });
        }
        let Operand::Name(name) = operand else {
            return self.wrong(operand, if form.result { "a register" } else { "a register or a number" });
        };
        match self.find(name)? {
            Found::Register(used) => {
                let (register, declared) = self.note(used, form.result, name.span, out);
                let row = match register {
                    Register::Narrow(row) | Register::Wide(row) if fits(declared, ty, wider) => row,
                    _ => {
                        self.report(mismatch(name, declared, ty, m));
                        return None;
                    }
                };
                Some(Value { row, register: Some(register), ty: declared })
            }
            _ if form.result => self.wrong(operand, "a register to write to"),
            Found::Special(special) if fits(Type::U32, ty, wider) => {
                Some(Value { row: self.rows.special(special), register: None, ty: Type::U32 })
            }
            Found::Special(_) => {
                self.report(mismatch(name, Type::U32, ty, m));
                None
            }
            Found::WarpSize => {
                let row = self.rows.constant(u64::from(super::names::WARP_SIZE), ty.is_wide());
                Some(Value { row, register: None, ty })
            }
            Found::Clock { .. } => {
                let message = format!("`{}` can only be read with `mov`", name.text);
                self.report(Diagnostic::error("operand-kind", name.span, message));
                None
            }
            Found::Symbol(_) => {
                let message = format!("`{}` is a variable, and a register or number is wanted", name.text);
                let help = format!("take its address first: mov.u64 %rd, {};", name.text);
                self.report(Diagnostic::error("operand-kind", name.span, message).help(help));
                None
            }
        }
    }

    /// The data of a load or store: one value, or as many in braces as the vector says.
    fn vector(
        &mut self,
        operand: &Operand,
        ty: Type,
        form: &OperandForm,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Arg> {
        let count = usize::from(vector_length(m));
        let elements = match operand {
            Operand::Vector(elements, _) if elements.len() == count => elements.as_slice(),
            Operand::Vector(elements, span) => {
                let message = format!("{} values in braces, and the instruction moves {count}", elements.len());
                let help = match elements.len() {
                    n @ (2 | 4) => format!("write `.v{n}` before the type"),
                    _ => "vectors have 2 or 4 elements".into(),
                };
                self.report(Diagnostic::error("vector-length", *span, message).help(help));
                return None;
            }
            other if count == 1 => std::slice::from_ref(other),
            other => return self.wrong(other, &format!("{count} registers in braces")),
        };
        let mut parts = Vec::new();
        for element in elements {
            let sink = form.sink && matches!(element, Operand::Name(name) if name.text == "_");
            parts.push(if sink { None } else { Some(self.value(element, ty, true, form, m, out)?) });
        }
        let registers: Vec<bool> =
            parts.iter().flatten().filter(|v| v.register.is_some()).map(|v| v.ty.is_wide()).collect();
        let wide = registers.first().copied().unwrap_or(ty.is_wide());
        if registers.iter().any(|&w| w != wide) {
            let message = "a vector mixes 32-bit and 64-bit registers";
            self.report(Diagnostic::error("vector-width", operand.span(), message));
            return None;
        }
        if wide != ty.is_wide() {
            // Immediates and special registers next to wide registers move to wide rows; the low bits are what is stored.
            for (part, element) in parts.iter_mut().zip(elements) {
                if let Some(part) = part.as_mut().filter(|part| part.register.is_none()) {
                    let Some(Ok(bits)) = literal(element, ty) else {
                        return self.wrong(element, "a register as wide as the others");
                    };
                    part.row = self.rows.constant(bits, wide);
                }
            }
        }
        Some(Arg::Parts(parts, wide))
    }

    /// What `mov` and `cvta` take beside values: addresses of variables, packed parts, clocks.
    fn moved(
        &mut self,
        operand: &Operand,
        ty: Type,
        form: &OperandForm,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Arg> {
        match operand {
            Operand::Vector(elements, span) => self.parts(elements, *span, ty, form, m, out),
            Operand::Name(name) if !form.result => match self.find(name)? {
                Found::Symbol(_) => self.symbol_address(name, 0, ty, m),
                Found::Clock { wide } if m.form.sem == Sem::Mov && wide == ty.is_wide() && !ty.is_float() => {
                    Some(Arg::Clock)
                }
                Found::Special(Special::Gridid) if ty.is_wide() && !ty.is_float() => {
                    Some(Arg::WideSpecial(self.rows.special(Special::Gridid)))
                }
                Found::Clock { wide } if m.form.sem == Sem::Mov => {
                    self.report(mismatch(name, if wide { Type::U64 } else { Type::U32 }, ty, m));
                    None
                }
                _ => self.value(operand, ty, false, form, m, out).map(Arg::Value),
            },
            Operand::Symbol { name, offset, .. } if !form.result => self.symbol_address(name, *offset, ty, m),
            _ => self.value(operand, ty, false, form, m, out).map(Arg::Value),
        }
    }

    fn parts(
        &mut self,
        elements: &[Operand],
        span: Span,
        ty: Type,
        form: &OperandForm,
        m: &FormMatch<'_>,
        out: &mut Args,
    ) -> Option<Arg> {
        let part = match (ty, elements.len()) {
            (Type::B64, 2) => Type::B32,
            (Type::B64, 4) | (Type::B32, 2) => Type::B16,
            (Type::B32, 4) | (Type::B16, 2) => Type::B8,
            (_, n) => {
                let message = format!("`{}` cannot be packed from {n} parts", m.form.opcode.clone() + "." + ty.name());
                let help = "mov.b64 takes 2 parts of 32 bits or 4 of 16, mov.b32 2 of 16 or 4 of 8, mov.b16 2 of 8";
                self.report(Diagnostic::error("vector-length", span, message).help(help));
                return None;
            }
        };
        let mut parts = Vec::new();
        for element in elements {
            let sink = form.result && matches!(element, Operand::Name(name) if name.text == "_");
            parts.push(if sink { None } else { Some(self.value(element, part, false, form, m, out)?) });
        }
        Some(Arg::Parts(parts, false))
    }

    /// A variable's address as a value.
    fn symbol_address(&mut self, name: &Name, offset: i64, ty: Type, m: &FormMatch<'_>) -> Option<Arg> {
        let Found::Symbol(symbol) = self.find(name)? else {
            return self.wrong(&Operand::Name(name.clone()), "a variable");
        };
        if m.form.sem == Sem::Cvta && symbol.space != space(m) {
            let message = format!("`{}` is in .{}", name.text, symbol.space.name());
            let help = format!("write cvta.{}.u64", symbol.space.name());
            self.report(Diagnostic::error("address-space", name.span, message).help(help));
            return None;
        }
        let bits = symbol.address.wrapping_add_signed(offset);
        let wide = ty.is_wide();
        if ty.is_float() || ty.bits() < 32 || (!wide && u32::try_from(bits).is_err()) {
            let message = format!("the address of `{}` does not fit .{}", name.text, ty.name());
            self.report(
                Diagnostic::error("type-mismatch", name.span, message).help("write mov.u64 with a 64-bit register"),
            );
            return None;
        }
        Some(Arg::Value(Value { row: self.rows.constant(bits, wide), register: None, ty }))
    }

    fn predicate(&mut self, operand: &Operand, form: &OperandForm, m: &FormMatch<'_>, out: &mut Args) -> Option<Arg> {
        let (name, negated) = match operand {
            Operand::Name(name) => (name, false),
            Operand::Not(name, _) if !form.result => (name, true),
            Operand::Int { value, .. } if m.form.sem == Sem::PredicateMov && !form.result => {
                return Some(Arg::Truth(*value != 0));
            }
            other => return self.wrong(other, "a predicate"),
        };
        let predicate = self.predicate_name(name, form.result, out)?;
        Some(Arg::Predicate(PredicateUse { predicate, negated }))
    }

    /// `p` of a pair; `_` is nobody.
    fn written_predicate(&mut self, name: &Name, out: &mut Args) -> Option<Option<Predicate>> {
        if name.text == "_" { Some(None) } else { self.predicate_name(name, true, out).map(Some) }
    }

    /// A predicate register by name.
    pub(super) fn predicate_name(&mut self, name: &Name, result: bool, out: &mut Args) -> Option<Predicate> {
        let found = self.find(name)?;
        if let Found::Register(used) = found {
            let (register, declared) = self.note(used, result, name.span, out);
            if let Register::Predicate(predicate) = register {
                return Some(predicate);
            }
            let message = format!("`{}` is .{}, and a predicate is wanted", name.text, declared.name());
            let help = format!("compare first: setp.ne.{} %p, {}, 0;", declared.name(), name.text);
            self.report(Diagnostic::error("type-mismatch", name.span, message).help(help));
            return None;
        }
        self.wrong(&Operand::Name(name.clone()), "a predicate")
    }

    /// `[base+offset]`
    fn address(&mut self, operand: &Operand, m: &FormMatch<'_>, out: &mut Args) -> Option<Address> {
        let Operand::Address { base, offset, span } = operand else {
            self.touch(operand);
            let error = Diagnostic::error("operand-kind", operand.span(), "expected an address");
            self.report(match operand {
                Operand::Name(name) => error.help(format!("write it in brackets: [{}]", name.text)),
                _ => error.help("write it in brackets"),
            });
            return None;
        };
        let space = space(m);
        let Some(name) = base else {
            return Some(Address { base: AddressBase::Zero, offset: *offset });
        };
        match self.find(name)? {
            Found::Register(used) => {
                let (register, declared) = self.note(used, false, name.span, out);
                let base = match register {
                    Register::Wide(row) if !declared.is_float() => AddressBase::Wide(row),
                    Register::Narrow(row) if !declared.is_float() && declared.bits() == 32 => AddressBase::Narrow(row),
                    _ => {
                        let message = format!("`{}` is .{} and cannot hold an address", name.text, declared.name());
                        let help =
                            "addresses are 64-bit integers, or 32-bit ones in shared, local, const and param space";
                        self.report(Diagnostic::error("type-mismatch", name.span, message).help(help));
                        return None;
                    }
                };
                if matches!((base, space), (AddressBase::Narrow(_), Space::Global | Space::Generic)) {
                    let message = format!("`{}` has 32 bits, and a {} address has 64", name.text, space.name());
                    self.report(
                        Diagnostic::warning("narrow-address", name.span, message).help("the upper half counts as 0"),
                    );
                }
                Some(Address { base, offset: *offset })
            }
            Found::Symbol(symbol) => {
                // Global and constant addresses are the same in generic space; the others are offsets in their own.
                let absolute = matches!(symbol.space, Space::Global | Space::Const);
                if symbol.space != space && !(space == Space::Generic && absolute) {
                    let is = symbol.space.name();
                    let message =
                        format!("`{}` is in .{is}, and the instruction is for {} addresses", name.text, space.name());
                    self.report(
                        Diagnostic::error("address-space", name.span, message).help(format!("name the space: .{is}")),
                    );
                    return None;
                }
                let bytes = i64::from(m.ty().bytes()) * i64::from(vector_length(m));
                let end = offset.checked_add(bytes);
                let inside = *offset >= 0 && end.is_some_and(|end| end as u64 <= symbol.bytes);
                if space == Space::Param && !inside {
                    let message =
                        format!("bytes {offset} to {} are not in `{}`", offset.saturating_add(bytes), name.text);
                    let has = format!("it has {} bytes", symbol.bytes);
                    self.report(Diagnostic::error("parameter-range", *span, message).also(symbol.span, has));
                    return None;
                }
                let offset = (symbol.address as i64).wrapping_add(*offset);
                Some(Address { base: AddressBase::Zero, offset })
            }
            _ => self.wrong(&Operand::Name(name.clone()), "a register or a variable as the address"),
        }
    }

    /// Counts the registers of an operand that will not be checked as read and written, so that one fault does not
    /// bring warnings about its registers.
    pub(super) fn touch(&mut self, operand: &Operand) {
        match operand {
            Operand::Name(name) | Operand::Not(name, _) => self.touch_name(name),
            Operand::Address { base: Some(name), .. } => self.touch_name(name),
            Operand::Pair(a, b, _) => {
                self.touch_name(a);
                self.touch_name(b);
            }
            Operand::Vector(all, _) | Operand::List(all, _) => all.iter().for_each(|operand| self.touch(operand)),
            _ => {}
        }
    }

    fn touch_name(&mut self, name: &Name) {
        if special_of(&name.text).is_none()
            && let Some(used) = self.scopes.register(&name.text, &mut self.rows)
        {
            self.scopes.read(used, name.span);
            self.scopes.wrote(used);
        }
    }
}

/// The operand list of a form, as help shows it.
fn signature(forms: &[OperandForm]) -> String {
    let mut text = String::new();
    for (i, form) in forms.iter().enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        let name = match form.kind {
            OperandKind::Address => format!("[{}]", form.name),
            _ => form.name.clone(),
        };
        text.push_str(&if form.optional { format!("{{{comma}{name}}}") } else { format!("{comma}{name}") });
    }
    text
}

fn mismatch(name: &Name, declared: Type, wanted: Type, m: &FormMatch<'_>) -> Diagnostic {
    let message =
        format!("`{}` is .{}, and `{}` wants .{} here", name.text, declared.name(), m.mnemonic(), wanted.name());
    let error = Diagnostic::error("type-mismatch", name.span, message);
    let (from, to) = (declared.name(), wanted.name());
    match (declared, wanted) {
        (Type::Pred, _) => error.help(format!("turn it into a number: selp.{to} %r, 1, 0, {};", name.text)),
        (_, Type::Pred) => error,
        (a, b) if a.bits() == b.bits() => {
            error.help(format!("convert the value with cvt, or move the bits: mov.b{} %r, {};", a.bits(), name.text))
        }
        (a, b) if a.is_float() || b.is_float() => error.help("convert it with cvt"),
        _ => error.help(format!("convert it: cvt.{to}.{from} %r, {};", name.text)),
    }
}

/// `next`, unless the operand at hand is the one left out.
trait NextIfNot: Iterator {
    fn next_if_not(&mut self, skip: bool) -> Option<Self::Item>;
}

impl<I: Iterator> NextIfNot for I {
    fn next_if_not(&mut self, skip: bool) -> Option<I::Item> {
        if skip { None } else { self.next() }
    }
}
