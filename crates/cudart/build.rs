//! Gives the shared library a soname with room for the longest name that it serves under, and the
//! first place in the order of constructors.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcudart.so.XX.Y");
        println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic-functions");
        // It redirects calls before the constructors of others make them.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,initfirst");
    }
}
