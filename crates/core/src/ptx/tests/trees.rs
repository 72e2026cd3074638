//! Strategies for random syntax trees of valid programs.

use crate::diag::Span;
use crate::ptx::tree::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

const NOWHERE: Span = Span { start: 0, end: 0 };

fn named(text: impl Into<String>) -> Name {
    Name { text: text.into(), span: NOWHERE }
}

/// User names, too short to be the reserved words `WARP_SZ` and `generic`.
fn name() -> impl Strategy<Value = Name> {
    prop_oneof!["[a-zA-Z][a-zA-Z0-9_$]{0,5}", "[%_$][a-z0-9_$]{1,5}"].prop_map(named)
}

/// Names as operands, including special registers and the sink `_`.
fn register() -> impl Strategy<Value = Name> {
    prop_oneof![4 => name(), 1 => select(&["%tid.x", "%ctaid.y", "%laneid", "_"][..]).prop_map(named)]
}

fn word(words: &'static [&'static str]) -> impl Strategy<Value = Name> {
    select(words).prop_map(named)
}

fn mnemonic() -> impl Strategy<Value = Name> {
    prop_oneof![
        3 => "[a-z]{2,6}(\\.[a-z0-9]{1,5}){0,3}".prop_filter("a call takes lists, a word of C is refused", |m| {
            !["call", "if", "else", "for", "while", "do"].contains(&m.split('.').next().unwrap_or(m))
        }),
        1 => select(&["ret", "bra.uni", "ld.global.L1::no_allocate.v2.f32", "setp.lt.u32"][..]).prop_map(String::from),
    ]
    .prop_map(named)
}

fn offset() -> impl Strategy<Value = i64> {
    prop_oneof![-64..64i64, any::<i64>(), Just(i64::MIN), Just(i64::MAX)]
}

fn int() -> impl Strategy<Value = Operand> {
    (offset(), any::<bool>()).prop_map(|(value, unsigned)| Operand::Int {
        value,
        unsigned,
        span: NOWHERE,
    })
}

fn simple() -> impl Strategy<Value = Operand> {
    prop_oneof![
        4 => register().prop_map(Operand::Name),
        2 => int(),
        1 => any::<u64>().prop_map(|bits| Operand::Double { bits, span: NOWHERE }),
        1 => any::<u32>().prop_map(|bits| Operand::Single { bits, span: NOWHERE }),
        1 => (name(), offset()).prop_map(|(name, offset)| Operand::Symbol { name, offset, span: NOWHERE }),
        1 => (name(), 0..9i64).prop_map(|(name, index)| Operand::Element { name, index, span: NOWHERE }),
    ]
}

fn operand() -> impl Strategy<Value = Operand> {
    let base = prop_oneof![3 => register().prop_map(Some), 1 => Just(None)];
    prop_oneof![
        6 => simple(),
        2 => (base, offset()).prop_map(|(base, offset)| Operand::Address { base, offset, span: NOWHERE }),
        1 => name().prop_map(|p| Operand::Not(p, NOWHERE)),
        1 => vec(simple(), 0..5).prop_map(|list| Operand::Vector(list, NOWHERE)),
        1 => (name(), vec(simple(), 1..4)).prop_map(|(base, mut rest)| {
            rest.insert(0, Operand::Name(base));
            Operand::Coordinates(rest, NOWHERE)
        }),
        1 => (register(), register()).prop_map(|(p, q)| Operand::Pair(p, q, NOWHERE)),
    ]
}

/// Calls; an indirect `call` has a table after its arguments.
fn call() -> impl Strategy<Value = (Name, Vec<Operand>)> {
    let list = || vec(simple(), 0..3).prop_map(|list| Operand::List(list, NOWHERE));
    let table = option::of(name().prop_map(Operand::Name));
    (word(&["call", "call.uni"]), list(), name(), list(), table).prop_map(
        |(mnemonic, results, callee, arguments, table)| {
            let operands = [results, Operand::Name(callee), arguments].into_iter().chain(table);
            (mnemonic, operands.collect())
        },
    )
}

fn targets() -> impl Strategy<Value = Statement> {
    let kind = select(&[TargetKind::Branch, TargetKind::Call][..]);
    (name(), kind, vec(name(), 1..4)).prop_map(|(label, kind, names)| {
        Statement::Targets(Targets { label, kind, names, span: NOWHERE })
    })
}

fn prototype() -> impl Strategy<Value = Statement> {
    let parts =
        (name(), vec(parameter(), 0..2), vec(parameter(), 0..4), option::of(word(&["noreturn"])));
    parts.prop_map(|(label, returns, params, word)| {
        let performance = word.into_iter().map(|word| (word, Vec::new())).collect();
        Statement::Prototype(Prototype { label, returns, params, performance, span: NOWHERE })
    })
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let guard =
        (any::<bool>(), name()).prop_map(|(negated, predicate)| Guard { negated, predicate });
    let form = prop_oneof![6 => (mnemonic(), vec(operand(), 0..5)), 1 => call()];
    (option::of(guard), form).prop_map(|(guard, (mnemonic, operands))| Instruction {
        guard,
        mnemonic,
        operands,
        span: NOWHERE,
    })
}

fn ty() -> impl Strategy<Value = Name> {
    word(&["pred", "b8", "b16", "b32", "b64", "u32", "s64", "f16x2", "f32", "f64"])
}

fn align() -> impl Strategy<Value = Option<u32>> {
    option::of((0..8u32).prop_map(|n| 1 << n))
}

fn init() -> impl Strategy<Value = Init> {
    let symbol = || {
        (name(), offset()).prop_map(|(name, offset)| Operand::Symbol {
            name,
            offset,
            span: NOWHERE,
        })
    };
    let generic = prop_oneof![name().prop_map(Operand::Name), symbol()];
    let leaf =
        prop_oneof![3 => simple().prop_map(Init::Value), 1 => generic.prop_map(Init::Generic)];
    leaf.prop_recursive(3, 12, 4, |inner| vec(inner, 0..4).prop_map(Init::List))
}

fn dims() -> impl Strategy<Value = Vec<Option<u64>>> {
    vec(prop_oneof![4 => any::<u64>().prop_map(Some), 1 => Just(None)], 0..3)
}

fn linkage() -> impl Strategy<Value = Vec<Name>> {
    vec(word(&["visible", "extern", "weak", "common"]), 0..2)
}

fn variable(spaces: &'static [&'static str], linked: bool) -> impl Strategy<Value = Variable> {
    let linkage = if linked { linkage().boxed() } else { Just(Vec::new()).boxed() };
    (
        linkage,
        word(spaces),
        align(),
        select(&[1, 2, 4][..]),
        ty(),
        name(),
        dims(),
        option::of(init()),
    )
        .prop_map(|(linkage, space, align, vector, ty, name, dims, init)| Variable {
            space,
            linkage,
            align,
            vector,
            ty,
            name,
            dims,
            init,
            pointer: None,
            span: NOWHERE,
        })
}

fn parameter() -> impl Strategy<Value = Variable> {
    let pointer = (option::of(word(&["global", "const", "shared", "local"])), align())
        .prop_map(|(space, align)| PointerAttributes { space, align });
    (variable(&["param", "reg"], false), option::of(pointer))
        .prop_map(|(variable, pointer)| Variable { pointer, init: None, ..variable })
}

fn registers() -> impl Strategy<Value = Registers> {
    (select(&[1, 2, 4][..]), ty(), vec((name(), option::of(any::<u32>())), 1..4))
        .prop_map(|(vector, ty, names)| Registers { vector, ty, names, span: NOWHERE })
}

/// Contents of a string, without the quotes.
fn string() -> impl Strategy<Value = String> {
    r#"([ !#-\[\]-~]|\\"|\\\\){0,8}"#
}

fn statement() -> impl Strategy<Value = Statement> {
    let rest = prop_oneof![
        Just(String::new()),
        Just("function_name L0, inlined_at 1 2 3".to_owned()),
        Just("function_name .debug_str+16, inlined_at 4 5 6".to_owned()),
    ];
    let leaf = prop_oneof![
        8 => instruction().prop_map(Statement::Instruction),
        2 => name().prop_map(Statement::Label),
        2 => registers().prop_map(Statement::Registers),
        2 => variable(&["shared", "local", "param", "global", "const"], true).prop_map(Statement::Variable),
        1 => (any::<u32>(), any::<u32>(), any::<u32>(), rest)
            .prop_map(|(file, line, column, rest)| Statement::Loc { file, line, column, rest, span: NOWHERE }),
        1 => vec(string(), 1..3).prop_map(|strings| Statement::Pragma(strings, NOWHERE)),
        1 => targets(),
        1 => prototype(),
    ];
    leaf.prop_recursive(3, 20, 6, |inner| {
        vec(inner, 0..6).prop_map(|inner| Statement::Block(inner, NOWHERE))
    })
}

fn function() -> impl Strategy<Value = Function> {
    let kind = select(&[FunctionKind::Entry, FunctionKind::Func][..]);
    let performance = word(&["maxntid", "reqntid", "minnctapersm", "maxnreg", "noreturn"]);
    let parts = (kind, linkage(), name(), vec(parameter(), 0..2), vec(parameter(), 0..4));
    (parts, vec((performance, vec(any::<u64>(), 0..4)), 0..3), option::of(vec(statement(), 0..12)))
        .prop_map(|((kind, linkage, name, returns, params), performance, body)| Function {
            kind,
            linkage,
            name,
            returns: if kind == FunctionKind::Func { returns } else { Vec::new() },
            params,
            performance,
            body,
            span: NOWHERE,
        })
}

/// Modules with all header lines.
pub(super) fn module() -> impl Strategy<Value = Module> {
    let item = prop_oneof![
        function().prop_map(Item::Function),
        variable(&["global", "const", "shared"], true).prop_map(Item::Variable),
        (name(), name()).prop_map(|(name, target)| Item::Alias(Alias {
            name,
            target,
            span: NOWHERE
        })),
    ];
    let target = vec(word(&["sm_90", "sm_90a", "debug", "texmode_independent"]), 1..3);
    let directive = prop_oneof![Just(String::new()), "[!-~]([ -~]{0,8}[!-~])?"].prop_map(named);
    let section =
        Just(named(".section .debug_str {\n$L__info:\n.b8 95, -1\n.b32 .debug_info+4\n}"));
    let header = (
        (0..20u32, 0..20u32),
        target,
        select(&[32u32, 64][..]),
        vec((any::<u32>(), string()), 0..3),
    );
    (header, vec(item, 0..4), vec(directive, 0..3), vec(section, 0..2)).prop_map(
        |((version, target, size, files), items, directives, sections)| Module {
            version: Some(version),
            target,
            address_size: Some(size),
            files,
            items,
            directives,
            sections,
        },
    )
}
