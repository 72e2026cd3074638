//! The syntax tree: what the author wrote, with a span on everything, right or wrong.
//!
//! The tree knows PTX's grammar and nothing of its instructions: a mnemonic is a dotted word, operands are
//! shapes. Whether `add.u32` exists, and what it takes, is for `kernel::check`.

use crate::diag::Span;

/// A word with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The word as written, e.g. `%r1`, `sdata`, `ld.global.u32`.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A parsed file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version`, e.g. `(9, 0)`; absent in most hand-written `.ir` files.
    pub version: Option<(u32, u32)>,
    /// `.target`: the comma-separated words, e.g. `sm_90`.
    pub target: Vec<Name>,
    /// `.address_size`: 64 when absent.
    pub address_size: Option<u32>,
    /// `.file` lines: index and path.
    pub files: Vec<(u32, String)>,
    /// The declarations in order.
    pub items: Vec<Item>,
    /// The text behind `//!` of each directive comment (trimmed), in order, with the span of that text.
    pub directives: Vec<Name>,
    /// The `.section` blocks of debug data, from `.section` to `}`, without comments: not understood, kept because
    /// `.loc` lines name labels inside them and the printed file must still load on a GPU.
    pub sections: Vec<Name>,
}

/// A module-level declaration.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `.entry` or `.func`.
    Function(Function),
    /// A `.global`, `.const` or `.shared` variable.
    Variable(Variable),
    /// `.alias name, target;`
    Alias(Alias),
}

/// `.alias name, target;`: another name of a device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Alias {
    /// The other name.
    pub name: Name,
    /// The function.
    pub target: Name,
    /// The whole declaration.
    pub span: Span,
}

/// `.entry` is a kernel, `.func` a device function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// `.entry`
    Entry,
    /// `.func`
    Func,
}

/// A kernel or device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// `.visible`, `.extern`, `.weak`: words without the dot.
    pub linkage: Vec<Name>,
    /// The function's name.
    pub name: Name,
    /// Return parameters of a `.func`.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// `.maxntid 512, 1, 1` and its kin: the word without its dot, and its numbers.
    pub performance: Vec<(Name, Vec<u64>)>,
    /// The statements; `None` for a prototype.
    pub body: Option<Vec<Statement>>,
    /// The whole declaration.
    pub span: Span,
}

/// A variable or parameter declaration: `.shared .align 4 .b32 sdata[512];`
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// `param`, `global`, `const`, `shared`, `local` or `reg` without the dot.
    pub space: Name,
    /// `.visible`, `.extern`, `.weak`: words without the dot.
    pub linkage: Vec<Name>,
    /// `.align N`
    pub align: Option<u32>,
    /// `2` or `4` for `.v2`/`.v4` element vectors, 1 otherwise.
    pub vector: u32,
    /// The element type without its dot, e.g. `u32`.
    pub ty: Name,
    /// The name.
    pub name: Name,
    /// Array dimensions; empty for a scalar; `None` inside for `[]`.
    pub dims: Vec<Option<u64>>,
    /// The initialiser.
    pub init: Option<Init>,
    /// The `.ptr .global .align 8` attributes of a parameter: words without dots (and alignment), kept for printing.
    pub pointer: Option<PointerAttributes>,
    /// The whole declaration.
    pub span: Span,
}

/// `.ptr .SPACE .align N` on a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct PointerAttributes {
    /// The space pointed to, without the dot.
    pub space: Option<Name>,
    /// The alignment promised.
    pub align: Option<u32>,
}

/// A static initialiser.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// One value (a number or the address of a symbol in its own space, perhaps with an offset).
    Value(Operand),
    /// `generic(symbol)`, perhaps with an offset: the symbol's generic address.
    Generic(Operand),
    /// `{ a, b, .. }`
    List(Vec<Init>),
}

/// One statement of a function body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `name:`
    Label(Name),
    /// An instruction.
    Instruction(Instruction),
    /// `.reg .u32 %r<10>, %x;`
    Registers(Registers),
    /// A `.shared`, `.local`, `.param`, .. variable inside the body.
    Variable(Variable),
    /// `{ .. }`: a scope for registers and variables.
    Block(Vec<Statement>, Span),
    /// `.loc FILE LINE COLUMN [, rest kept as text]`
    Loc {
        /// The index into [`Module::files`].
        file: u32,
        /// The line in that file.
        line: u32,
        /// The column in that file.
        column: u32,
        /// `function_name`/`inlined_at` attributes as written, for printing; empty when absent.
        rest: String,
        /// Where it stands.
        span: Span,
    },
    /// `.pragma "text";`
    Pragma(Vec<String>, Span),
    /// `label: .branchtargets a, b;` or `label: .calltargets f, g;`
    Targets(Targets),
    /// `label: .callprototype (..) _ (..);`
    Prototype(Prototype),
}

/// What a table of targets lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Labels, for `brx.idx`.
    Branch,
    /// Functions, for indirect calls.
    Call,
}

/// `label: .branchtargets a, b;`
#[derive(Clone, Debug, PartialEq)]
pub struct Targets {
    /// What instructions call the table.
    pub label: Name,
    /// Labels or functions.
    pub kind: TargetKind,
    /// The targets in order.
    pub names: Vec<Name>,
    /// From label to semicolon.
    pub span: Span,
}

/// `label: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;`
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype {
    /// What instructions call the prototype.
    pub label: Name,
    /// Return parameters.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// `.noreturn` and its kin, with their numbers.
    pub performance: Vec<(Name, Vec<u64>)>,
    /// From label to semicolon.
    pub span: Span,
}

/// `.reg .TYPE names;`
#[derive(Clone, Debug, PartialEq)]
pub struct Registers {
    /// `2` or `4` for vector registers, 1 otherwise.
    pub vector: u32,
    /// The type without its dot, e.g. `pred`, `b32`.
    pub ty: Name,
    /// Each name, and for `%r<10>` its count.
    pub names: Vec<(Name, Option<u32>)>,
    /// The whole declaration.
    pub span: Span,
}

/// `@!%p add.u32 %r1, %r2, 3;`
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The guard predicate.
    pub guard: Option<Guard>,
    /// The dotted word, e.g. `setp.lt.u32`.
    pub mnemonic: Name,
    /// The operands in order.
    pub operands: Vec<Operand>,
    /// From guard to semicolon.
    pub span: Span,
}

/// `@%p` or `@!%p`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// `@!`
    pub negated: bool,
    /// The predicate register.
    pub predicate: Name,
}

/// One operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, special register (`%tid.x`), label, variable or function name, or `_`.
    Name(Name),
    /// An integer literal or constant expression, already folded; two's complement in 64 bits.
    Int {
        /// The value; `-1` and `0xffffffffffffffff` have the same bits.
        value: i64,
        /// Whether it was written with `U` or above `i64::MAX`.
        unsigned: bool,
        /// Where it stands.
        span: Span,
    },
    /// `1.5` or `0d..`: a double literal, by its bits.
    Double {
        /// IEEE 754 binary64.
        bits: u64,
        /// Where it stands.
        span: Span,
    },
    /// `0f..`: a single-precision literal, by its bits.
    Single {
        /// IEEE 754 binary32.
        bits: u32,
        /// Where it stands.
        span: Span,
    },
    /// `[base+offset]`; base is a register, a symbol, or absent for an absolute address.
    Address {
        /// What stands before the offset.
        base: Option<Name>,
        /// The byte offset.
        offset: i64,
        /// The brackets included.
        span: Span,
    },
    /// A symbol with an offset outside brackets: `sdata+4`, as in `mov` and initialisers.
    Symbol {
        /// The symbol.
        name: Name,
        /// The byte offset.
        offset: i64,
        /// The whole.
        span: Span,
    },
    /// `!%p`
    Not(Name, Span),
    /// `{%r1, %r2}`
    Vector(Vec<Operand>, Span),
    /// `%p|%q` (setp, shfl, match, vote)
    Pair(Name, Name, Span),
    /// `[a, {b, c}]`: an address with coordinates, of textures, surfaces and tensors
    Coordinates(Vec<Operand>, Span),
    /// `(a, b)`: the parameter lists of `call`
    List(Vec<Operand>, Span),
}

impl Operand {
    /// Where the operand stands.
    pub fn span(&self) -> Span {
        match self {
            Operand::Name(n) => n.span,
            Operand::Int { span, .. }
            | Operand::Double { span, .. }
            | Operand::Single { span, .. }
            | Operand::Address { span, .. }
            | Operand::Symbol { span, .. }
            | Operand::Not(_, span)
            | Operand::Vector(_, span)
            | Operand::Pair(_, _, span)
            | Operand::Coordinates(_, span)
            | Operand::List(_, span) => *span,
        }
    }
}
