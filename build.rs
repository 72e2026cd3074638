//! Nothing to do: Cargo names `OUT_DIR` only to packages with a build script, and the libraries
//! that `simt-sim exec` places are found from there.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
