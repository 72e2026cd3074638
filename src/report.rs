//! Values to text, pictures and files.

pub mod cfg;
