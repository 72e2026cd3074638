//! Integer arithmetic.

use super::FALSE;
use super::{Lowering, Missing, Width};
use crate::kernel::PredicateUse;
use crate::kernel::{Native, NativeFn, Source};

/// Lowers an integer instruction; `Ok(None)` if the opcode is of another family.
pub(super) fn lower(l: &mut Lowering<'_, '_>) -> Result<Option<Native>, Missing> {
    let (uniform, name) = match l.text.name.strip_prefix('U') {
        Some(rest) => (true, rest),
        None => (false, l.text.name),
    };
    let native = match name {
        "MOV" => Native {
            f: NativeFn::Mov,
            d: l.result(0, Width::Word)?,
            p: [None; 2],
            s: [l.source(1, Width::Word)?, Source::default(), Source::default()],
            q: [NEVER; 2],
            uniform,
        },
        "IADD3" => {
            let extended = l.text.take("X");
            // IADD3 R0, P0, P1, R1, R2, R3, P2, P3: each predicate may be left out.
            let d = l.result(0, Width::Word)?;
            let mut at = 1;
            let mut p = [None; 2];
            for carry in &mut p {
                if l.is_predicate(at) {
                    *carry = l.result_predicate(at)?;
                    at += 1;
                }
            }
            let mut s = [Source::default(); 3];
            for source in &mut s {
                *source = l.source(at, Width::Word)?;
                at += 1;
            }
            let mut q = [NEVER; 2];
            for carry in &mut q {
                if l.is_predicate(at) {
                    *carry = l.predicate(at)?;
                    at += 1;
                }
            }
            Native { f: NativeFn::Add3 { extended }, d, p, s, q, uniform }
        }
        _ => return Ok(None),
    };
    Ok(Some(native))
}

/// A predicate source that is false.
const NEVER: PredicateUse = PredicateUse { predicate: FALSE, negated: false };
