//! Source locations of `.file` and `.loc` lines (PTX ISA, "Debugging Directives").
//!
//! Code inlined from another file, such as a header, has the location of the call, because that is
//! in the user's own file.

use super::tree::{Item, Module, Statement};
use crate::diag::Span;

/// Line of a CUDA source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// File name without folders.
    pub file: &'a str,
    /// Line, from 1.
    pub line: u32,
}

/// Source locations of a module's text.
#[derive(Clone, Debug, Default)]
pub struct Locations<'a> {
    /// First byte of each location, in order; `None` at the start of a function.
    marks: Vec<(u32, Option<Location<'a>>)>,
}

impl<'a> Locations<'a> {
    /// Collects the source locations of a module.
    pub fn new(module: &'a Module) -> Locations<'a> {
        let mut found = Locations::default();
        for item in &module.items {
            if let Item::Function(function) = item {
                found.marks.push((function.span.start, None));
                found.collect(
                    function.body.as_deref().unwrap_or_default(),
                    &module.files,
                    &mut None,
                );
            }
        }
        found
    }

    /// Adds a line of `file` for each byte offset, ascending; 0 for none.
    pub(crate) fn add(&mut self, file: &'a str, lines: impl Iterator<Item = (u32, u32)>) {
        for (start, line) in lines {
            let place = (line > 0).then(|| Location { file: base_name(file), line });
            self.marks.push((start, place));
        }
    }

    fn collect(
        &mut self,
        statements: &[Statement],
        files: &'a [(u32, String)],
        own: &mut Option<u32>,
    ) {
        for statement in statements {
            match statement {
                Statement::Block(inner, _) => self.collect(inner, files, own),
                Statement::Loc { file, line, rest, span, .. } => {
                    let own = *own.get_or_insert(*file);
                    let (file, line) = match inlined_at(rest) {
                        Some(call) if *file != own => call,
                        _ => (*file, *line),
                    };
                    let name = files
                        .iter()
                        .find(|(index, _)| *index == file)
                        .map(|(_, name)| name.as_str());
                    // Compilers mark code without a source line as line 0.
                    let place = name
                        .filter(|_| line > 0)
                        .map(|name| Location { file: base_name(name), line });
                    self.marks.push((span.end, place));
                }
                _ => {}
            }
        }
    }

    /// Returns the source location of the text at a byte offset, if known.
    pub fn at(&self, offset: u32) -> Option<Location<'a>> {
        let next = self.marks.partition_point(|&(from, _)| from <= offset);
        self.marks.get(next.checked_sub(1)?)?.1
    }

    /// Iterates over the known source locations in a span.
    pub fn within(&self, span: Span) -> impl Iterator<Item = Location<'a>> + '_ {
        let first = self.marks.partition_point(|&(from, _)| from < span.start);
        let marks = self.marks.get(first..).unwrap_or_default();
        marks.iter().take_while(move |&&(from, _)| from < span.end).filter_map(|mark| mark.1)
    }
}

/// Parses file and line of `.., inlined_at FILE LINE COLUMN`.
fn inlined_at(rest: &str) -> Option<(u32, u32)> {
    let (_, place) = rest.split_once("inlined_at ")?;
    let mut numbers = place.split_whitespace();
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::Locations;

    const TEXT: &str = ".version 9.0\n.target sm_75\n.address_size 64\n\
        .entry first() {\nret; // none\n.loc 1 3 5\nret; // three\n.loc 1 0 5\nret; // nobody\n\
        .loc 1 9 1, function_name $L__s, inlined_at 1 4 2\nret; // nine\n\
        { .loc 2 409 9, function_name $L__s + 8, inlined_at 1 9 1\nret; // called } \n}\n\
        ret; // still\n}\n\
        .entry second() {\nret; // again\n}\n.entry third() {\n.loc 2 8 1\nret; // header\n\
        .loc 7 8 1\nret; // lost\n}\n\
        .file 1 \"/home/me/sum.cu\"\n.file 2 \"intrinsics.hpp\"\n.section .debug_str {\n$L__s:\n\
        .b8 0\n}\n";

    #[test]
    fn a_place_holds_until_the_next_or_the_end_of_the_function() {
        let (module, found) = crate::ptx::parse(TEXT);
        assert_eq!(found, []);
        let places = Locations::new(&module);
        let expected = [
            ("none", ""),
            ("three", "sum.cu 3"),
            ("nobody", ""),
            ("nine", "sum.cu 9"),
            ("called", "sum.cu 9"),
            ("still", "sum.cu 9"),
            ("again", ""),
            ("header", "intrinsics.hpp 8"),
            ("lost", ""),
        ];
        for (word, place) in expected {
            let at = TEXT.find(&format!("// {word}")).expect("the word");
            let found =
                places.at(at as u32).map_or(String::new(), |l| format!("{} {}", l.file, l.line));
            assert_eq!(found, place, "{word}");
        }
        assert_eq!(places.at(0), None);
    }
}
