//! Numbers formatted for people. ASCII only, so that a report survives any terminal and any `diff`.

/// Formats an integer with a comma between groups of three digits: `16,777,216`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Formats a real with three significant digits: `1,234.5`, `5.38`, `0.00123`.
/// Numbers in the usual range have two decimals.
pub fn real(x: f64) -> String {
    if !x.is_finite() {
        return "-".to_owned();
    }
    let size = x.abs();
    if size >= 999.95 {
        let tenths = (size * 10.0).round() as u64;
        format!("{}{}.{}", if x < 0.0 { "-" } else { "" }, grouped(tenths / 10), tenths % 10)
    } else if size >= 0.1 || size == 0.0 {
        format!("{x:.2}")
    } else {
        let decimals = (2 - size.log10().floor() as i32).clamp(2, 12);
        format!("{x:.*}", decimals as usize)
    }
}

/// Formats a time in a unit with one to three digits before the point: `210.3 us`.
pub fn duration(seconds: f64) -> String {
    let (scaled, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s if s >= 1e-6 => (s * 1e6, "us"),
        s => (s * 1e9, "ns"),
    };
    format!("{scaled:.3} {unit}")
}

/// Returns the share of each part in tenths of a percent. They add up to exactly 1000 (the largest
/// remainders are rounded up), so that a printed table adds up to 100.0 %. All are zero if the
/// whole is zero.
pub fn tenths_of_percent(parts: &[u64]) -> Vec<u32> {
    let whole: u128 = parts.iter().map(|&p| u128::from(p)).sum();
    if whole == 0 {
        return vec![0; parts.len()];
    }
    let scaled = |p: u64| u128::from(p) * 1000;
    let mut tenths: Vec<u32> = parts.iter().map(|&p| (scaled(p) / whole) as u32).collect();
    let missing = 1000 - tenths.iter().sum::<u32>() as usize;
    let mut by_remainder: Vec<usize> = (0..parts.len()).collect();
    by_remainder.sort_by_key(|&i| std::cmp::Reverse(scaled(parts[i]) % whole));
    for i in by_remainder.into_iter().take(missing) {
        tenths[i] += 1;
    }
    tenths
}

/// Formats tenths of a percent: `34.0 %`.
pub fn percent(tenths: u32) -> String {
    format!("{}.{} %", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_reals() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (16_777_216, "16,777,216"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(grouped(n), text);
        }
        for (x, text) in [
            (0.0, "0.00"),
            (34.0278, "34.03"),
            (999.949, "999.95"),
            (999.96, "1,000.0"),
            (-1234.56, "-1,234.6"),
            (0.00123, "0.00123"),
            (0.05, "0.0500"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(real(x), text);
        }
        assert_eq!(duration(416_163.0 / 1.98e9), "210.183 us");
        assert_eq!(duration(0.0), "0.000 ns");
    }

    #[test]
    fn shares_add_up_to_the_whole() {
        assert_eq!(tenths_of_percent(&[1, 1, 1]), [334, 333, 333]);
        assert_eq!(tenths_of_percent(&[0, 0]), [0, 0]);
        assert_eq!(tenths_of_percent(&[u64::MAX, u64::MAX]), [500, 500]);
        for n in 1..40_u64 {
            let parts: Vec<u64> = (0..n).map(|i| i * i * 7919 % 101 + 1).collect();
            assert_eq!(tenths_of_percent(&parts).iter().sum::<u32>(), 1000);
        }
        assert_eq!(percent(340), "34.0 %");
    }
}
