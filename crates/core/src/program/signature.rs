//! Names of kernel parameters in a CUDA C++ source.
//!
//! Compilers number parameters, so their names stand in the source only. This is no parser of C++:
//! a signature that it cannot read for certain has no names, and arguments go by position.

/// Words before a parenthesis that does not open a kernel's parameters.
const ATTRIBUTES: [&str; 7] = [
    "__launch_bounds__",
    "__cluster_dims__",
    "__block_size__",
    "__maxnreg__",
    "__attribute__",
    "__declspec",
    "decltype",
];
/// Words of a type that need another word to be one, or that are no name.
const TYPE_WORDS: [&str; 18] = [
    "auto",
    "bool",
    "char",
    "class",
    "const",
    "double",
    "enum",
    "float",
    "int",
    "long",
    "short",
    "signed",
    "struct",
    "unsigned",
    "void",
    "volatile",
    "__restrict__",
    "__grid_constant__",
];
/// Words that do not make a type.
const QUALIFIERS: [&str; 6] = ["class", "const", "enum", "struct", "volatile", "__grid_constant__"];

/// Longest signature that is read, in tokens.
const MOST_TOKENS: usize = 4096;

/// Kernels that a source declares.
pub(super) struct Signatures<'s> {
    /// Names with the names of their parameters; `None` for one that cannot be read for certain.
    declared: Vec<(&'s str, Vec<Option<&'s str>>)>,
}

impl<'s> Signatures<'s> {
    /// Reads the signatures of a source.
    pub(super) fn new(source: &'s str) -> Signatures<'s> {
        let tokens = tokens(source);
        let kernels = tokens.iter().enumerate().filter(|(_, token)| **token == "__global__");
        let declared = kernels.filter_map(|(at, _)| {
            let after = &tokens[at + 1..];
            let (name, parameters, next) = signature(&after[..after.len().min(MOST_TOKENS)])?;
            let names: Vec<_> = split(parameters).into_iter().map(parameter).collect();
            // An instance asked for (`template __global__ void k<4>(int *);`) need not repeat
            // names.
            let tells = next != Some(";") || names.is_empty() || names.iter().any(Option::is_some);
            tells.then_some((name, names))
        });
        Signatures { declared: declared.collect() }
    }

    /// Returns the position of a parameter of a kernel, or of all that have one of the name.
    fn position(&self, kernel: Option<&str>, name: &str) -> Option<usize> {
        let asked = |declared: &str| kernel.is_none_or(|kernel| bare(kernel) == declared);
        let declared = self.declared.iter().filter(|(kernel, _)| asked(kernel));
        let mut found =
            declared.filter_map(|(_, names)| names.iter().position(|n| *n == Some(name)));
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }

    /// Returns the names of a kernel's parameters, if the source states `count` of them for
    /// certain.
    ///
    /// `kernel` is the name of the kernel as in `scan<float>` or `lib::scan(int*)`.
    pub(super) fn names(&self, kernel: &str, count: usize) -> Option<Vec<&'s str>> {
        let name = bare(kernel);
        let mut alike =
            self.declared.iter().filter(|(n, names)| *n == name && names.len() == count);
        let (_, first) = alike.next()?;
        if alike.any(|(_, others)| others != first) {
            return None; // declarations or overloads that differ
        }
        let names: Vec<&str> = first.iter().copied().collect::<Option<_>>()?;
        let is_twice = |i: usize| names[..i].contains(&names[i]);
        (!(0..names.len()).any(is_twice)).then_some(names)
    }
}

/// Returns the name of a kernel without namespaces, arguments of templates and parameters.
fn bare(kernel: &str) -> &str {
    let end = kernel.find(['<', '(']).unwrap_or(kernel.len());
    kernel[..end].rsplit("::").next().unwrap_or_default()
}

/// Returns a CUDA C++ source whose `arg` directives name parameters by position, as compiled code
/// has no names of them. Names that no signature has stay.
pub fn arguments_by_position(source: &str) -> String {
    let signatures = Signatures::new(source);
    let mut kernel = None;
    let line = |line: &str| {
        let directive = line.trim_start().strip_prefix("//!").unwrap_or_default();
        let (word, rest) = directive.trim().split_once(char::is_whitespace).unwrap_or_default();
        match word {
            "kernel" | "launch" => kernel = rest.split([',', ' ']).next().map(str::to_owned),
            "arg" => {
                let name = rest.split('=').next().unwrap_or_default().trim();
                if let Some(position) = signatures.position(kernel.as_deref(), name) {
                    let (head, tail) = line.split_at(line.find("arg").map_or(0, |at| at + 3));
                    return format!("{head}{}", tail.replacen(name, &position.to_string(), 1));
                }
            }
            _ => {}
        }
        line.to_owned()
    };
    source.split_inclusive('\n').map(line).collect()
}

/// Splits a source into words and characters, without comments, literals and directives of the
/// preprocessor.
fn tokens(source: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = source;
    let mut begins_line = true;
    while let Some(c) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if c == '\n' {
            begins_line = true;
            1
        } else if c.is_whitespace() {
            c.len_utf8()
        } else if let Some(text) = rest.strip_prefix("/*") {
            text.find("*/").map_or(rest.len(), |end| end + 4)
        } else if rest.starts_with("//") || c == '#' && begins_line {
            logical_line(rest)
        } else if let Some(text) = rest.strip_prefix("R\"") {
            begins_line = false;
            raw_string(text).map_or(rest.len(), |end| end + 2)
        } else if c == '"' || c == '\'' {
            begins_line = false;
            literal(rest, c)
        } else {
            begins_line = false;
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let length = if is_word(c) { number(rest, c).unwrap_or(word) } else { c.len_utf8() };
            tokens.push(&rest[..length]);
            length
        };
        rest = &rest[length..];
    }
    tokens
}

/// Returns the length of a number, which may have separators (`1'000`); `None` for other words.
fn number(text: &str, first: char) -> Option<usize> {
    let within = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '.');
    first.is_ascii_digit().then(|| text.find(|c| !within(c)).unwrap_or(text.len()))
}

/// Returns the length of a line with those that a backslash joins to it.
fn logical_line(text: &str) -> usize {
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end_matches(['\n', '\r']).ends_with('\\') {
            // The end of the line is a token of its own.
            return length - usize::from(line.ends_with('\n'));
        }
    }
    length
}

/// Returns the length of a literal with its quotes.
fn literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' => return at,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of a raw string after `R"`.
fn raw_string(text: &str) -> Option<usize> {
    let (delimiter, _) = text.split_once('(')?;
    let end = format!("){delimiter}\"");
    text.find(&end).map(|at| at + end.len())
}

/// Reads what follows `__global__`: the name of the kernel, the tokens of its parameters, and the
/// token after them.
fn signature<'t, 's>(tokens: &'t [&'s str]) -> Option<(&'s str, &'t [&'s str], Option<&'s str>)> {
    let mut at = 0;
    while let Some(&token) = tokens.get(at) {
        match token {
            "{" | "}" | ";" => return None,
            "(" => {
                let length = balanced(&tokens[at..])?;
                let before = word_before(&tokens[..at])?;
                if !ATTRIBUTES.contains(&before) {
                    let next = tokens.get(at + length).copied();
                    return Some((before, &tokens[at + 1..at + length - 1], next));
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    None
}

/// Returns the last word of some tokens, template arguments aside (`scan<int>`).
fn word_before<'s>(tokens: &[&'s str]) -> Option<&'s str> {
    let mut depth = 0_usize;
    for token in tokens.iter().rev() {
        match *token {
            ">" => depth += 1,
            "<" => depth = depth.checked_sub(1)?,
            word if depth == 0 => return is_identifier(word).then_some(word),
            _ => {}
        }
    }
    None
}

/// Returns the number of tokens of a pair of parentheses with its content.
fn balanced(tokens: &[&str]) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "(" => depth += 1,
            ")" if depth == 1 => return Some(at + 1),
            ")" => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// Splits parameters at the commas between them.
fn split<'t, 's>(tokens: &'t [&'s str]) -> Vec<&'t [&'s str]> {
    if matches!(tokens, [] | ["void"]) {
        return Vec::new();
    }
    let mut depth = 0_usize;
    let between = |token: &&str| {
        match *token {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth = depth.saturating_sub(1),
            _ => {}
        }
        *token == "," && depth == 0
    };
    tokens.split(between).collect()
}

/// Returns the name of a parameter.
fn parameter<'s>(tokens: &[&'s str]) -> Option<&'s str> {
    let end = tokens.iter().position(|token| *token == "=").unwrap_or(tokens.len());
    let mut tokens = &tokens[..end];
    while let [before @ .., "[", _, "]"] | [before @ .., "[", "]"] = tokens {
        tokens = before;
    }
    let (name, of_type) = tokens.split_last()?;
    let makes_type = |token: &&str| !QUALIFIERS.contains(token);
    let plain = |token: &&str| !matches!(*token, "(" | ")" | "[" | "]" | "." | "{" | "}");
    let is_name = is_identifier(name) && !TYPE_WORDS.contains(name);
    // `lib::Point` is a type without a name.
    let ends_type = of_type.last().is_some_and(|last| *last != ":");
    (is_name && ends_type && of_type.iter().any(makes_type) && tokens.iter().all(plain))
        .then_some(*name)
}

fn is_identifier(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str, kernel: &str, count: usize) -> Option<Vec<String>> {
        let names = Signatures::new(source).names(kernel, count)?;
        Some(names.into_iter().map(str::to_owned).collect())
    }

    fn some<const N: usize>(names: [&str; N]) -> Option<Vec<String>> {
        Some(names.map(str::to_owned).to_vec())
    }

    #[test]
    fn arguments_go_by_position() {
        let source = "\
            //! arg n = n + a\n\
            //!   arg  a=a\n\
            //! kernel second\n\
            //! arg n = 1\n\
            //! arg 0 = 2\n\
            //! arg other = 3\n\
            __global__ void first(int *a, int n) {}\n\
            __global__ void second(int n) {}\n";
        let changed = arguments_by_position(source);
        let lines: Vec<&str> = changed.lines().take(6).collect();
        // Two kernels have `n` at different positions.
        let expected = ["//! arg n = n + a", "//!   arg  0=a", "//! kernel second"];
        assert_eq!(lines[..3], expected);
        assert_eq!(lines[3..], ["//! arg 0 = 1", "//! arg 0 = 2", "//! arg other = 3"]);
    }

    #[test]
    fn signatures_name_their_parameters() {
        let source = "\
            #define KERNEL __global__ void bad(int wrong) \\\n  {}\n\
            // __global__ void add(int wrong);\n\
            const char *text = \"__global__ void add(int \\\"wrong)\"; int million = 1'000'000;\n\
            template <typename T, int N = (1 < 2)>\n\
            __global__ void __launch_bounds__(256, 2) scan(const T *__restrict__ in, T out[N],\n\
              std::pair<int, float> both, /* count */ unsigned n = max(1, 2)) {}\n\
            extern \"C\" void __global__ add(int *a, struct Point at) { int b; }\n\
            template <> __global__ void one<float>(float x) {}\n\
            template __global__ void one<float>(float);\n\
            static __global__ __attribute__((unused)) void none(void);\n";
        assert_eq!(names(source, "scan<float, 4>", 4), some(["in", "out", "both", "n"]));
        assert_eq!(names(source, "lib::scan<int, 1>(int*)", 4), some(["in", "out", "both", "n"]));
        assert_eq!(names(source, "add", 2), some(["a", "at"]));
        assert_eq!(names(source, "one<float>", 1), some(["x"]));
        assert_eq!(names(source, "none", 0), some([]));
        assert_eq!(names(source, "add", 1), None, "another number of parameters");
        assert_eq!(names(source, "bad", 1), None, "in a macro");
        assert_eq!(names(source, "absent", 1), None);
    }

    #[test]
    fn doubtful_signatures_have_no_names() {
        for parameters in [
            "int",
            "unsigned int",
            "const Point",
            "lib::Point",
            "void (*f)(int)",
            "int (&a)[4]",
            "T... all",
            "int a, float",
            "int a, int a",
            "int *",
            "int a; }",
            "int a",
        ] {
            let source = format!("__global__ void k({parameters}) {{}}");
            let count = split(&tokens(parameters)).len();
            let expected = (parameters == "int a").then(|| vec!["a".to_owned()]);
            assert_eq!(names(&source, "k", count), expected, "{parameters}");
        }
        let two = "__global__ void k(int a);\n__global__ void k(float b) {}\n";
        assert_eq!(names(two, "k", 1), None, "overloads that differ in names");
        for broken in
            ["__global__", "__global__ void k(", "__global__ void k(int a", "R\"(", "'", "/*"]
        {
            assert_eq!(names(broken, "k", 1), None, "{broken}");
        }
    }
}
