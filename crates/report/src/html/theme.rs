//! Colours for light and dark in one table, and the theme switch.
//!
//! The hues of paths are Okabe and Ito's, as in the pictures of `report::plot`. No information is
//! in colour alone: lane states also have patterns and letters, bars have figures beside them.

use std::fmt::Write;

use maud::{Markup, html};

/// Variables of the style sheet: name, light value, dark value.
const COLOURS: &[(&str, &str, &str)] = &[
    ("page", "#ffffff", "#15181c"),
    ("raised", "#f5f6f8", "#1d2127"),
    ("line", "#d5d9de", "#373d46"),
    ("ink", "#1c2024", "#e6e9ed"),
    ("soft", "#545c66", "#a4adb8"),
    ("link", "#0a5c96", "#7cc0f0"),
    ("focus", "#0072b2", "#56b4e9"),
    ("good", "#00694d", "#4fd6ad"),
    ("bad", "#a83a00", "#ff9a5c"),
    ("bar", "#a9d0ea", "#1f567d"),
    ("now", "#fff1b8", "#4a4011"),
    ("held", "#eaf1f7", "#232c36"),
    ("hot", "#d55e00", "#ff8a3d"),
    ("path0", "#0072b2", "#3d9bd8"),
    ("path1", "#e69f00", "#e69f00"),
    ("path2", "#009e73", "#14b88a"),
    ("path3", "#d55e00", "#e87324"),
    ("path4", "#56b4e9", "#86cdf5"),
    ("path5", "#cc79a7", "#d68fb6"),
    ("path6", "#d8cb2e", "#f0e442"),
    ("path0-ink", "#ffffff", "#0b0d10"),
    ("path1-ink", "#1c2024", "#0b0d10"),
    ("path2-ink", "#ffffff", "#0b0d10"),
    ("path3-ink", "#ffffff", "#0b0d10"),
    ("path4-ink", "#1c2024", "#0b0d10"),
    ("path5-ink", "#1c2024", "#0b0d10"),
    ("path6-ink", "#1c2024", "#0b0d10"),
    ("masked", "#fafafa", "#1a1d22"),
    ("waits", "#ececec", "#2a2f36"),
    ("pattern", "#7c848d", "#79828d"),
    ("exited", "#c3c7cc", "#474d55"),
];

/// Returns the variables for the theme of the system or the switch.
/// On paper always light.
pub(super) fn variables() -> String {
    let all = |of: fn(&(&str, &'static str, &'static str)) -> &'static str| {
        COLOURS.iter().fold(String::new(), |mut out, row| {
            let _ = write!(out, "--{}:{};", row.0, of(row));
            out
        })
    };
    let (light, dark) = (all(|row| row.1), all(|row| row.2));
    format!(
        ":root{{color-scheme:light;{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n\
         @media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}\n"
    )
}

/// Makes the theme switch.
pub(super) fn switch() -> Markup {
    html! {
        button.theme type="button" hidden aria-label="Switch between light and dark" { "Dark" }
    }
}
