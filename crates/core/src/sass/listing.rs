//! Text of `cuobjdump -sass` to addresses, instruction texts and encodings.

use crate::diag::{Diagnostic, Span};
use crate::kernel::INSTRUCTION_BYTES;

/// One instruction of a listing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line<'a> {
    /// Address in the function, in bytes.
    pub address: u32,
    /// Text without the semicolon.
    pub text: &'a str,
    /// Place of the text.
    pub span: Span,
    /// Line of the file, from 1.
    pub number: u32,
    /// 128-bit encoding.
    pub encoding: u128,
}

/// One function of a listing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Function<'a> {
    /// Name, mangled.
    pub name: &'a str,
    /// Place of the name.
    pub span: Span,
    /// Architecture number of the code that it belongs to: 90 for sm_90.
    pub arch: u32,
    /// Instructions by address.
    pub lines: Vec<Line<'a>>,
}

/// Oldest architecture with 128-bit encodings.
const VOLTA: u32 = 70;

/// Returns true if the text is a listing of machine code.
pub(super) fn is_listing(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with(super::facts::MARK)
            || line.starts_with("code for sm_")
            || line.starts_with("Function : ")
    })
}

/// Reads the functions of a listing and collects every error.
pub(super) fn read(text: &str) -> (Vec<Function<'_>>, Vec<Diagnostic>) {
    let mut functions: Vec<Function<'_>> = Vec::new();
    let mut errors = Vec::new();
    let mut arch = 0;
    // Instruction whose second half is on the next line.
    let mut open: Option<Line<'_>> = None;
    let mut start = 0;
    for (number, whole) in (1..).zip(text.split_inclusive('\n')) {
        let line = whole.trim();
        let from = start + (whole.len() - whole.trim_start().len());
        let span = Span::new(from, from + line.len());
        start += whole.len();
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        if let Some(half) = comment(line).and_then(hex) {
            let whole = open
                .take()
                .map(|line| Line { encoding: line.encoding | u128::from(half) << 64, ..line });
            match (whole, functions.last_mut()) {
                (Some(line), Some(function)) => push(function, line, &mut errors),
                _ => errors.push(broken(span, "expected an instruction before this encoding")),
            }
            continue;
        }
        if let Some(line) = open.take() {
            let message = format!("the second half of the encoding of `{}` is missing", line.text);
            errors.push(broken(line.span, message));
        }
        if let Some(name) = line.strip_prefix("Function :") {
            let name = name.trim();
            let end = span.end as usize;
            let span = Span::new(end - name.len(), end);
            functions.push(Function { name, span, arch, lines: Vec::new() });
        } else if let Some(number) = line.strip_prefix("code for sm_") {
            let digits = number.trim_end_matches(|c: char| !c.is_ascii_digit());
            arch = digits.parse().unwrap_or(0);
            if arch < VOLTA {
                let message = format!("machine code of sm_{arch} has other encodings");
                let error = Diagnostic::error("listing", span, message);
                errors.push(error.help("compile for sm_90: `nvcc -cubin -arch=sm_90 K.cu`"));
                return (functions, errors);
            }
        } else if line.starts_with("/*") {
            match instruction(line, span, number) {
                Some(line) if !functions.is_empty() => open = Some(line),
                Some(_) => errors.push(broken(span, "expected `Function : NAME` before code")),
                None => errors.push(broken(span, "unreadable line of a listing")),
            }
        } else if !is_decoration(line) {
            errors.push(broken(span, "unreadable line of a listing"));
        }
    }
    if let Some(line) = open {
        let message = format!("the listing ends within the encoding of `{}`", line.text);
        errors.push(broken(line.span, message));
    }
    (functions, errors)
}

fn broken(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("listing", span, message)
        .help("make the file again with `simt-sim import K.cubin -o K.sass`")
}

/// Lines that the disassembler prints around the code.
fn is_decoration(line: &str) -> bool {
    line.starts_with('.')
        || line.starts_with("Fatbin")
        || line.starts_with("=====")
        || [
            "arch =",
            "code version",
            "host =",
            "compile_size",
            "identifier:",
            "producer =",
            "compressed",
            "ptxasOptions",
            "has debug info",
            "cubin",
        ]
        .iter()
        .any(|head| line.starts_with(head))
}

/// Returns the content of a line that is one comment.
fn comment(line: &str) -> Option<&str> {
    let inner = line.strip_prefix("/*")?.strip_suffix("*/")?;
    (!inner.contains("*/")).then_some(inner.trim())
}

fn hex(word: &str) -> Option<u64> {
    word.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok())
}

/// Reads `/*0010*/ TEXT ; /* 0x.. */`.
fn instruction(line: &str, span: Span, number: u32) -> Option<Line<'_>> {
    let (address, rest) = line.strip_prefix("/*")?.split_once("*/")?;
    let address = u32::from_str_radix(address.trim(), 16).ok()?;
    let (text, encoding) = rest.split_once(';')?;
    let half = hex(comment(encoding.trim())?)?;
    let text = text.trim();
    let at = span.start as usize + (text.as_ptr() as usize - line.as_ptr() as usize);
    let span = Span::new(at, at + text.len());
    Some(Line { address, text, span, number, encoding: half.into() })
}

fn push<'a>(function: &mut Function<'a>, line: Line<'a>, errors: &mut Vec<Diagnostic>) {
    let after = |last: &Line<'_>| u64::from(last.address) + INSTRUCTION_BYTES;
    let expected = function.lines.last().map_or(0, after);
    if u64::from(line.address) != expected {
        let message = format!(
            "expected address 0x{expected:x}, found 0x{:x}: instructions are missing",
            line.address
        );
        errors.push(broken(line.span, message));
    }
    // The next line is compared with this one, so that a gap is one error.
    function.lines.push(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "\tcode for sm_90\n\t\tFunction : k\n\t.headerflags @\"EF\"\n";

    #[test]
    fn a_listing_has_functions_with_addresses_and_encodings() {
        let text = format!(
            "{HEAD}  /*0000*/  @P0 EXIT ; /* 0x000000000000094d */\n \
             /* 0x000fea0003800000 */\n  /*0010*/ NOP; /* 0x1 */\n /* 0x2 */\n\t\t....\n"
        );
        let (functions, errors) = read(&text);
        assert_eq!(errors, []);
        assert_eq!((functions.len(), functions[0].name, functions[0].arch), (1, "k", 90));
        let lines = &functions[0].lines;
        assert_eq!((lines[0].text, lines[0].number), ("@P0 EXIT", 4));
        assert_eq!(lines[0].encoding, 0x000f_ea00_0380_0000_0000_0000_0000_094d);
        assert_eq!(&text[lines[1].span.start as usize..lines[1].span.end as usize], "NOP");
    }

    #[test]
    fn broken_listings_are_errors() {
        for (body, expected) in [
            ("/*0000*/ NOP ; /* 0x1 */", "the listing ends within"),
            ("/*0000*/ NOP ; /* 0x1 */\n/*0010*/ NOP ; /* 0x1 */\n/* 0x2 */", "second half"),
            ("/*0010*/ NOP ; /* 0x1 */\n/* 0x2 */", "expected address 0x0"),
            ("/*0000*/ NOP /* 0x1 */", "unreadable line"),
            ("hello", "unreadable line"),
            ("/* 0x2 */", "expected an instruction"),
        ] {
            let text = format!("{HEAD}{body}\n");
            let (_, errors) = read(&text);
            let first = errors.first().map(|e| e.message.clone()).unwrap_or_default();
            assert!(first.contains(expected), "{body}: {first}");
        }
    }
}
