//! Generates the reference page of the instruction set, `docs/reference/isa.md`.

use super::form::{Agreement, Isa};
use std::fmt::Write;

impl Isa {
    /// Returns the reference page as Markdown.
    pub fn reference(&self) -> String {
        let mut page = String::from(
            "# Instruction set\n\n\
             Generated from `isa/ptx.ron`; do not edit.\n\n\
             In a form, `{..}` is optional and `.(a|b)` is one of several words. In the operands,\n\
             `d=T` is written and `a:T` is read. `T` and `U` are the first and second type of the\n\
             mnemonic; `W` has twice the width of `T`. `+` allows a wider register, `*` an\n\
             address or parts of a value in braces, `{a}` a `.v2`/`.v4` vector, `d_` allows `_`,\n\
             and `?` marks an optional operand. *Agreement* is the largest difference allowed\n\
             between the results of a GPU and the simulator; `exact` allows none. Approximations give\n\
             the bits of an H200, but other GPUs need not.\n",
        );
        for group in self.groups() {
            let _ = write!(
                page,
                "\n## {}\n\n| form | operands | what it does | class | agreement | PTX manual |\n\
                 |---|---|---|---|---|---|\n",
                group.title
            );
            for row in &self.rows()[group.rows.clone()] {
                let agreement = match row.agreement {
                    Agreement::Exact => "exact".to_string(),
                    Agreement::MaxUlp(n) => format!("{n} ulp"),
                    Agreement::MaxAbsolute(n) => format!("absolute 2^{n}"),
                    Agreement::MaxUlpOrAbsolute(n, power) => {
                        format!("{n} ulp or absolute 2^{power}")
                    }
                };
                let cell = |text: &str| text.replace('|', "\\|");
                let form = cell(&self.expanded(&row.syntax));
                let shape = if row.shape.is_empty() {
                    String::new()
                } else {
                    format!("`{}`", cell(&row.shape))
                };
                let _ = writeln!(
                    page,
                    "| `{form}` | {shape} | {} | {} | {agreement} | {} |",
                    cell(&row.doc),
                    row.class.name(),
                    cell(&row.manual),
                );
            }
        }
        page.push_str("\n## Unsupported instructions\n\nThese PTX opcodes are errors.\n\n");
        for (opcode, why) in self.unsupported() {
            let _ = writeln!(page, "- `{opcode}`: {why}");
        }
        page
    }

    /// Expands the named sets of a syntax line.
    fn expanded(&self, syntax: &str) -> String {
        let Some(row) = self.rows().iter().find(|r| r.syntax == syntax) else {
            return syntax.to_string();
        };
        let mut text = row.opcode.clone();
        for slot in &row.slots {
            let choices = match slot.words.as_slice() {
                [word] => word.clone(),
                words => format!("({})", words.join("|")),
            };
            let _ = if slot.optional {
                write!(text, "{{.{choices}}}")
            } else {
                write!(text, ".{choices}")
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Isa;

    #[test]
    fn the_committed_page_is_the_generated_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/isa.md");
        let page = Isa::ptx().reference();
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, &page).expect("docs/reference/isa.md is writable");
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            committed == page,
            "docs/reference/isa.md is out of date; rewrite it with: BLESS=1 cargo test -p simt-core isa::reference"
        );
    }
}
