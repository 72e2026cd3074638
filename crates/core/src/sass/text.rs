//! One instruction of a listing as text: guard, mnemonic, modifiers, operands.
//!
//! Meaning is not known here. The grammar is the one that `cuobjdump -sass` and `nvdisasm` print.

/// Parsed text of one instruction.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text<'a> {
    /// `@P0`, `@!UP1`; `None` if always executed.
    pub(super) guard: Option<PredicateName>,
    /// First word of the dotted mnemonic: `IADD3` of `IADD3.X`.
    pub(super) name: &'a str,
    /// Further words of the mnemonic, in order.
    pub(super) modifiers: Vec<&'a str>,
    /// Operands, in order.
    pub(super) operands: Vec<Operand<'a>>,
}

impl<'a> Text<'a> {
    /// Returns true if the mnemonic has the modifier.
    pub(super) fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// Removes a modifier. Returns true if it was there.
    pub(super) fn take(&mut self, modifier: &str) -> bool {
        match self.modifiers.iter().position(|m| *m == modifier) {
            Some(at) => {
                self.modifiers.remove(at);
                true
            }
            None => false,
        }
    }
}

/// Predicate operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PredicateName {
    /// 0 to 6; 7 for PT and UPT.
    pub(super) number: u8,
    /// True for UP0 .. UPT.
    pub(super) uniform: bool,
    /// `!`
    pub(super) negated: bool,
}

/// Register of a thread or of the uniform datapath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegisterName {
    /// 0 to 254, 255 for RZ; uniform: 0 to 62, 63 for URZ.
    pub(super) number: u8,
    /// True for UR0 .. URZ.
    pub(super) uniform: bool,
}

impl RegisterName {
    /// Returns true for RZ and URZ.
    pub(super) fn is_zero(self) -> bool {
        self.number == if self.uniform { 63 } else { 255 }
    }
}

/// Modifiers before and after a source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Marks<'a> {
    /// `-`
    pub(super) negate: bool,
    /// `|x|`
    pub(super) absolute: bool,
    /// `~`
    pub(super) invert: bool,
    /// Suffix other than `.reuse`: `64`, `H0_H0`, `B1`, `U32` ..
    pub(super) suffix: Option<&'a str>,
}

/// Operand.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand<'a> {
    /// `R4`, `-R4.reuse`, `|UR5|`, `R2.64`
    Register(RegisterName, Marks<'a>),
    /// `P0`, `!UPT`
    Predicate(PredicateName),
    /// `PR`, the predicate file.
    PredicateFile,
    /// `B0`, a convergence barrier register.
    Barrier(u8),
    /// `SB0`, a dependence counter.
    Counter(u8),
    /// `{4,3,2,1,0}`, dependence counters of DEPBAR.
    Counters(u8),
    /// `0x10`, `-4`
    Integer(i64),
    /// `1.5`, `+INF`, `-QNAN`
    Float(f64),
    /// `c[0x0][0x210]`, `c[0x2][R0+0x18]`, with the operand's marks.
    Constant {
        /// Bank number.
        bank: u8,
        /// Register that indexes the bank.
        index: Option<RegisterName>,
        /// Byte offset.
        offset: i64,
        /// Modifiers.
        marks: Marks<'a>,
    },
    /// `[R2.64+UR4+0x10]`, `desc[UR4][R2.64]`
    Address(AddressText<'a>),
    /// `gdesc[UR4].tnspB`, descriptors of matrices from a uniform register on, with suffixes.
    Matrices(RegisterName, &'a str),
    /// `SR_TID.X`
    Special(&'a str),
    /// A word of another kind, for example the `ALL` of a mask or the label of a jump.
    Word(&'a str),
}

/// Address in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct AddressText<'a> {
    /// Descriptor of `desc[UR4][..]`.
    pub(super) descriptor: Option<RegisterName>,
    /// Thread register.
    pub(super) register: Option<RegisterName>,
    /// Suffix of the thread register: `64`, `U32`, `X4`, `X16` ..
    pub(super) suffix: Option<&'a str>,
    /// Uniform register added to it.
    pub(super) uniform: Option<RegisterName>,
    /// Constant offset in bytes.
    pub(super) offset: i64,
}

/// Parses an instruction without its terminating semicolon.
///
/// # Errors
/// Returns the byte offset and a description of the first unreadable operand.
pub(super) fn parse(text: &str) -> Result<Text<'_>, (usize, String)> {
    let at = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    let mut rest = text.trim();
    let mut guard = None;
    if let Some(after) = rest.strip_prefix('@') {
        let (word, tail) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
        guard = predicate(word);
        if guard.is_none() {
            return Err((at(word), format!("expected a predicate, found `{word}`")));
        }
        rest = tail.trim_start();
    }
    let (mnemonic, tail) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let mut words = mnemonic.split('.');
    let name = words.next().unwrap_or_default();
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()) {
        return Err((at(mnemonic), format!("expected an opcode, found `{mnemonic}`")));
    }
    let modifiers = words.collect();
    let mut operands = Vec::new();
    for part in split(tail) {
        match operand(part) {
            Some(operand) => operands.push(operand),
            // CALL and BRX print a register and an offset without a comma between them.
            None => {
                for word in part.split_whitespace() {
                    let Some(operand) = operand(word) else {
                        return Err((at(word), format!("expected an operand, found `{word}`")));
                    };
                    operands.push(operand);
                }
            }
        }
    }
    Ok(Text { guard, name, modifiers, operands })
}

/// Splits at commas outside brackets and braces.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |c| {
        match c {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

fn predicate(word: &str) -> Option<PredicateName> {
    let (negated, word) = word.strip_prefix('!').map_or((false, word), |rest| (true, rest));
    let (uniform, word) = word.strip_prefix('U').map_or((false, word), |rest| (true, rest));
    let number = match word.strip_prefix('P')? {
        "T" => 7,
        digit => digit.parse().ok().filter(|&n: &u8| n < 7 && digit.len() == 1)?,
    };
    Some(PredicateName { number, uniform, negated })
}

fn register(word: &str) -> Option<RegisterName> {
    let (uniform, word) = word.strip_prefix('U').map_or((false, word), |rest| (true, rest));
    let most = if uniform { 63 } else { 255 };
    let number = match word.strip_prefix('R')? {
        "Z" => most,
        digits if digits.bytes().all(|b| b.is_ascii_digit()) => {
            digits.parse().ok().filter(|&n: &u8| n < most)?
        }
        _ => return None,
    };
    Some(RegisterName { number, uniform })
}

fn integer(word: &str) -> Option<i64> {
    let (negative, digits) = word.strip_prefix('-').map_or((false, word), |rest| (true, rest));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()? as i64,
        None => digits.parse().ok()?,
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

fn float(word: &str) -> Option<f64> {
    let (sign, digits) = match word.as_bytes().first()? {
        b'-' => (-1.0, &word[1..]),
        b'+' => (1.0, &word[1..]),
        _ => (1.0, word),
    };
    match digits {
        "INF" => Some(sign * f64::INFINITY),
        "QNAN" | "SNAN" | "NAN" => Some(f64::NAN.copysign(sign)),
        _ => digits
            .bytes()
            .all(|b| b.is_ascii_digit() || b".eE+-".contains(&b))
            .then(|| digits.parse::<f64>().ok())?
            .map(|value| value * sign),
    }
}

/// Splits the modifiers off a source operand.
fn marks(word: &str) -> (Marks<'_>, &str) {
    let mut marks = Marks::default();
    let mut rest = word;
    loop {
        if let Some(tail) = rest.strip_prefix('-') {
            (marks.negate, rest) = (true, tail);
        } else if let Some(tail) = rest.strip_prefix('~') {
            (marks.invert, rest) = (true, tail);
        } else if let Some((inner, tail)) =
            rest.strip_prefix('|').and_then(|inner| inner.split_once('|'))
        {
            marks.absolute = true;
            // `|R3|.reuse`: what follows the bar is never part of the register's name.
            for suffix in tail.split('.').filter(|s| !s.is_empty() && *s != "reuse") {
                marks.suffix = Some(suffix);
            }
            rest = inner;
        } else {
            return (marks, rest);
        }
    }
}

fn operand(word: &str) -> Option<Operand<'_>> {
    if let Some(p) = predicate(word) {
        return Some(Operand::Predicate(p));
    }
    if let Some(value) = integer(word) {
        return Some(Operand::Integer(value));
    }
    if let Some(value) = float(word) {
        return Some(Operand::Float(value));
    }
    let (mut found, rest) = marks(word);
    if let Some(constant) = rest.strip_prefix("c[") {
        return constant_operand(constant, found);
    }
    if let Some(descriptor) = rest.strip_prefix("gdesc[") {
        let (name, suffixes) = descriptor.split_once(']')?;
        let first = register(name).filter(|name| name.uniform)?;
        return Some(Operand::Matrices(first, suffixes));
    }
    if rest.ends_with(']') {
        return address(rest).map(Operand::Address);
    }
    let mut parts = rest.split('.');
    let base = parts.next()?;
    if let Some(register) = register(base) {
        for suffix in parts.filter(|s| *s != "reuse") {
            found.suffix = Some(suffix);
        }
        return Some(Operand::Register(register, found));
    }
    let number = |prefix: &str, most: u8| {
        rest.strip_prefix(prefix)?.parse().ok().filter(|&n: &u8| n <= most)
    };
    if let Some(n) = number("B", 15) {
        return Some(Operand::Barrier(n));
    }
    if let Some(n) = number("SB", 5) {
        return Some(Operand::Counter(n));
    }
    if let Some(inner) = rest.strip_prefix('{').and_then(|r| r.strip_suffix('}')) {
        let mut bits = inner.split(',').map(|n| n.trim().parse().ok().filter(|&n: &u8| n < 6));
        return bits.try_fold(0, |all, n| Some(all | 1 << n?)).map(Operand::Counters);
    }
    if rest == "PR" || rest == "UPR" {
        return Some(Operand::PredicateFile);
    }
    if rest.starts_with("SR_") {
        return Some(Operand::Special(rest));
    }
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._`()$".contains(&b);
    (!rest.is_empty() && rest == word && rest.bytes().all(plain)).then_some(Operand::Word(rest))
}

/// Parses `0x0][R0+0x18]`, what follows `c[`.
fn constant_operand<'a>(text: &'a str, marks: Marks<'a>) -> Option<Operand<'a>> {
    let (bank, rest) = text.split_once(']')?;
    // The disassembler prints `c[0x2] [0x0].F32` with a space.
    let (inside, tail) = rest.trim_start().strip_prefix('[')?.split_once(']')?;
    let mut marks = marks;
    for suffix in tail.split('.').filter(|s| !s.is_empty() && *s != "reuse") {
        marks.suffix = Some(suffix);
    }
    let bank = u8::try_from(integer(bank)?).ok()?;
    let (mut index, mut offset) = (None, 0);
    for term in terms(inside) {
        match register(term.split('.').next()?) {
            Some(register) => index = Some(register).filter(|r| !r.is_zero()),
            None => offset += integer(term)?,
        }
    }
    Some(Operand::Constant { bank, index, offset, marks })
}

/// Parses `desc[UR4][R2.64+0x10]`, `[R2+UR4+0x10]` or `desc[UR6]`.
fn address(text: &str) -> Option<AddressText<'_>> {
    let mut found = AddressText::default();
    let mut inner = text;
    if let Some(rest) = text.strip_prefix("desc[") {
        let (descriptor, rest) = rest.split_once(']')?;
        found.descriptor = Some(register(descriptor.split('.').next()?)?);
        if rest.is_empty() {
            // The cache policy of a bulk copy.
            return Some(found);
        }
        inner = rest;
    }
    let inner = inner.strip_prefix('[')?.strip_suffix(']')?;
    for term in terms(inner) {
        let (name, suffix) = term.split_once('.').map_or((term, None), |(n, s)| (n, Some(s)));
        match register(name) {
            Some(register) if register.uniform => found.uniform = Some(register),
            Some(register) => {
                found.register = Some(register);
                found.suffix = suffix.filter(|s| *s != "reuse");
            }
            None => found.offset += integer(term)?,
        }
    }
    Some(found)
}

/// Splits a sum at its plus signs.
fn terms(sum: &str) -> impl Iterator<Item = &str> {
    sum.split('+').map(str::trim).filter(|term| !term.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operands(text: &str) -> Vec<Operand<'_>> {
        parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}")).operands
    }

    const R: fn(u8) -> RegisterName = |number| RegisterName { number, uniform: false };
    const UR: fn(u8) -> RegisterName = |number| RegisterName { number, uniform: true };

    #[test]
    fn guards_mnemonics_and_modifiers() {
        let text = parse("@!UP0 ISETP.GE.U32.AND P0, PT, R2, UR4, PT").expect("readable");
        assert_eq!(text.guard, Some(PredicateName { number: 0, uniform: true, negated: true }));
        assert_eq!((text.name, text.modifiers.as_slice()), ("ISETP", &["GE", "U32", "AND"][..]));
        assert_eq!(text.operands.len(), 5);
        assert_eq!(text.operands[3], Operand::Register(UR(4), Marks::default()));
    }

    #[test]
    fn source_modifiers() {
        let marked = |negate, absolute, invert, suffix| Marks { negate, absolute, invert, suffix };
        assert_eq!(
            operands("X -R4.reuse, ~R5, -|R6|.reuse, R7.H0_H0, RZ, R2.64"),
            [
                Operand::Register(R(4), marked(true, false, false, None)),
                Operand::Register(R(5), marked(false, false, true, None)),
                Operand::Register(R(6), marked(true, true, false, None)),
                Operand::Register(R(7), marked(false, false, false, Some("H0_H0"))),
                Operand::Register(R(255), Marks::default()),
                Operand::Register(R(2), marked(false, false, false, Some("64"))),
            ]
        );
    }

    #[test]
    fn numbers() {
        assert_eq!(
            operands("X 0x10, -0x4, 7, 1.5, -0.25, +INF, -INF, 9.999e-10"),
            [
                Operand::Integer(16),
                Operand::Integer(-4),
                Operand::Integer(7),
                Operand::Float(1.5),
                Operand::Float(-0.25),
                Operand::Float(f64::INFINITY),
                Operand::Float(f64::NEG_INFINITY),
                Operand::Float(9.999e-10),
            ]
        );
    }

    #[test]
    fn addresses_and_constants() {
        assert_eq!(
            operands("LDG.E R0, desc[UR4][R2.64+-0x8], c[0x2][R0+0x18], [R3.X4+UR5+0x400], [0x8]"),
            [
                Operand::Register(R(0), Marks::default()),
                Operand::Address(AddressText {
                    descriptor: Some(UR(4)),
                    register: Some(R(2)),
                    suffix: Some("64"),
                    uniform: None,
                    offset: -8,
                }),
                Operand::Constant {
                    bank: 2,
                    index: Some(R(0)),
                    offset: 0x18,
                    marks: Marks::default(),
                },
                Operand::Address(AddressText {
                    descriptor: None,
                    register: Some(R(3)),
                    suffix: Some("X4"),
                    uniform: Some(UR(5)),
                    offset: 0x400,
                }),
                Operand::Address(AddressText { offset: 8, ..AddressText::default() }),
            ]
        );
        assert_eq!(
            operands("X -c[0x0] [0x210]"),
            [Operand::Constant {
                bank: 0,
                index: None,
                offset: 0x210,
                marks: Marks { negate: true, ..Marks::default() },
            }]
        );
    }

    #[test]
    fn other_operands() {
        assert_eq!(
            operands("X B0, SB2, {4,0}, PR, SR_TID.X, `(f)"),
            [
                Operand::Barrier(0),
                Operand::Counter(2),
                Operand::Counters(0b1_0001),
                Operand::PredicateFile,
                Operand::Special("SR_TID.X"),
                Operand::Word("`(f)"),
            ]
        );
        assert_eq!(operands("BRX R2 -0x140").len(), 2);
        assert_eq!(operands("CALL.REL.NOINC R8 0x0").len(), 2);
    }

    #[test]
    fn what_is_no_instruction_is_an_error() {
        for text in ["", "@Q0 BRA 0x10", "iadd3 R0", "IADD3 R0, [R300]", "MOV R0, c[0x0]"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
