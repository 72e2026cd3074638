use super::*;

fn module() -> ModuleFacts {
    ModuleFacts {
        arch: 90,
        kernels: vec![
            KernelFacts {
                name: "_Z4wavePKiPi".to_owned(),
                code: 0x380,
                registers: 24,
                shared: 256,
                reserved_shared: 1024,
                stack: 160,
                barriers: 1,
                params_at: 0x210,
                params: vec![
                    ParameterFacts { offset: 0, bytes: 8 },
                    ParameterFacts { offset: 8, bytes: 4 },
                ],
                banks: vec![BankFacts {
                    bank: 2,
                    bytes: (0..100).collect(),
                    addresses: Vec::new(),
                }],
                indirect: vec![(0x130, vec![0x140, 0x380])],
                relocations: vec![
                    (0x10, AddressPart::Low, "table".to_owned(), 4),
                    (0x20, AddressPart::Call, "$outside".to_owned(), 0),
                ],
                functions: vec![("$wave$_Z5twistii".to_owned(), 0x200, 0x2f0)],
                block_limit: Some(([256, 1, 1], false)),
                cluster: Some([2, 1, 1]),
                source: Some("wave \"2\".cu".to_owned()),
                lines: (0..40).map(|i| (16 * i, 7 + i)).collect(),
                ptx_lines: vec![(0, 21), (0x10, 24)],
            },
            KernelFacts {
                name: "other".to_owned(),
                registers: 8,
                params_at: 0x210,
                ..KernelFacts::default()
            },
        ],
        variables: vec![VariableFacts {
            name: "table".to_owned(),
            constant: true,
            offset: 4,
            size: 32,
            bytes: vec![1, 0xab],
            addresses: vec![(8, "other_table".to_owned(), 16)],
        }],
        banks: vec![BankFacts {
            bank: 4,
            bytes: vec![0; 8],
            addresses: vec![(0, "table".to_owned(), 0)],
        }],
        banks_before: 3,
        functions: vec![FunctionFacts {
            name: "$outside".to_owned(),
            code: 0x80,
            relocations: vec![(0x30, AddressPart::High, "table".to_owned(), 0)],
            indirect: vec![(0x10, vec![0x20])],
            source: Some("wave.cu".to_owned()),
            lines: vec![(0, 3)],
            ptx_lines: vec![(0, 5)],
        }],
    }
}

#[test]
fn facts_survive_writing_and_reading() {
    let text = write(&module());
    assert!(text.lines().all(|line| is_facts(line) && line.len() <= 100), "{text}");
    let file = format!("//! kernel k\n\n{text}\n\tcode for sm_90\n");
    assert_eq!(read(&file).expect("readable"), module());
    assert_eq!(write(&read(&file).expect("readable")), text);
}

#[test]
fn pairs_of_a_line_table_share_lines() {
    let text = write(&module());
    assert!(text.contains("(0x0, 7), (0x10, 8), (0x20, 9), "), "{text}");
    let rows = text.lines().filter(|line| line.contains("), (")).count();
    assert!(rows < 13, "{text}");
}

/// Returns the marked words of the file, the message and the help of the error.
fn error(file: &str) -> (String, String, String) {
    let found = read(file).expect_err("an error");
    let span = found.labels[0].span;
    let marked = &file[span.start as usize..span.end as usize];
    (marked.to_owned(), found.message, found.help.unwrap_or_default())
}

#[test]
fn a_file_without_facts() {
    let (_, message, help) = error("//! kernel k\n\tcode for sm_90\n");
    assert!(message.contains("`//@`") && help.contains("simt-sim import"), "{message}; {help}");
}

#[test]
fn errors_name_their_place_in_the_file() {
    let whole = format!("//! title x\n{}// end\n", write(&module()));
    let changed = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from}");
        error(&whole.replacen(from, to, 1))
    };
    let (marked, _, help) = changed("registers: 24", "register: 24");
    assert_eq!(
        (marked.trim_end_matches(':'), help.as_str()),
        ("register", "did you mean `registers`?")
    );
    let (_, message, help) = changed("params_at: 0x210,", "");
    assert!(message.contains("params_at") && help.contains("add `params_at: ..`"), "{message}");
    let (marked, message, _) = changed("registers: 24", "registers: 300");
    assert_eq!(
        (marked.as_str(), message.as_str()),
        ("registers", "300 registers: at most 255 are possible")
    );
    let (marked, ..) = changed("(0x10, 8)", "(0x0, 8)");
    assert_eq!(marked, "lines");
    let (_, message, _) = changed("\"01ab\"", "\"01a\"");
    assert!(message.contains("odd"), "{message}");
    let (_, message, _) = changed("\"01ab\"", "\"01xb\"");
    assert!(message.contains("'x'"), "{message}");
    let (marked, message, _) = changed("stack: 160", "stack: 4294967295");
    assert_eq!(marked, "stack", "{message}");
    let (marked, message, _) = changed("[0x140", "[0x141");
    assert_eq!(marked, "indirect", "{message}");
    let (_, message, _) = changed("\"other\"", "\"_Z4wavePKiPi\"");
    assert!(message.contains("twice"), "{message}");
}

#[test]
fn cut_facts_are_an_error() {
    let whole = write(&module());
    for end in whole.char_indices().map(|(i, _)| i).take(whole.len() - 2) {
        assert!(read(&whole[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn deep_nesting_is_an_error() {
    assert!(read(&format!("//@ {}", "[".repeat(100_000))).is_err());
}
