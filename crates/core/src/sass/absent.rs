//! Machine instructions of PTX instructions that are not modelled, with the reason of those.

use super::listing::Line;
use crate::diag::Diagnostic;
use crate::isa::Isa;

/// PTX instruction that `isa/ptx.ron` lists as unsupported, and its machine opcodes.
const ABSENT: [(&str, &[&str]); 4] = [
    ("barrier.cluster", &["UCGABAR_ARV", "UCGABAR_WAIT", "UCGABAR_GET", "UCGABAR_SET"]),
    ("st.async", &["STAS"]),
    ("red.async", &["REDAS"]),
    ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3", &["QMMA"]),
];

/// Returns the error of a line whose opcode belongs to an unsupported PTX instruction.
pub(super) fn absent(line: &Line<'_>) -> Option<Diagnostic> {
    let text = line.text.trim();
    let text = match text.strip_prefix('@') {
        Some(guarded) => guarded.split_once(char::is_whitespace)?.1.trim_start(),
        None => text,
    };
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let name = &text[..end];
    let (start, _) = ABSENT.iter().find(|(_, opcodes)| opcodes.contains(&name))?;
    let (why, help) = Isa::ptx().absence(start)?;
    let message = format!("`{name}` is not supported: {why}");
    let error = Diagnostic::error("unsupported-opcode", line.span, message);
    Some(match help {
        Some(help) => error.help(help),
        None => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Span;

    #[test]
    fn every_reason_is_one_of_the_ptx_table() {
        for (start, opcodes) in ABSENT {
            assert!(Isa::ptx().absence(start).is_some(), "{start}");
            assert!(opcodes.iter().all(|name| crate::isa::opcode(name).is_none()), "{opcodes:?}");
        }
    }

    #[test]
    fn an_opcode_has_the_reason_of_its_ptx_instruction() {
        let found = |text| {
            let line = Line { address: 0, text, span: Span::default(), number: 1, encoding: 0 };
            absent(&line).map(|error| error.message)
        };
        assert_eq!(found("SUST.D.BA.2D.STRONG.SM.TRAP [R0], R4, UR4"), None);
        let guarded = found("@!P0 STAS [R0.64], R0").expect("an error");
        assert!(guarded.starts_with("`STAS` is not supported: clusters"), "{guarded}");
    }
}
