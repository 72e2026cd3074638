//! Values as printed by `ncu`, in base units: bytes, nanoseconds, hertz, counts.

/// A printed value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Printed {
    pub(super) value: f64,
    pub(super) rounding: f64,
}

/// Parses a cell. `Ok(None)` for a cell without a value.
pub(super) fn value(text: &str, unit: &str) -> Result<Option<Printed>, String> {
    let text = text.trim();
    if ["", "n/a", "nan", "-", "inf", "no data"].contains(&text.to_ascii_lowercase().as_str()) {
        return Ok(None);
    }
    // Instances follow their sum in brackets.
    let sum = text.split(" (").next().unwrap_or(text);
    let plain: String = sum.chars().filter(|c| *c != ',').collect();
    let value: f64 = plain.parse().map_err(|_| format!("expected a number, found `{text}`"))?;
    if !value.is_finite() || plain.contains(['i', 'n', 'N', 'I']) || misplaced(sum) {
        return Err(format!("expected a number, found `{text}`"));
    }
    let decimals = plain.split_once('.').map_or(0, |(_, decimals)| decimals.len().min(300));
    let scale = scale(unit);
    // A whole number is a count unless the report has scaled it.
    let rounding =
        if decimals == 0 && scale == 1.0 { 0.0 } else { 0.5 * 10f64.powi(-(decimals as i32)) };
    Ok(Some(Printed { value: value * scale, rounding: rounding * scale }))
}

/// Returns true if some comma does not separate thousands.
fn misplaced(text: &str) -> bool {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let mut groups = whole.trim_start_matches('-').split(',');
    let first = groups.next().unwrap_or_default().len();
    let mut separated = false;
    let uneven = groups.any(|group| {
        separated = true;
        group.len() != 3
    });
    decimals.contains(',') || uneven || (separated && !(1..=3).contains(&first))
}

/// Returns the factor from `unit` to base units. `Kbyte/block`, `Gbyte/second` and the like scale
/// by their first part.
fn scale(unit: &str) -> f64 {
    let first = unit.trim().split('/').next().unwrap_or_default();
    match first {
        "nsecond" | "ns" => return 1.0,
        "usecond" | "us" => return 1e3,
        "msecond" | "ms" => return 1e6,
        "second" | "s" => return 1e9,
        _ => {}
    }
    let scaled = |rest: &str| {
        let rest = rest.to_ascii_lowercase();
        ["byte", "bytes", "hz", "cycle", "inst", "sector", "request", "warp", "thread", "block"]
            .contains(&rest.as_str())
            || rest == "b"
    };
    let mut chars = first.chars();
    let factor = match chars.next() {
        Some('K' | 'k') => 1e3,
        Some('M') => 1e6,
        Some('G') => 1e9,
        Some('T') => 1e12,
        _ => return 1.0,
    };
    if scaled(chars.as_str()) { factor } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_units_as_ncu_prints_them() {
        for (text, unit, value_is, rounding) in [
            ("6,258,688", "", 6_258_688.0, 0.0),
            ("292.88", "inst/warp", 292.88, 0.005),
            ("67.12", "Mbyte", 67.12e6, 5e3),
            ("210.30", "usecond", 210.3e3, 5.0),
            ("2.55", "Tbyte/second", 2.55e12, 5e9),
            ("1.98", "cycle/nsecond", 1.98, 0.005),
            ("12", "Kbyte/block", 12e3, 500.0),
            ("5 (1; 4)", "inst", 5.0, 0.0),
            ("-1,234.5", "%", -1234.5, 0.05),
        ] {
            let printed = value(text, unit).expect(text).expect(text);
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs();
            assert!(
                near(printed.value, value_is) && near(printed.rounding, rounding),
                "{text} {unit}: {printed:?}"
            );
        }
        for none in ["", "n/a", "N/A", "nan"] {
            assert_eq!(value(none, ""), Ok(None));
        }
        for bad in ["1,23", "12,3456", "1.2,3", "1,234,5", "abc", "1e999", "0x10", ",123"] {
            assert!(value(bad, "").is_err(), "{bad}");
        }
    }
}
