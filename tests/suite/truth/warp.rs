//! What lanes do together.
pub(super) fn programs() -> Vec<(&'static str, String)> { vec![] }
