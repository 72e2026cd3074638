use super::*;
use simt_core::base::LaneMask;
use simt_core::observe::samples::{self, Pairing};

/// Descriptions of the sample stream's steps, as a CLI would make them.
fn steps() -> Vec<StepInfo> {
    let step = |source: Option<u32>, line: u32, text: &str| StepInfo {
        source,
        line,
        text: text.to_owned(),
        is_branch: false,
        reconverge_line: None,
        origin: None,
        machine: None,
        replaces: None,
    };
    let branch = StepInfo {
        is_branch: true,
        reconverge_line: Some(26),
        ..step(Some(1), 21, "@!p bra skip;")
    };
    vec![
        step(Some(0), 20, "setp.eq.u32 p, r, 0;"),
        branch,
        step(Some(2), 22, "ld.global.u32 a, [x];"),
        step(Some(3), 23, "ld.global.u32 b, [y];"),
        step(Some(4), 24, "st.global.u32 [x], a;"),
        step(None, 21, "join"),
        step(Some(5), 26, "bar.sync 0;"),
    ]
}

/// A reduction in one block of 512 threads, on a machine with one SM and one scheduler.
pub(crate) fn sample(pairing: Pairing) -> RunInput {
    RunInput {
        program: "programs/reduce.ir".to_owned(),
        kernel: "reduce".to_owned(),
        mode: "volta".to_owned(),
        machine_code: None,
        machine: MachineFacts {
            name: "teaching".to_owned(),
            sms: 1,
            schedulers_per_sm: 1,
            max_warps_per_sm: 16,
            warp_size: 32,
            clock_hz: 1_000_000_000,
            shared_banks: 32,
            launch_overhead: 0,
            fingerprint: Default::default(),
        },
        grid: [1, 1, 1],
        block: [512, 1, 1],
        constants: vec![("n".to_owned(), 16_777_216), ("offset".to_owned(), -4)],
        launch: LaunchFacts {
            registers_per_thread: 12,
            static_shared: 0,
            dynamic_shared: 2048,
            blocks_per_sm: 4,
            limited_by: "warps".to_owned(),
        },
        finish: Ending::Ok,
        verdict: None,
        totals: samples::counts(512, pairing).finish(),
        steps: steps(),
        expectations: vec![
            ExpectationResult {
                text: "out == block_sum(in)".to_owned(),
                passed: true,
                detail: String::new(),
            },
            ExpectationResult {
                text: "sum(out) == 7".to_owned(),
                passed: false,
                detail: "found 8".to_owned(),
            },
        ],
        notes: vec!["blocks communicate, so SMs ran interleaved".to_owned()],
    }
}

/// The same reduction in a livelock.
pub(crate) fn stuck() -> RunInput {
    let group = |mask, state: &str, line| {
        LaneGroup::new(0, 3, LaneMask(mask), line, "bra.ne spin;".to_owned(), state.to_owned())
    };
    RunInput {
        finish: Ending::Livelock,
        verdict: Some(Verdict {
            message: "31 lanes of warp 3 spin on what lane 3 holds".to_owned(),
            lanes: vec![group(0xffff_fff7, "spin", 7), group(8, "wait to reconverge", 9)],
            help: Some("try --mode volta".to_owned()),
        }),
        expectations: Vec::new(),
        ..sample(samples::neighbored)
    }
}

fn json(input: RunInput) -> serde_json::Value {
    serde_json::from_str(&Run::build(input).to_json().unwrap()).unwrap()
}

#[test]
fn json_has_the_promised_keys_in_order() {
    let text = Run::build(sample(samples::neighbored)).to_json().unwrap();
    let promised = "schema version program kernel mode machine grid block warps constants finish verdict cycles metrics \
                    trust branches predicated expectations histogram stalls slots memory instructions launch machine_facts notes";
    let top_level: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  \"")?.split_once('"').map(|(key, _)| key))
        .collect();
    assert_eq!(top_level.join(" "), promised);
}

#[test]
fn json_of_a_known_run() {
    let json = json(sample(samples::neighbored));
    assert_eq!(json["schema"], "simt-sim/run/1");
    assert_eq!(json["finish"], "ok");
    assert!(json["verdict"].is_null());
    assert_eq!((&json["machine"], &json["machine_facts"]["sms"]), (&"teaching".into(), &1.into()));
    assert_eq!(
        (&json["grid"][0], &json["block"][0], &json["constants"]["offset"]),
        (&1.into(), &512.into(), &(-4).into())
    );

    let metrics = json["metrics"].as_object().unwrap();
    assert!(metrics.values().all(serde_json::Value::is_number), "each metric is a plain number");
    for (name, count) in [
        ("conditional_branches", 144),
        ("divergent_branch", 95),
        ("gld_requests", 190),
        ("gld_transactions", 510),
    ] {
        assert_eq!(metrics[name].as_u64(), Some(count), "{name} is an integer");
    }
    assert!(!metrics.contains_key("shared_efficiency"), "no value, no key");

    let branch = &json["branches"][0];
    let lanes_working = 511.0 / 144.0;
    assert_eq!(json["branches"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&branch["line"], &branch["pc"], &branch["instruction"]),
        (&21.into(), &1.into(), &1.into())
    );
    assert_eq!((&branch["executed"], &branch["divergent"]), (&144.into(), &95.into()));
    assert_eq!(
        (&branch["reconverges_at"], &branch["average_active_lanes"]),
        (&26.into(), &32.0.into())
    );
    assert_eq!(branch["taken_lanes_average"], 32.0 - lanes_working);
    assert_eq!(
        (&json["expectations"][1]["passed"], &json["expectations"][1]["detail"]),
        (&false.into(), &"found 8".into())
    );
}

#[test]
fn slots_and_histogram_add_up() {
    let run = Run::build(sample(samples::interleaved));
    let lost: u64 = run.slots.lost.0.iter().map(|&(_, n)| n).sum();
    assert_eq!(run.slots.used + lost, run.slots.total);
    assert_eq!(run.slots.total, run.cycles, "one SM, one scheduler");
    assert_eq!(run.slots.lost.get(&"no_warp"), Some(&144));
    assert_eq!(run.slots.lost.get(&"barrier"), Some(&288));
    assert_eq!(run.histogram.len(), 33);
    assert_eq!(run.metric("inst_executed"), Some(Value::Count(run.histogram.iter().sum())));
}

#[test]
fn a_verdict_names_lanes_as_ranges_and_mask() {
    let json = json(stuck());
    assert_eq!(json["finish"], "livelock");
    let group = &json["verdict"]["lanes"][0];
    assert_eq!((&group["lanes"], &group["mask"]), (&"0-2, 4-31".into(), &"0xfffffff7".into()));
    for finish in
        [Ending::Ok, Ending::Deadlock, Ending::Livelock, Ending::CycleLimit, Ending::Fault]
    {
        assert_eq!(serde_json::to_value(finish).unwrap(), finish.name());
    }
}

#[test]
fn a_step_without_description_is_printed_all_the_same() {
    let run = Run::build(RunInput { steps: Vec::new(), ..sample(samples::neighbored) });
    assert_eq!(run.instructions.len(), samples::STEPS);
    assert_eq!(
        (run.branches.len(), run.branches[0].text.as_str(), run.branches[0].executed),
        (1, "?", 144)
    );
}
