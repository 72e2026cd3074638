//! The plainest possible run, and comparison.
