//! Where a compiler says that code comes from: `.file` and `.loc` lines (PTX ISA, "Debugging Directives").
//!
//! Of code that was inlined from another file, a header say, the place of the call counts: that is what the reader wrote.

use super::tree::{Item, Module, Statement};

/// A line of another source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// The file, without its folders.
    pub file: &'a str,
    /// The line in it, from 1.
    pub line: u32,
}

/// The places that the `.loc` lines of a module give to its text.
#[derive(Clone, Debug, Default)]
pub struct Locations<'a> {
    /// From which byte on which place holds, in order; none where a function begins.
    marks: Vec<(u32, Option<Location<'a>>)>,
}

impl<'a> Locations<'a> {
    /// The places of a module.
    pub fn new(module: &'a Module) -> Locations<'a> {
        let mut found = Locations::default();
        for item in &module.items {
            if let Item::Function(function) = item {
                found.marks.push((function.span.start, None));
                found.collect(function.body.as_deref().unwrap_or_default(), &module.files, &mut None);
            }
        }
        found
    }

    fn collect(&mut self, statements: &[Statement], files: &'a [(u32, String)], own: &mut Option<u32>) {
        for statement in statements {
            match statement {
                Statement::Block(inner, _) => self.collect(inner, files, own),
                Statement::Loc { file, line, rest, span, .. } => {
                    let own = *own.get_or_insert(*file);
                    let (file, line) = match inlined_at(rest) {
                        Some(call) if *file != own => call,
                        _ => (*file, *line),
                    };
                    let name = files.iter().find(|(index, _)| *index == file).map(|(_, name)| name.as_str());
                    // Line 0 is how compilers mark code that belongs to no line.
                    let place = name.filter(|_| line > 0).map(|name| Location { file: base_name(name), line });
                    self.marks.push((span.end, place));
                }
                _ => {}
            }
        }
    }

    /// Where the text at a byte comes from, as far as the module says.
    pub fn at(&self, offset: u32) -> Option<Location<'a>> {
        let behind = self.marks.partition_point(|&(from, _)| from <= offset);
        self.marks.get(behind.checked_sub(1)?)?.1
    }
}

/// File and line of `.., inlined_at FILE LINE COLUMN`.
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
        { .loc 2 409 9, function_name $L__s + 8, inlined_at 1 9 1\nret; // called } \n}\nret; // still\n}\n\
        .entry second() {\nret; // again\n}\n.entry third() {\n.loc 2 8 1\nret; // header\n.loc 7 8 1\nret; // lost\n}\n\
        .file 1 \"/home/me/sum.cu\"\n.file 2 \"intrinsics.hpp\"\n.section .debug_str {\n$L__s:\n.b8 0\n}\n";

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
            let found = places.at(at as u32).map_or(String::new(), |l| format!("{} {}", l.file, l.line));
            assert_eq!(found, place, "{word}");
        }
        assert_eq!(places.at(0), None);
    }
}
