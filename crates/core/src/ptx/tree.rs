//! Syntax tree of PTX, with a span on every node.
//!
//! The tree represents the grammar only: a mnemonic is a dotted word, an operand a shape.
//! `kernel::check` validates instructions and operand types.

use crate::diag::Span;

/// Word with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Word as written, e.g. `%r1`, `sdata`, `ld.global.u32`.
    pub text: String,
    /// Source range.
    pub span: Span,
}

/// Parsed file.
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
    /// Declarations in source order.
    pub items: Vec<Item>,
    /// Trimmed text after `//!` of each directive comment, in source order.
    pub directives: Vec<Name>,
    /// `.section` blocks of debug data, as text without comments.
    ///
    /// Kept because `.loc` lines name labels inside them, and the printed file must load on a GPU.
    pub sections: Vec<Name>,
}

/// Top-level declaration.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `.entry` or `.func`.
    Function(Function),
    /// A `.global`, `.const` or `.shared` variable.
    Variable(Variable),
    /// `.alias name, target;`
    Alias(Alias),
}

/// `.alias name, target;`: alias of a device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Alias {
    /// Alias.
    pub name: Name,
    /// Aliased function.
    pub target: Name,
    /// Span of the declaration.
    pub span: Span,
}

/// Kind of a function: kernel (`.entry`) or device function (`.func`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// `.entry`
    Entry,
    /// `.func`
    Func,
}

/// Kernel or device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Kernel or device function.
    pub kind: FunctionKind,
    /// `.visible`, `.extern`, `.weak`: words without the dot.
    pub linkage: Vec<Name>,
    /// Function name.
    pub name: Name,
    /// Return parameters of a `.func`.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// Performance-tuning directives such as `.maxntid 512, 1, 1`, without the dot.
    pub performance: Vec<(Name, Vec<u64>)>,
    /// Statements; `None` for a prototype.
    pub body: Option<Vec<Statement>>,
    /// Span of the declaration.
    pub span: Span,
}

/// Variable or parameter declaration: `.shared .align 4 .b32 sdata[512];`
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
    /// Element type without its dot, e.g. `u32`.
    pub ty: Name,
    /// Name.
    pub name: Name,
    /// Array dimensions; empty for a scalar; `None` inside for `[]`.
    pub dims: Vec<Option<u64>>,
    /// Initialiser.
    pub init: Option<Init>,
    /// `.ptr .global .align 8` attributes of a parameter, kept for printing.
    pub pointer: Option<PointerAttributes>,
    /// Span of the declaration.
    pub span: Span,
}

/// `.ptr .SPACE .align N` on a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct PointerAttributes {
    /// State space of the target, without the dot.
    pub space: Option<Name>,
    /// Guaranteed alignment in bytes.
    pub align: Option<u32>,
}

/// Initialiser of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// Number, or address of a symbol in its own space with an optional offset.
    Value(Operand),
    /// `generic(symbol)`: generic address of a symbol with an optional offset.
    Generic(Operand),
    /// `{ a, b, .. }`
    List(Vec<Init>),
}

/// Statement of a function body.
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
        /// Index into [`Module::files`].
        file: u32,
        /// Line in that file.
        line: u32,
        /// Column in that file.
        column: u32,
        /// `function_name`/`inlined_at` attributes as written; empty if absent.
        rest: String,
        /// Source range.
        span: Span,
    },
    /// `.pragma "text";`
    Pragma(Vec<String>, Span),
    /// `label: .branchtargets a, b;` or `label: .calltargets f, g;`
    Targets(Targets),
    /// `label: .callprototype (..) _ (..);`
    Prototype(Prototype),
}

/// Kind of a target list.
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
    /// Name of the list.
    pub label: Name,
    /// Labels or functions.
    pub kind: TargetKind,
    /// Targets in order.
    pub names: Vec<Name>,
    /// Span from label to semicolon.
    pub span: Span,
}

/// `label: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;`
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype {
    /// Name of the prototype.
    pub label: Name,
    /// Return parameters.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// Directives such as `.noreturn`, with their numbers.
    pub performance: Vec<(Name, Vec<u64>)>,
    /// Span from label to semicolon.
    pub span: Span,
}

/// `.reg .TYPE names;`
#[derive(Clone, Debug, PartialEq)]
pub struct Registers {
    /// `2` or `4` for vector registers, 1 otherwise.
    pub vector: u32,
    /// Type without its dot, e.g. `pred`, `b32`.
    pub ty: Name,
    /// Names, with the count for `%r<10>`.
    pub names: Vec<(Name, Option<u32>)>,
    /// Span of the declaration.
    pub span: Span,
}

/// `@!%p add.u32 %r1, %r2, 3;`
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Guard predicate.
    pub guard: Option<Guard>,
    /// Mnemonic with its modifiers, e.g. `setp.lt.u32`.
    pub mnemonic: Name,
    /// Operands in order.
    pub operands: Vec<Operand>,
    /// Span from guard to semicolon.
    pub span: Span,
}

/// `@%p` or `@!%p`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// True for `@!`.
    pub negated: bool,
    /// Predicate register.
    pub predicate: Name,
}

/// Instruction operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// Name of a register, special register, label, variable or function, or `_`.
    Name(Name),
    /// Value of an integer constant expression, as 64-bit two's complement.
    Int {
        /// Value; `-1` and `0xffffffffffffffff` have the same bits.
        value: i64,
        /// True if unsigned: written with `U`, or above `i64::MAX`.
        unsigned: bool,
        /// Source range.
        span: Span,
    },
    /// `1.5` or `0d..`: a double-precision literal.
    Double {
        /// IEEE 754 binary64.
        bits: u64,
        /// Source range.
        span: Span,
    },
    /// `0f..`: a single-precision literal.
    Single {
        /// IEEE 754 binary32.
        bits: u32,
        /// Source range.
        span: Span,
    },
    /// `[base+offset]`: an address.
    ///
    /// The base is a register or a symbol; without one, the address is absolute.
    Address {
        /// Register or symbol before the offset.
        base: Option<Name>,
        /// Offset in bytes.
        offset: i64,
        /// Source range, including the brackets.
        span: Span,
    },
    /// `sdata+4`: a symbol with an offset, without brackets (`mov`, initialisers).
    Symbol {
        /// Symbol.
        name: Name,
        /// Offset in bytes.
        offset: i64,
        /// Source range.
        span: Span,
    },
    /// `sdata[1]`: the address of an element of a variable, without brackets around it.
    Element {
        /// Variable.
        name: Name,
        /// Number of the element.
        index: i64,
        /// Source range.
        span: Span,
    },
    /// `!%p`
    Not(Name, Span),
    /// `{%r1, %r2}`
    Vector(Vec<Operand>, Span),
    /// `%p|%q` (setp, shfl, match, vote)
    Pair(Name, Name, Span),
    /// `[a, {b, c}]`: an address with coordinates (textures, surfaces, tensors)
    Coordinates(Vec<Operand>, Span),
    /// `(a, b)`: a parameter list of `call`
    List(Vec<Operand>, Span),
}

impl Operand {
    /// Returns the span of the operand.
    pub fn span(&self) -> Span {
        match self {
            Operand::Name(n) => n.span,
            Operand::Int { span, .. }
            | Operand::Double { span, .. }
            | Operand::Single { span, .. }
            | Operand::Address { span, .. }
            | Operand::Symbol { span, .. }
            | Operand::Element { span, .. }
            | Operand::Not(_, span)
            | Operand::Vector(_, span)
            | Operand::Pair(_, _, span)
            | Operand::Coordinates(_, span)
            | Operand::List(_, span) => *span,
        }
    }
}
