//! The built library, loaded as a program loads it, and called through its C interface.

#![cfg(target_os = "linux")]
#![expect(unsafe_code, reason = "the library is loaded at run time and has a C interface")]

mod api;
mod asynchronous;
mod graphs;
mod mutated;
mod programs;
mod shared;
mod textures;
