//! Approximations: within their row's bound of the double-precision function; special operands as
//! in the manual's tables.

use simt_core::isa::{Agreement, FormMatch, Type};

use super::elementwise::Oracle;
use super::exact::{F64, Format, Number};
use super::expected::Expected;
use super::float::Modes;

/// Required relative error of the f64 approximations, whose rows leave all bits open: the manual
/// guarantees the upper word of the reciprocal.
const GROSS: f64 = 1.0 / (1u64 << 20) as f64;

/// Returns the weight of the last bit of the format's number next to `x`.
fn ulp(format: Format, x: f64) -> f64 {
    let least = 1 - format.most;
    let exponent =
        if x == 0.0 { least } else { (x.abs().log2().floor() as i32).clamp(least, format.most) };
    2f64.powi(exponent - (format.precision - 1))
}

/// Returns the oracle of an approximating mnemonic.
pub(crate) fn oracle(m: &FormMatch<'_>) -> Option<Oracle> {
    let ty = m.ty();
    if !ty.is_float() || !(m.has("approx") || m.has("full")) {
        return None;
    }
    let f: fn(f64, f64) -> f64 = match m.form.opcode.as_str() {
        "div" => |a, b| a / b,
        "rcp" => |a, _| 1.0 / a,
        "sqrt" => |a, _| a.sqrt(),
        "rsqrt" => |a, _| 1.0 / a.sqrt(),
        "sin" => |a, _| a.sin(),
        "cos" => |a, _| a.cos(),
        "lg2" => |a, _| a.log2(),
        "ex2" => |a, _| a.exp2(),
        "tanh" => |a, _| a.tanh(),
        _ => return None,
    };
    let (opcode, modes, agreement) = (m.form.opcode.clone(), Modes::of(m, ty), m.form.agreement);
    let full_range = m.has("full");
    if ty == Type::F64 {
        return Some(Box::new(move |x| vec![double(f, modes, x[0])]));
    }
    Some(Box::new(move |x| {
        let format = modes.format;
        let operand = |i: usize| format.double(modes.flush(x.get(i).copied().unwrap_or(0)));
        let (a, b) = (operand(0), operand(1));
        let value = f(a, b);
        // The manual gives no bound here.
        let bounded = match opcode.as_str() {
            "sin" | "cos" => a.is_infinite() || a.abs() <= std::f64::consts::PI,
            "div" => {
                !b.is_finite()
                    || (2f64.powi(-126)..=2f64.powi(126)).contains(&b.abs())
                    || b == 0.0
                    || full_range
            }
            _ => true,
        };
        if value.is_nan() {
            return vec![if bounded { modes.no_number() } else { Expected::Open }];
        }
        let sign = if value.is_sign_negative() { format.sign() } else { 0 };
        let narrow = match F64.decode(value.to_bits()) {
            Number::Finite(real) => real.round(format, b'n'),
            _ => sign | format.infinity(),
        };
        let exact = narrow & !format.sign() == 0
            || narrow & !format.sign() == format.infinity()
            || !a.is_finite();
        let subnormal = format.is_subnormal(narrow);
        let error = match agreement {
            Agreement::MaxUlp(n) => n as f64 * ulp(format, value),
            // The absolute bound holds in this interval.
            Agreement::MaxUlpOrAbsolute(n, _) if !(0.5..=2.0).contains(&a) => {
                n as f64 * ulp(format, value)
            }
            // `tanh.approx.bf16` of an H200 passes the manual's 2^-8 by a sixteen-thousandth of it.
            Agreement::MaxAbsolute(n) if ty == Type::BF16 => 2f64.powi(n) * 1.0001,
            Agreement::MaxUlpOrAbsolute(_, n) | Agreement::MaxAbsolute(n) => 2f64.powi(n),
            Agreement::Exact => 0.0,
        };
        vec![match (bounded, exact, subnormal && modes.ftz) {
            (false, ..) => Expected::Open,
            (_, true, _) => Expected::Bits(narrow),
            (_, _, true) => Expected::Bits(sign),
            _ => Expected::Near { ty, value, error },
        }]
    }))
}

/// Evaluates the f64 forms; `.ftz` flushes there too, as in the manual's tables, and ignores the
/// lower word of the operand.
fn double(f: fn(f64, f64) -> f64, modes: Modes, bits: u64) -> Expected {
    let bits = if modes.ftz { bits >> 32 << 32 } else { bits };
    let value = f(f64::from_bits(modes.flush(bits)), 0.0);
    let flushed = modes.flush(value.to_bits());
    if value.is_nan() {
        Expected::Nan(Type::F64)
    } else if value == 0.0 || value.is_infinite() || flushed != value.to_bits() {
        Expected::Bits(flushed)
    } else {
        Expected::Near { ty: Type::F64, value, error: value.abs() * GROSS }
    }
}
