//! The bytes of a shared library that Cargo builds as a dependency.
//!
//! Cargo builds all library types of a dependency before a program that depends on it, and leaves
//! them in one folder. A build script cannot see that library, since it runs earlier; a macro can,
//! since it runs while the program is compiled. The program needs a build script, however empty:
//! Cargo then tells the compiler `OUT_DIR`, from which the folder follows.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::{env, fs};

use proc_macro::{TokenStream, TokenTree};

/// Expands to the bytes of the shared library of a dependency, and a digest of them (FNV-1a), as
/// `(&[u8], u64)`.
///
/// The argument is the name of its library target. Where nothing is linked (`cargo check`), the
/// bytes may be missing; the result is then empty.
#[proc_macro]
pub fn shared_library(input: TokenStream) -> TokenStream {
    let name = match input.into_iter().next() {
        Some(TokenTree::Literal(name)) => name.to_string().trim_matches('"').to_owned(),
        _ => return error("expected the name of a library in quotes"),
    };
    let found = env::var_os("OUT_DIR").and_then(|out| newest(&folder(Path::new(&out))?, &name));
    let code = match found {
        Some(path) => {
            let digest = fs::read(&path).map_or(0, |bytes| digest(&bytes));
            format!("{{ let bytes: &[u8] = include_bytes!({path:?}); (bytes, {digest}_u64) }}")
        }
        None if links() => return error(&format!("Cargo has not built the library `{name}`")),
        None => "{ let bytes: &[u8] = &[]; (bytes, 0_u64) }".to_owned(),
    };
    code.parse().unwrap_or_default()
}

fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn error(message: &str) -> TokenStream {
    format!("compile_error!({message:?})").parse().unwrap_or_default()
}

/// Returns true if the compiler makes code, not only facts about types.
fn links() -> bool {
    env::args().any(|argument| argument.starts_with("--emit=") && argument.contains("link"))
}

/// Returns the folder of dependencies: `PROFILE/deps` beside `PROFILE/build/PACKAGE/out`.
fn folder(out: &Path) -> Option<PathBuf> {
    Some(out.ancestors().nth(3)?.join("deps"))
}

/// Returns the newest file of a library. Those of packages from a registry have a hash at the end.
fn newest(folder: &Path, name: &str) -> Option<PathBuf> {
    let stem = format!("{DLL_PREFIX}{name}");
    let is_library = |path: &PathBuf| {
        let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
        let rest = file.strip_prefix(&stem).and_then(|rest| rest.strip_suffix(DLL_SUFFIX));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files.filter(is_library).max_by_key(|path| path.metadata().and_then(|m| m.modified()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_lies_beside_the_build_folder() {
        let out = Path::new("/target/debug/build/simt-sim-0123/out");
        assert_eq!(folder(out), Some(PathBuf::from("/target/debug/deps")));
        assert_eq!(newest(Path::new("/nowhere"), "simt_cuda"), None);
    }
}
