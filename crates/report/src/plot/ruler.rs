//! An axis of real numbers, linear or logarithmic, with round ticks.

use crate::numbers::grouped;

/// A map from values to pixels.
#[derive(Clone, Debug)]
pub(super) struct Ruler {
    /// Values at both ends, or their logarithms if `log`.
    from: f64,
    to: f64,
    log: bool,
    /// Pixels at both ends.
    start: i32,
    end: i32,
    ticks: Vec<f64>,
}

impl Ruler {
    /// Makes a ruler from 0 to a round number above all values.
    /// It starts at the smallest value if that is negative.
    pub(super) fn from_zero(values: &[f64], start: i32, end: i32) -> Ruler {
        let least = values.iter().copied().fold(0.0, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        let most = if most > least { most } else { least + 1.0 };
        let step = round_step((most - least) / 5.0);
        let (first, last) = ((least / step).floor(), (most / step - 1e-9).ceil());
        let ticks = (0..=(last - first) as i32).map(|i| (first + f64::from(i)) * step).collect();
        Ruler { from: first * step, to: last * step, log: false, start, end, ticks }
    }

    /// Makes a ruler over exactly these values, which become its ticks.
    /// Logarithmic if they span more than a factor of 20.
    pub(super) fn over(values: &[f64], start: i32, end: i32) -> Ruler {
        let mut ticks: Vec<f64> = values.to_vec();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let (from, to) =
            (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(1.0));
        if from > 0.0 && to / from > 20.0 {
            return Ruler { from: from.ln(), to: to.ln(), log: true, start, end, ticks };
        }
        let (from, to) = if to > from { (from, to) } else { (from - 0.5, to + 0.5) };
        Ruler { from, to, log: false, start, end, ticks }
    }

    /// Makes a logarithmic ruler from one power of ten to another; both are positive.
    pub(super) fn decades(least: f64, most: f64, start: i32, end: i32) -> Ruler {
        let from = least.log10().floor();
        let to = most.log10().ceil().max(from + 1.0);
        let powers = (0..=(to - from) as i32).map(|i| 10_f64.powf(from + f64::from(i)));
        let ticks = powers
            .flat_map(|power| [power, 2.0 * power, 5.0 * power])
            .filter(|&tick| tick <= 10_f64.powf(to))
            .collect();
        let ln = |power: f64| power * std::f64::consts::LN_10;
        Ruler { from: ln(from), to: ln(to), log: true, start, end, ticks }
    }

    /// Returns the pixel of a value, clamped to the ends.
    pub(super) fn at(&self, value: f64) -> i32 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let part = ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        self.start + (part * f64::from(self.end - self.start)).round() as i32
    }

    /// Returns the name of an axis with this ruler; a logarithmic one says so.
    pub(super) fn named(&self, name: &str) -> String {
        format!("{name}{}", if self.log { " (logarithmic)" } else { "" })
    }

    /// Returns the smallest and largest value shown.
    pub(super) fn range(&self) -> (f64, f64) {
        if self.log { (self.from.exp(), self.to.exp()) } else { (self.from, self.to) }
    }

    /// Returns the ticks with their pixels.
    /// A tick closer than `apart` to the one before is dropped, except the last.
    pub(super) fn ticks(&self, apart: impl Fn(f64) -> i32) -> Vec<(f64, i32)> {
        let mut kept: Vec<(f64, i32)> = Vec::new();
        for (i, &tick) in self.ticks.iter().enumerate() {
            let at = self.at(tick);
            let close =
                |&(before, x): &(f64, i32)| (at - x).abs() < (apart(before) + apart(tick)) / 2;
            if i + 1 == self.ticks.len() {
                while kept.len() > 1 && kept.last().is_some_and(close) {
                    kept.pop();
                }
            }
            if !kept.last().is_some_and(close) {
                kept.push((tick, at));
            }
        }
        kept
    }
}

/// Returns the smallest of 1, 2, 5 times a power of ten that is at least `least`.
/// `least` is positive.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Formats a tick: `1,024`, `0.25`, `2^20`, `3.2M`.
pub(super) fn label(value: f64) -> String {
    let size = value.abs();
    let whole = value.fract() == 0.0;
    if whole && (65_536.0..=9e15).contains(&size) && (size as u64).is_power_of_two() {
        return format!(
            "{}2^{}",
            if value < 0.0 { "-" } else { "" },
            (size as u64).trailing_zeros()
        );
    }
    if whole && size < 100_000.0 {
        return format!("{}{}", if value < 0.0 { "-" } else { "" }, grouped(size as u64));
    }
    for (unit, letter) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if size >= unit {
            return trimmed(format!("{:.2}", value / unit)) + letter;
        }
    }
    let decimals = (2 - size.log10().floor() as i32).clamp(0, 9);
    trimmed(format!("{value:.*}", decimals as usize))
}

fn trimmed(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rulers_have_round_ends_and_clamp() {
        let ruler = Ruler::from_zero(&[3.0, 17.0], 100, 0);
        assert_eq!(ruler.range(), (0.0, 20.0));
        assert_eq!([-5.0, 0.0, 10.0, 20.0, 99.0].map(|v| ruler.at(v)), [100, 100, 50, 0, 0]);
        let log = Ruler::over(&[1024.0, 65536.0, 4_194_304.0], 0, 600);
        assert_eq!([1024.0, 65536.0, 4_194_304.0].map(|v| log.at(v)), [0, 300, 600]);
        let decades = Ruler::decades(0.02, 300.0, 0, 500);
        assert_eq!([0.01, 1.0, 1000.0].map(|v| decades.at(v)), [0, 200, 500]);
        assert_eq!(Ruler::over(&[7.0], 0, 10).at(7.0), 5, "a single value is in the middle");
    }

    #[test]
    fn ticks_that_would_touch_are_left_out_but_the_last() {
        let ruler = Ruler::over(&[1.0, 2.0, 3.0, 4.0, 5.0], 0, 40);
        let kept: Vec<f64> = ruler.ticks(|_| 15).into_iter().map(|(value, _)| value).collect();
        assert_eq!(kept, [1.0, 3.0, 5.0]);
    }

    #[test]
    fn labels_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (1024.0, "1,024"),
            (65_536.0, "2^16"),
            (3_200_000.0, "3.2M"),
            (0.25, "0.25"),
            (0.001, "0.001"),
            (-2.5, "-2.5"),
            (1e-4, "0.0001"),
        ] {
            assert_eq!(label(value), text);
        }
    }
}
