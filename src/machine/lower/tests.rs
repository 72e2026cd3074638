//! What is converted, what is left, and what the outcome looks like.
