//! Points for figures. A hidden input counts only as pass or fail, so the points reveal no more
//! than that.

use super::super::rules::Band;

/// Figure of a set of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Figure {
    /// No such runs.
    NoRun,
    /// No figure: a wrong result, or the figure does not exist.
    None,
    /// Worst figure of the runs.
    Of(f64),
}

impl Figure {
    /// Converts a value; without one, the figure is out of every band.
    pub(super) fn of(value: Option<f64>) -> Figure {
        value.map_or(Figure::None, Figure::Of)
    }
}

/// Finds the band that the open inputs hold, which hidden inputs must hold to pass. The best band
/// if no input is open or none holds.
fn wanted(bands: &[Band], open: Figure) -> usize {
    match open {
        Figure::Of(value) => bands.iter().position(|band| band.holds(value)).unwrap_or(0),
        Figure::NoRun | Figure::None => 0,
    }
}

/// Returns true if a hidden input holds the open inputs' band or a better one.
pub(super) fn passes(bands: &[Band], open: Figure, hidden: Figure) -> bool {
    let enough = bands.iter().take(wanted(bands, open) + 1);
    matches!(hidden, Figure::Of(value) if enough.into_iter().any(|band| band.holds(value)))
}

/// Points of the band that the open inputs hold. If a hidden input fails, those of the next band
/// below; none if a run has no figure.
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
