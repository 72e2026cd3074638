//! Folding events into values.
