use super::*;

#[test]
fn text_from_outside_cannot_steer_a_page() {
    for (text, expected) in [
        ("a\tb", "a\tb"),
        ("a\u{1b}[31mb\0", "a\u{fffd}[31mb\u{fffd}"),
        ("x\u{202e}y\u{2066}z", "x\u{fffd}y\u{fffd}z"),
        ("Zürich \u{1f600}", "Zürich \u{1f600}"),
    ] {
        assert_eq!(shown(text), expected);
    }
}

#[test]
fn shapes_leave_out_what_is_one() {
    for (sizes, text) in
        [([65_536, 1, 1], "65,536"), ([4, 2, 1], "4 x 2"), ([4, 1, 2], "4 x 1 x 2")]
    {
        assert_eq!(shape(sizes), text);
    }
}
