//! Parses directive lines into a [`Plan`], without evaluating them.
//!
//! The first word of a line is its keyword. A line with an open bracket continues on the next one.
//! Each directive fails on its own, so one report shows every error. The grammar is in
//! `docs/directives.md`.

use super::expression::{Expr, Parsed, Parser};
use super::plan::{
    ArgumentValue, BufferPlan, Claim, Each, ExpectationPlan, Field, Plan, Relation, Sequence,
    SequenceKind, Shape, Target, ValuesClaim,
};
use super::token::{Lexeme, Token, tokenize};
use crate::diag::{Diagnostic, Span, closest};
use crate::isa::Type;
use crate::ptx::tree::{Module, Name};

/// Outcomes of a run, as `expect finish` names them.
pub const FINISHES: &[&str] = &["ok", "deadlock", "livelock", "fault", "cycle-limit"];
/// Modes that an expectation can be limited to.
pub const MODES: &[&str] = &["pre-volta", "volta"];

const KEYWORDS: &[&str] = &[
    "launch",
    "kernel",
    "title",
    "const",
    "grid",
    "block",
    "shared",
    "registers",
    "cooperative",
    "buffer",
    "texture",
    "surface",
    "tensor",
    "arg",
    "expect",
];

/// Maximum number of directives in a file: name lookup is linear in it.
const MOST_DIRECTIVES: usize = 4_000;

/// Parses the directives of a module and collects every error.
///
/// `source` is the text the module was parsed from.
pub fn plan(module: &Module, source: &str) -> (Plan, Vec<Diagnostic>) {
    let mut plan = Plan::default();
    let mut diagnostics = Vec::new();
    let groups = group(module, source, &mut diagnostics);
    if let Some(beyond) = groups.get(MOST_DIRECTIVES) {
        let message =
            format!("expected at most {MOST_DIRECTIVES} directives, found {}", groups.len());
        let error = Diagnostic::error("too-large", beyond.keyword.span, message);
        diagnostics.push(error.help("load many values with `file(\"..\")`"));
    }
    for group in groups.into_iter().take(MOST_DIRECTIVES) {
        if let Err(diagnostic) = plan.read(&group, source) {
            diagnostics.push(diagnostic);
        }
    }
    (plan, diagnostics)
}

/// One directive: keyword, rest of its first line as text, tokens after the keyword.
pub(super) struct Directive {
    pub(super) keyword: Name,
    pub(super) rest: Name,
    pub(super) lexemes: Vec<Lexeme>,
    pub(super) end: Span,
}

/// Splits the lines into directives, joining lines with an open bracket.
fn group(module: &Module, source: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Directive> {
    let mut directives: Vec<Directive> = Vec::new();
    let mut open = 0usize;
    for line in &module.directives {
        let (start, end) = (line.span.start as usize, line.span.end as usize);
        let text = source.get(start..end).unwrap_or(&line.text);
        let trimmed = text.trim_start();
        let start = start + (text.len() - trimmed.len());
        let trimmed = trimmed.trim_end();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let length =
            trimmed.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(trimmed.len());
        let keyword =
            Name { text: trimmed[..length].to_owned(), span: Span::new(start, start + length) };
        let known = KEYWORDS.contains(&keyword.text.as_str());
        let rest = trimmed[length..].trim_start();
        let rest_start = start + (trimmed.len() - rest.len());
        let line_end = Span::new(start + trimmed.len(), start + trimmed.len());
        if open > 0 && !known {
            let more = tokenize(trimmed, start, diagnostics);
            open = balance(&more, open);
            if let Some(last) = directives.last_mut() {
                last.lexemes.extend(more);
                last.end = line_end;
            }
        } else if known {
            let prose = matches!(keyword.text.as_str(), "title" | "kernel" | "launch");
            let lexemes = if prose { Vec::new() } else { tokenize(rest, rest_start, diagnostics) };
            open = balance(&lexemes, 0);
            let rest = Name {
                text: rest.to_owned(),
                span: Span::new(rest_start, rest_start + rest.len()),
            };
            directives.push(Directive { keyword, rest, lexemes, end: line_end });
        } else {
            let span =
                if length == 0 { Span::new(start, start + trimmed.len()) } else { keyword.span };
            let mut diagnostic = Diagnostic::error(
                "unknown-directive",
                span,
                format!("unknown directive `{}`", &source_text(source, span)),
            );
            diagnostic = match closest(&keyword.text, KEYWORDS.iter().copied()) {
                Some(near) => diagnostic.help(format!("write `{near}`")),
                None => diagnostic.help(format!(
                    "use one of {}; write prose in plain `//` comments",
                    KEYWORDS.map_join("`, `")
                )),
            };
            diagnostics.push(diagnostic);
        }
    }
    directives
}

/// Returns the source text of a span; empty if the span lies outside this source.
fn source_text(source: &str, span: Span) -> &str {
    source.get(span.start as usize..span.end as usize).unwrap_or("")
}

/// Returns the number of open brackets after the tokens, with `open` before them.
fn balance(lexemes: &[Lexeme], open: usize) -> usize {
    lexemes.iter().fold(open, |open, lexeme| match lexeme.token {
        Token::Sign("(" | "[" | "{") => open + 1,
        Token::Sign(")" | "]" | "}") => open.saturating_sub(1),
        _ => open,
    })
}

/// Joins quoted names for help texts.
trait MapJoin {
    fn map_join(&self, separator: &str) -> String;
}
impl MapJoin for &[&str] {
    fn map_join(&self, separator: &str) -> String {
        format!("`{}`", self.join(separator))
    }
}

/// Fails if a directive that is allowed once was already read.
pub(super) fn once<T>(slot: &Option<T>, keyword: &Name) -> Parsed<()> {
    if slot.is_none() {
        return Ok(());
    }
    let message = format!("duplicate `{}` directive", keyword.text);
    Err(Diagnostic::error("duplicate-directive", keyword.span, message).help("remove one of them"))
}

pub(super) fn shape(parser: &mut Parser<'_>) -> Parsed<Shape> {
    parser.sign("=")?;
    let start = parser.here();
    // `(a, b)` is a shape and `(a + b) * c` an expression: the token after the first inner
    // expression decides.
    let fork_at = parser.mark();
    let mut sizes = Vec::new();
    if parser.take_sign("(") {
        sizes.push(parser.expression()?);
        if parser.is_sign(",") {
            while parser.take_sign(",") {
                sizes.push(parser.expression()?);
            }
            parser.sign(")")?;
        } else {
            parser.reset(fork_at);
            sizes = vec![parser.expression()?];
        }
    } else {
        sizes.push(parser.expression()?);
    }
    let span = start.to(parser.before());
    if sizes.len() > 3 {
        let message = format!("expected at most three sizes (x, y, z), found {}", sizes.len());
        return Err(Diagnostic::error("directive-syntax", span, message));
    }
    Ok(Shape { sizes, span })
}

/// Element types of a buffer.
const ELEMENTS: &[&str] = &[
    "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "b8", "b16", "b32", "b64", "f16", "bf16",
    "f32", "f64",
];

pub(super) fn buffer(parser: &mut Parser<'_>, start: Span) -> Parsed<BufferPlan> {
    let name = parser.word("a buffer name")?;
    parser.sign(":")?;
    let element = element(parser)?;
    parser.sign("[")?;
    let count = parser.expression()?;
    parser.sign("]")?;
    let fill = if parser.take_sign("=") { Some(sequence(parser, false)?) } else { None };
    Ok(BufferPlan { name, element, count, fill, span: start.to(parser.before()) })
}

fn element(parser: &mut Parser<'_>) -> Parsed<Type> {
    let ty = parser.word("an element type such as `u32`")?;
    let known = Some(ty.text.as_str()).filter(|t| ELEMENTS.contains(t)).and_then(Type::from_name);
    known.ok_or_else(|| {
        let message = format!("unknown element type `{}`", ty.text);
        Diagnostic::error("unknown-type", ty.span, message)
            .help(format!("use one of {}", ELEMENTS.map_join("`, `")))
    })
}

pub(super) fn argument(parser: &mut Parser<'_>) -> Parsed<(Target, ArgumentValue)> {
    let target = match parser.take_position() {
        Some((position, span)) => Target::Position(position, span),
        None => Target::Name(parser.word("a parameter name or position")?),
    };
    parser.sign("=")?;
    let value = if parser.is_sign("{") {
        let start = parser.here();
        let fields = fields(parser)?;
        ArgumentValue::Fields(fields, start.to(parser.before()))
    } else {
        plain_value(parser)?
    };
    Ok((target, value))
}

/// Parses a value or a list of values.
fn plain_value(parser: &mut Parser<'_>) -> Parsed<ArgumentValue> {
    let start = parser.here();
    if parser.is_sign("[") {
        let values = list(parser)?;
        return Ok(ArgumentValue::List(values, start.to(parser.before())));
    }
    Ok(ArgumentValue::Scalar(parser.expression()?))
}

/// Parses `{name: TYPE = VALUE, inner: {..}, ..}`, with the cursor at `{`.
fn fields(parser: &mut Parser<'_>) -> Parsed<Vec<Field>> {
    let mut fields = Vec::new();
    parser.sign("{")?;
    while !parser.take_sign("}") {
        let name = parser.word("a field's name")?;
        parser.sign(":")?;
        let field = if parser.is_sign("{") {
            let start = parser.here();
            let inner = parser.deeper(self::fields)?;
            let value = ArgumentValue::Fields(inner, start.to(parser.before()));
            Field { name, element: Type::B8, value }
        } else {
            let element = element(parser)?;
            parser.sign("=")?;
            Field { name, element, value: plain_value(parser)? }
        };
        fields.push(field);
        if !parser.take_sign(",") {
            parser.sign("}")?;
            break;
        }
    }
    Ok(fields)
}

/// Parses `[a, b, ..]`, with the cursor at `[`. A trailing comma is allowed.
fn list(parser: &mut Parser<'_>) -> Parsed<Vec<Expr>> {
    parser.sign("[")?;
    let mut values = Vec::new();
    while !parser.take_sign("]") {
        values.push(parser.expression()?);
        if !parser.take_sign(",") {
            parser.sign("]")?;
            break;
        }
    }
    Ok(values)
}

/// Parses a sequence.
/// `expected`: it is the right side of a relation, where a plain value applies to every element and
/// `for` can have a range.
fn sequence(parser: &mut Parser<'_>, expected: bool) -> Parsed<Sequence> {
    let start = parser.here();
    let kind = if parser.is_sign("[") {
        SequenceKind::List(list(parser)?)
    } else if parser.is_call("fill") {
        let [value] = arguments(parser)?;
        SequenceKind::Fill(value)
    } else if parser.is_word("iota") {
        iota(parser)?
    } else if parser.is_call("random") {
        open(parser)?;
        let seed = parser.expression()?;
        parser.sign(",")?;
        let low = parser.expression()?;
        parser.sign("..")?;
        let high = parser.expression()?;
        parser.sign(")")?;
        SequenceKind::Random { seed, low, high }
    } else if parser.is_call("lcg") {
        let [seed] = arguments(parser)?;
        SequenceKind::Lcg(seed)
    } else if parser.is_call("file") {
        open(parser)?;
        let path = parser.text("a quoted path")?;
        parser.sign(")")?;
        SequenceKind::File { path, result: None }
    } else if parser.is_call("result") {
        open(parser)?;
        let path = parser.text("a quoted path of a program")?;
        parser.sign(",")?;
        let buffer = parser.word("a buffer of that program")?;
        parser.sign(")")?;
        SequenceKind::File { path, result: Some(buffer.text) }
    } else if parser.is_call("block_sum") {
        let [buffer, size] = arguments(parser)?;
        SequenceKind::BlockSum { buffer, size }
    } else {
        let value = parser.expression()?;
        let each = if parser.take_word("for") { Some(each(parser, expected)?) } else { None };
        if each.is_none() && !expected {
            return Err(Diagnostic::error(
                "directive-syntax",
                value.span(),
                "expected a sequence, found a single value",
            )
            .help("write `fill(VALUE)` or a formula with `for i`"));
        }
        SequenceKind::Formula { value, each }
    };
    Ok(Sequence { kind, span: start.to(parser.before()) })
}

fn each(parser: &mut Parser<'_>, ranged: bool) -> Parsed<Each> {
    let variable = parser.word("an index name")?;
    let range = if ranged && parser.take_word("in") {
        let low = parser.expression()?;
        parser.sign("..")?;
        Some((low, parser.expression()?))
    } else {
        None
    };
    Ok(Each { variable, range })
}

fn iota(parser: &mut Parser<'_>) -> Parsed<SequenceKind> {
    parser.take_word("iota");
    if !parser.take_sign("(") {
        return Ok(SequenceKind::Iota(None, None));
    }
    let start = parser.expression()?;
    let step = if parser.take_sign(",") { Some(parser.expression()?) } else { None };
    parser.sign(")")?;
    Ok(SequenceKind::Iota(Some(start), step))
}

/// Reads `NAME (`.
fn open(parser: &mut Parser<'_>) -> Parsed<()> {
    parser.word("a function")?;
    parser.sign("(").map(|_| ())
}

/// Reads `NAME(a, b, ..)` with exactly `N` arguments.
fn arguments<const N: usize>(parser: &mut Parser<'_>) -> Parsed<[Expr; N]> {
    let name = parser.word("a function")?;
    parser.sign("(")?;
    let mut values = vec![parser.expression()?];
    while parser.take_sign(",") {
        values.push(parser.expression()?);
    }
    parser.sign(")")?;
    let found = values.len();
    values.try_into().map_err(|_| {
        let message = format!(
            "expected {N} argument{} to `{}`, found {found}",
            if N == 1 { "" } else { "s" },
            name.text
        );
        Diagnostic::error("directive-syntax", name.span, message)
    })
}

pub(super) fn expectation(
    parser: &mut Parser<'_>,
    directive: &Directive,
    source: &str,
) -> Parsed<ExpectationPlan> {
    let mode = if parser.take_sign("[") {
        let mode = parser.hyphenated("a mode")?;
        one_of(&mode, MODES, "mode")?;
        parser.sign("]")?;
        Some(mode.text)
    } else {
        None
    };
    let text_start = parser.here();
    let claim = if parser.take_word("finish") {
        parser.sign("==")?;
        let mut verdicts = Vec::new();
        loop {
            let verdict = parser.hyphenated("an outcome such as `ok`")?;
            one_of(&verdict, FINISHES, "outcome")?;
            verdicts.push(verdict);
            if !parser.take_word("or") {
                break Claim::Finish(verdicts);
            }
        }
    } else if parser.take_word("metric") {
        let name = parser.word("a metric name")?;
        let relation = relation(parser)?;
        Claim::Metric { name, relation, value: parser.expression()? }
    } else {
        let left = parser.left_side()?;
        let relation = relation(parser)?;
        let right = sequence(parser, true)?;
        let within = if parser.take_word("within") { Some(parser.expression()?) } else { None };
        Claim::Values(Box::new(ValuesClaim { left, relation, right, within }))
    };
    let text_span = text_start.to(parser.before());
    let text = match source_text(source, text_span) {
        "" => directive.rest.text.clone(),
        text if text.contains('\n') => {
            format!("{} ..", text.lines().next().unwrap_or("").trim_end())
        }
        text => text.to_owned(),
    };
    Ok(ExpectationPlan { span: directive.keyword.span.to(parser.before()), text, mode, claim })
}

fn relation(parser: &mut Parser<'_>) -> Parsed<Relation> {
    Relation::SIGNS
        .iter()
        .find(|(sign, _)| parser.take_sign(sign))
        .map(|(_, relation)| *relation)
        .ok_or_else(|| parser.expected("a relation such as `==`"))
}

/// Fails if `word` is none of `known`.
fn one_of(word: &Name, known: &[&str], what: &str) -> Parsed<()> {
    if known.contains(&word.text.as_str()) {
        return Ok(());
    }
    let message = format!("unknown {what} `{}`", word.text);
    Err(Diagnostic::error("unknown-name", word.span, message)
        .help(format!("use one of {}", known.map_join("`, `"))))
}
