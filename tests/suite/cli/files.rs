//! Files that are no programs, and machine files with errors.

use std::path::Path;

use super::{DIAMOND, file, good, json, refused, simt_sim};

#[test]
fn files_that_are_no_programs() {
    let empty = file("empty.ir", "");
    let garbage: Vec<u8> =
        (0..4096u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let garbage = file("garbage.ir", garbage);
    let printable: String =
        (0..20_000u32).map(|i| char::from(33 + (i.wrapping_mul(40_503) >> 7) as u8 % 90)).collect();
    let printable = file("printable.ir", printable);
    let nul = file("nul.ir", "\0\0\0\0");
    let deep =
        file("deep.ir", format!(".entry k() {} ret; {}", "{".repeat(100_000), "}".repeat(100_000)));
    let parentheses = file(
        "parentheses.ir",
        format!(
            "//! grid = {}1{}\n//! block = 32\n.entry k() {{ ret; }}\n",
            "(".repeat(100_000),
            ")".repeat(100_000)
        ),
    );
    let negations = file(
        "negations.ir",
        format!("//! grid = {}1\n//! block = 32\n.entry k() {{ ret; }}\n", "-".repeat(100_000)),
    );
    let folder = Path::new(&empty).parent().map(|p| p.display().to_string()).unwrap_or_default();
    for command in ["run", "check", "cfg", "print"] {
        refused(&[command, "nowhere.ir"], &["cannot read `nowhere.ir`"]);
        refused(&[command, &folder], &["not a regular file"]);
        refused(&[command, &garbage], &["not UTF-8"]);
        for path in [&printable, &nul, &deep] {
            assert_eq!(simt_sim(&[command, path]).code, 2, "{command} {path}");
        }
    }
    refused(&["run", &empty], &["has no kernel", ".entry"]);
    refused(&["cfg", &empty], &["has no kernel"]);
    assert_eq!(simt_sim(&["run", &parentheses]).code, 2);
    assert_eq!(simt_sim(&["run", &negations]).code, 2);
    refused(&["cfg", DIAMOND, "-o", "/nonexistent/folder/out.dot"], &["cannot write"]);
    refused(&["cfg", DIAMOND, "-o", &folder], &["cannot write"]);
}

#[test]
fn machines_that_are_none() {
    refused(&["run", DIAMOND, "--machine", "ampera"], &["did you mean `ampere`?"]);
    refused(
        &["run", DIAMOND, "--machine", "cray"],
        &["no machine `cray`", "teaching, fermi", ".ron"],
    );
    refused(&["run", DIAMOND, "--machine", ""], &["no machine"]);
    refused(&["machine", "ampera"], &["did you mean `ampere`?"]);
    refused(&["run", DIAMOND, "--machine", "nowhere.ron"], &["cannot read `nowhere.ron`"]);

    let h200 = good(&["machine", "h200"]);
    let like = |name: &str, from: &str, to: &str| {
        assert!(h200.contains(from), "{from}");
        file(name, h200.replacen(from, to, 1))
    };
    let copy = file("copy.ron", &h200);
    let [preset, read] =
        ["h200", copy.as_str()].map(|m| json(&["run", DIAMOND, "--machine", m])["cycles"].clone());
    assert_eq!(preset, read);
    let refused_machine =
        |path: &str, words: &[&str]| refused(&["run", DIAMOND, "--machine", path], words);
    refused_machine(
        &like("typo.ron", "max_warps", "max_wraps"),
        &["max_wraps: 64", "^^^^", "did you mean `max_warps`"],
    );
    for value in ["0", "4097", "4294967295"] {
        let path = like(&format!("sms{value}.ron"), "sms: 132", &format!("sms: {value}"));
        refused_machine(&path, &["1 to 4096 SMs", &format!("sms: {value}")]);
    }
    refused_machine(&like("negative.ron", "sms: 132", "sms: -1"), &["sms: -1"]);
    refused_machine(
        &like("nan.ron", "dram_bytes_per_cycle: 2273.0", "dram_bytes_per_cycle: NaN"),
        &["dram_bytes_per_cycle"],
    );
    refused_machine(&like("wide.ron", "warp_size: 32", "warp_size: 64"), &["warp_size: 64"]);
    refused_machine(
        &like("banks.ron", "shared_banks: 32", "shared_banks: 0"),
        &["shared_banks: 0"],
    );
    refused_machine(&file("open.ron", "("), &["-->"]);
    refused_machine(&file("empty.ron", ""), &["error"]);
}

/// Sets every number of a machine file in turn to 0 and to a huge value: an error or a run, never a
/// panic or an endless run.
#[test]
fn no_number_in_a_machine_file_breaks_a_run() {
    let teaching = good(&["machine", "teaching"]);
    let mut tried = 0;
    for (number, line) in teaching.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let Some((key, _)) = code.split_once(':') else { continue };
        let digits = |c: char| c.is_ascii_digit();
        let Some(start) = code.find(digits).filter(|&at| at > key.len()) else { continue };
        let end = code[start..].find(|c: char| !digits(c)).map_or(code.len(), |n| start + n);
        for value in ["0", "4000000000"] {
            let changed = format!("{}{value}{}", &line[..start], &line[end..]);
            let text: String = teaching
                .lines()
                .enumerate()
                .map(|(i, l)| if i == number { &changed } else { l })
                .flat_map(|l| [l, "\n"])
                .collect();
            let path = file(&format!("number{number}_{value}.ron"), text);
            let ended = simt_sim(&[
                "run",
                "programs/small/for_tid.ir",
                "--machine",
                &path,
                "-q",
                "--max-cycles",
                "100000000",
            ]);
            assert!(
                matches!(ended.code, 0 | 2 | 4),
                "{changed}: exit code {}\n{}",
                ended.code,
                ended.err
            );
            tried += 1;
        }
    }
    assert!(tried > 60, "only {tried} numbers were tried");
}
