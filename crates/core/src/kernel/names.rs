//! Names of the source language for symbols of compiled code (Itanium C++ ABI, section 5.1).
//!
//! `_Z6reduceILi256EEvPii` is `reduce<256>`. Two kernels of one name are told apart by their
//! parameters.

use cpp_demangle::{DemangleOptions, Symbol};

use super::{Kernel, Refused};

/// Maximum bytes of a symbol that is demangled; a longer one keeps its name.
const MOST_SYMBOL: usize = 4096;

/// Returns the name of a symbol without return type and parameters; other names stay.
pub fn source_name(symbol: &str) -> String {
    demangled(symbol, DemangleOptions::new().no_params().no_return_type())
}

fn demangled(symbol: &str, options: DemangleOptions) -> String {
    let parsed = Some(symbol)
        .filter(|symbol| symbol.starts_with("_Z") && symbol.len() <= MOST_SYMBOL)
        .and_then(|symbol| Symbol::new(symbol).ok());
    parsed.and_then(|parsed| parsed.demangle_with_options(&options).ok()).map_or_else(
        || symbol.to_owned(),
        |name| without_tags(&name).chars().filter(|c| !c.is_control()).collect(),
    )
}

/// Removes ABI tags (`[abi:v1]`), in which Numba keeps the version of a function.
fn without_tags(name: &str) -> String {
    let mut rest = name;
    let mut bare = String::new();
    while let Some((before, tag)) = rest.split_once("[abi:") {
        bare.push_str(before);
        rest = tag.split_once(']').map_or("", |(_, after)| after);
    }
    bare + rest
}

/// Names kernels, device functions and variables as their source does.
pub fn give_source_names(kernels: &mut [Kernel], refused: &mut [Refused]) {
    for kernel in kernels.iter_mut() {
        kernel.name = source_name(&kernel.symbol);
        for function in &mut kernel.functions {
            function.name = source_name(&function.name);
        }
        for (name, ..) in &mut kernel.shared_variables {
            *name = local_name(name);
        }
    }
    for kernel in refused.iter_mut() {
        kernel.name = source_name(&kernel.symbol);
    }
    let mut all: Vec<(&mut String, &str)> = kernels
        .iter_mut()
        .map(|kernel| (&mut kernel.name, kernel.symbol.as_str()))
        .chain(refused.iter_mut().map(|kernel| (&mut kernel.name, kernel.symbol.as_str())))
        .collect();
    all.sort();
    let names: Vec<String> = all.iter().map(|(name, _)| (**name).clone()).collect();
    for (i, (name, symbol)) in all.into_iter().enumerate() {
        let is_same = |other: Option<&String>| other == Some(&names[i]);
        if is_same(names.get(i + 1)) || i > 0 && is_same(names.get(i - 1)) {
            *name = demangled(symbol, DemangleOptions::new().no_return_type());
        }
    }
}

/// Returns the last part of a variable's name: `tile` for `reduce(int*)::tile`.
fn local_name(symbol: &str) -> String {
    let name = source_name(symbol);
    let last = name.rsplit("::").next().unwrap_or_default();
    if last.is_empty() || last.contains([')', '>']) { name } else { last.to_owned() }
}

/// Name and symbol of a kernel, for look-ups.
#[derive(Clone, Copy, Debug)]
pub struct KernelName<'a> {
    /// Name in the source language.
    pub name: &'a str,
    /// Name in the compiled code.
    pub symbol: &'a str,
}

impl KernelName<'_> {
    /// Returns true if `wanted` is the symbol or the name, spaces aside.
    pub fn is(self, wanted: &str) -> bool {
        let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        wanted == self.symbol || bare(wanted) == bare(self.name)
    }

    /// Returns true if `wanted` is the symbol, the name, or the name without template arguments.
    pub fn matches(self, wanted: &str) -> bool {
        self.is(wanted) || self.is_instance_of(wanted)
    }

    /// Returns true if `wanted` is the name without template arguments and parameters.
    pub fn is_instance_of(self, wanted: &str) -> bool {
        self.name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with(['<', '(']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_have_the_names_of_their_source() {
        let cases = [
            ("_Z6reduceILi256EEvPii", "reduce<256>"),
            ("_Z3addPii", "add"),
            ("_ZN3lib4scanIfLb1EEEvPT_", "lib::scan<float, true>"),
            ("_ZN8__main__3addB2v1B4cw51Ei", "__main__::add"),
            ("reduce", "reduce"),
            ("_Znonsense", "_Znonsense"),
            ("", ""),
        ];
        for (symbol, name) in cases {
            assert_eq!(source_name(symbol), name, "{symbol}");
        }
        assert_eq!(local_name("_ZZ6reducePiE4tile"), "tile");
        assert_eq!(local_name("tile"), "tile");
    }

    #[test]
    fn a_kernel_answers_to_its_name_and_to_its_symbol() {
        let scan = KernelName { name: "scan<float, true>", symbol: "_Z4scanIfLb1EEvPT_" };
        assert!(scan.is("scan<float,true>") && scan.is(scan.symbol) && !scan.is("scan"));
        assert!(scan.is_instance_of("scan") && !scan.is_instance_of("sca"));
        assert!(!KernelName { name: "scan", ..scan }.is_instance_of("scan"));
    }
}
