//! Points for figures. Of a hidden input nothing counts but whether it passes, so that the points tell no more than that.

use super::super::rules::Band;

/// The figure of some runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Figure {
    /// There are no such runs.
    NoRun,
    /// There is none: a result is wrong, or there is no such figure.
    None,
    /// The worst of them.
    Of(f64),
}

impl Figure {
    /// As a value; out of every band where there is none.
    pub(super) fn of(value: Option<f64>) -> Figure {
        value.map_or(Figure::None, Figure::Of)
    }
}

/// The band that the open inputs hold: hidden ones pass if they hold it as well. The best one where no input is open, or none holds.
fn wanted(bands: &[Band], open: Figure) -> usize {
    match open {
        Figure::Of(value) => bands.iter().position(|band| band.holds(value)).unwrap_or(0),
        Figure::NoRun | Figure::None => 0,
    }
}

/// Whether a hidden input passes: it holds the band of the open inputs, or a better one.
pub(super) fn passes(bands: &[Band], open: Figure, hidden: Figure) -> bool {
    let enough = bands.iter().take(wanted(bands, open) + 1);
    matches!(hidden, Figure::Of(value) if enough.into_iter().any(|band| band.holds(value)))
}

/// The points: those of the band that the open inputs hold, or of the next one below where a hidden input does not hold it, too. None
/// where a run has no figure.
pub(super) fn points(bands: &[Band], open: Figure, hidden: &[Figure]) -> f64 {
    let holds = match open {
        Figure::Of(value) => bands.iter().position(|band| band.holds(value)),
        Figure::NoRun => (!hidden.is_empty()).then_some(0),
        Figure::None => None,
    };
    let Some(band) = holds.filter(|_| !hidden.contains(&Figure::None)) else { return 0.0 };
    let fails = hidden.iter().any(|&hidden| !passes(bands, open, hidden));
    bands.get(band + usize::from(fails)).map_or(0.0, |band| band.points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_input_counts_as_pass_or_fail_alone() {
        let band = |most, points| Band { at_most: Some(most), at_least: None, points };
        let bands = [band(1.0, 4.0), band(10.0, 2.0), band(100.0, 1.0)];
        let of = |values: &[f64]| values.iter().map(|&value| Figure::Of(value)).collect::<Vec<_>>();
        for (open, hidden, wanted) in [
            (Figure::Of(1.0), of(&[1.0]), 4.0),
            (Figure::Of(1.0), of(&[2.0]), 2.0),
            (Figure::Of(1.0), of(&[50.0]), 2.0),
            (Figure::Of(1.0), of(&[1e9, 5.0]), 2.0),
            (Figure::Of(5.0), of(&[1.0]), 2.0),
            (Figure::Of(5.0), of(&[11.0]), 1.0),
            (Figure::Of(50.0), of(&[1000.0]), 0.0),
            (Figure::Of(1e9), of(&[0.0]), 0.0),
            (Figure::NoRun, of(&[1.0]), 4.0),
            (Figure::NoRun, of(&[5.0]), 2.0),
            (Figure::NoRun, of(&[1e9]), 2.0),
            (Figure::NoRun, Vec::new(), 0.0),
            (Figure::None, of(&[0.0]), 0.0),
            (Figure::Of(1.0), vec![Figure::None], 0.0),
        ] {
            assert_eq!(points(&bands, open, &hidden), wanted, "{open:?} {hidden:?}");
        }
    }
}
