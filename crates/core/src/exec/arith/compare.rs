//! Comparisons of `setp` and `set` (PTX ISA, "Comparison and Selection Instructions").

#![expect(
    clippy::neg_cmp_op_on_partial_ord,
    clippy::double_comparisons,
    clippy::eq_op,
    reason = "NaN: `!(a < b)` is not `a >= b`, `a < b || a > b` is not `a != b`, `a == a` is false"
)]

use crate::isa::Compare;

/// A comparison known at compile time, so that each lane loop contains exactly one.
pub(crate) trait Comparison {
    /// Returns `a CMP b`. Works for integers too: they are never unordered.
    fn holds<T: PartialOrd>(a: T, b: T) -> bool;
}

macro_rules! comparisons {
    ($($name:ident |$a:ident, $b:ident| $body:expr),+ $(,)?) => {
        $(
            pub(crate) struct $name;
            impl Comparison for $name {
                #[inline(always)]
                fn holds<T: PartialOrd>($a: T, $b: T) -> bool {
                    $body
                }
            }
        )+

        /// An action for a comparison that is known at run time.
        pub(crate) trait WithComparison {
            /// Result of the action.
            type Output;
            /// Runs with the comparison `C`.
            fn run<C: Comparison>(self) -> Self::Output;
        }

        /// Dispatches from a comparison as a value to one as a type.
        #[inline(always)]
        pub(crate) fn with_comparison<W: WithComparison>(compare: Compare, with: W) -> W::Output {
            match compare { $(Compare::$name => with.run::<$name>()),+ }
        }
    };
}
comparisons!(
    Eq | a,
    b | a == b,
    Ne | a,
    b | a < b || a > b,
    Lt | a,
    b | a < b,
    Le | a,
    b | a <= b,
    Gt | a,
    b | a > b,
    Ge | a,
    b | a >= b,
    Equ | a,
    b | !(a < b || a > b),
    Neu | a,
    b | a != b,
    Ltu | a,
    b | !(a >= b),
    Leu | a,
    b | !(a > b),
    Gtu | a,
    b | !(a <= b),
    Geu | a,
    b | !(a < b),
    Num | a,
    b | a == a && b == b,
    Nan | a,
    b | a != a || b != b,
);

/// Returns the comparison of integers that equals this one, in the form with fewest operations.
pub(crate) fn of_integers(compare: Compare) -> Compare {
    match compare {
        Compare::Equ => Compare::Eq,
        Compare::Ne => Compare::Neu,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    struct On(f64, f64);
    impl WithComparison for On {
        type Output = bool;
        fn run<C: Comparison>(self) -> bool {
            C::holds(self.0, self.1)
        }
    }

    #[test]
    fn each_comparison_accepts_its_outcomes() {
        use Compare::{Eq, Equ, Ge, Geu, Gt, Gtu, Le, Leu, Lt, Ltu, Nan, Ne, Neu, Num};
        let (l, e, g) = (Some(Ordering::Less), Some(Ordering::Equal), Some(Ordering::Greater));
        let accepted: [(Compare, &[Option<Ordering>]); 14] = [
            (Eq, &[e]),
            (Ne, &[l, g]),
            (Lt, &[l]),
            (Le, &[l, e]),
            (Gt, &[g]),
            (Ge, &[g, e]),
            (Equ, &[e, None]),
            (Neu, &[l, g, None]),
            (Ltu, &[l, None]),
            (Leu, &[l, e, None]),
            (Gtu, &[g, None]),
            (Geu, &[g, e, None]),
            (Num, &[l, e, g]),
            (Nan, &[None]),
        ];
        for (compare, outcomes) in accepted {
            for (a, b) in
                [(1.0, 2.0), (2.0, 2.0), (3.0, 2.0), (f64::NAN, 1.0), (1.0, f64::NAN), (0.0, -0.0)]
            {
                let expected = outcomes.contains(&a.partial_cmp(&b));
                assert_eq!(with_comparison(compare, On(a, b)), expected, "{a} {compare:?} {b}");
            }
        }
    }
}
