//! Outcomes of lanes that wait for each other: since Volta as on the H200, before as a stack must.

use super::{ask, count, counts, word};

#[test]
fn verdicts() {
    for (name, before, since) in [
        ("spin-lock", "livelock", "ok"),
        ("spin-lock-done", "ok", "ok"),
        ("two-locks", "livelock", "ok"),
        ("barrier-after-return", "ok", "ok"),
        ("barrier-in-if", "ok", "deadlock"),
        ("barrier-both-arms", "ok", "ok"),
        ("shuffle-partial", "ok", "ok"),
        ("shuffle-after-exit", "ok", "ok"),
    ] {
        let answer = ask(name);
        let ends = ["pre-volta", "volta"].map(|mode| word(&answer, mode, "it ends").to_owned());
        assert_eq!(ends, [before, since], "{name}");
    }
}

#[test]
fn locks() {
    let answer = ask("spin-lock");
    // On the H200: 32 critical sections, lane k after k failed tries.
    assert_eq!(
        counts(&answer, "volta", ["critical sections", "failed tries of lane 31"]),
        [32, 31]
    );
    assert_eq!(count(&answer, "pre-volta", "critical sections"), 0);
    assert_eq!(word(&answer, "volta, no yield", "it ends"), "livelock");
    let answer = ask("spin-lock-done");
    for mode in ["pre-volta", "volta"] {
        let columns = ["critical sections", "tries of lane 0", "tries of lane 31"];
        assert_eq!(counts(&answer, mode, columns), [32, 1, 32], "{mode}: lane k needs k + 1 tries");
    }
    let answer = ask("two-locks");
    assert_eq!(count(&answer, "volta", "nodes changed"), 2 * 32);
    assert_eq!(
        [word(&answer, "volta", "first lane through"), word(&answer, "volta", "last lane")],
        ["31", "0"]
    );
}

#[test]
fn flags_and_turns() {
    let answer = ask("flag-wait");
    for (order, setter_first) in
        [("fewer", true), ("fall-through", true), ("taken", false), ("more", false)]
    {
        let expected = if setter_first { "ok" } else { "livelock" };
        let columns = ["pre-volta", "volta", "volta, no yield", "load hoisted, volta"];
        assert_eq!(
            columns.map(|c| word(&answer, order, c)),
            [expected, "ok", expected, "livelock"],
            "{order}"
        );
    }
    let answer = ask("taking-turns");
    let rounds = count(&answer, "volta", "rounds a side");
    assert_eq!(count(&answer, "volta", "changes of side"), 2 * rounds - 1);
    assert_eq!(count(&answer, "pre-volta", "changes of side"), 1);
}

#[test]
fn barriers_and_exchange() {
    let answer = ask("barrier-after-return");
    let answer_in_if = ask("barrier-in-if");
    for (mode, past) in [("pre-volta", 64), ("volta", 0)] {
        assert_eq!(count(&answer, mode, "threads that read their partner"), 32, "{mode}");
        assert_eq!(count(&answer_in_if, mode, "threads that got past it"), past, "{mode}");
    }
    let answer = ask("barrier-both-arms");
    for (mode, saw) in [("pre-volta", 32), ("volta", 64)] {
        assert_eq!(count(&answer, mode, "threads that saw their partner"), saw, "{mode}");
        assert_eq!(word(&answer, mode, "thread 1"), "0xaaaaaaaa");
    }
    let answer = ask("activemask-vs-ballot");
    for (order, first) in
        [("fewer", "small"), ("more", "large"), ("taken", "small"), ("fall-through", "large")]
    {
        let columns =
            ["mask, small side", "mask, large side", "ballot behind the branch", "first side"];
        let expected = ["0x000000ff", "0xffffff00", "0x000000ff", first];
        assert_eq!(columns.map(|c| word(&answer, order, c)), expected, "{order}");
    }
    let answer = ask("shuffle-after-exit");
    for mode in ["pre-volta", "volta"] {
        assert_eq!(
            counts(&answer, mode, ["lanes left", "of them with their partner's value"]),
            [16, 16]
        );
    }
    for mode in ["pre-volta", "volta"] {
        assert_eq!(count(&ask("shuffle-partial"), mode, "lanes with their partner's value"), 16);
    }
    let answer = ask("warp-synchronous");
    for order in ["taken", "fall-through", "random:1", "random:2"] {
        let [before, since, expected] =
            counts(&answer, order, ["sum, pre-volta", "sum, volta", "sum expected"]);
        assert_eq!([before, since], [expected; 2], "{order}");
    }
}
