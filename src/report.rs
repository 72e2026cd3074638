//! Values to text, pictures and files.
