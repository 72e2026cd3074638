//! A `.sass` text: directives, facts, listing.

use simt_core::sass::facts::{self, ModuleFacts};

use crate::code::FUNCTION;
use crate::{CubinError, runtime};

/// Joins directives (`//!` lines), facts and a listing of `cuobjdump -sass` to a `.sass` text.
///
/// The facts take the order of the listing.
///
/// # Errors
/// Returns an error if the listing and the facts do not have the same kernels.
pub fn join(
    directives: &str,
    mut module: ModuleFacts,
    listing: &str,
) -> Result<String, CubinError> {
    let listing = &*runtime::complete(&module, listing);
    let listed: Vec<&str> =
        listing.lines().filter_map(|line| line.trim().strip_prefix(FUNCTION)).collect();
    let place = |name: &str| listed.iter().position(|listed| *listed == name);
    if let Some(missing) = module.kernels.iter().find(|kernel| place(&kernel.name).is_none()) {
        let name = &missing.name;
        return Err(CubinError::Listing(format!("it does not list kernel `{name}`")));
    }
    let known = |name: &&&str| {
        module.kernels.iter().any(|kernel| kernel.name == **name)
            || module.functions.iter().any(|function| function.name == **name)
    };
    if let Some(extra) = listed.iter().find(|name| !known(name)) {
        return Err(CubinError::Listing(format!("it lists `{extra}`, which is unknown")));
    }
    if let Some(missing) = module.functions.iter().find(|f| place(&f.name).is_none()) {
        let name = &missing.name;
        return Err(CubinError::Listing(format!("it does not list function `{name}`")));
    }
    module.kernels.sort_by_key(|kernel| place(&kernel.name));
    let mut text = String::new();
    for line in directives.lines().filter(|line| line.trim_start().starts_with("//!")) {
        text.push_str(line.trim());
        text.push('\n');
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&facts::write(&module));
    text.push('\n');
    // Lines end as everywhere; blanks at their ends and blank lines around the listing mean
    // nothing.
    for line in listing.trim_end().lines().skip_while(|line| line.trim().is_empty()) {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    Ok(text)
}
