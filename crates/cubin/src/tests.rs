//! Tests on images that are built here.

mod image;

use simt_core::Program;
use simt_core::isa::Space;
use simt_core::kernel::layout::{BASE_ALIGN, Bases};
use simt_core::sass::facts::{
    self, AddressPart, BankFacts, KernelFacts, ParameterFacts, VariableFacts,
};

use crate::{CubinError, join, part};
use image::{CUDA, Elf, REL_64, attribute, bytes_of, halves, sample};

#[test]
fn facts_of_a_kernel() {
    let found = crate::facts(&sample().bytes()).expect("a cubin");
    assert_eq!(found.arch, 90);
    let [kernel] = found.kernels.as_slice() else { panic!("{found:?}") };
    let parameter = |offset, bytes| ParameterFacts { offset, bytes };
    assert_eq!(
        *kernel,
        KernelFacts {
            name: "k".to_owned(),
            code: 0x60,
            registers: 24,
            shared: 256,
            reserved_shared: 1024,
            stack: 48,
            barriers: 1,
            params_at: 0x210,
            params: vec![parameter(0, 8), parameter(8, 4)],
            banks: vec![BankFacts {
                bank: 2,
                bytes: vec![0x20, 0, 0, 0, 0x30, 0, 0, 0],
                addresses: Vec::new(),
            }],
            indirect: vec![(0x10, vec![0x20, 0x30])],
            relocations: Vec::new(),
            functions: vec![("$k$twist".to_owned(), 0x40, 0x60)],
            block_limit: Some(([64, 2, 1], true)),
            cluster: None,
            source: Some("wave.cu".to_owned()),
            lines: vec![(0, 7), (0x10, 8), (0x30, 9)],
            ptx_lines: Vec::new(),
        }
    );
}

#[test]
fn variables_and_banks() {
    let found = crate::facts(&sample().bytes()).expect("a cubin");
    let variable = |name: &str, constant, offset, size, bytes: &[u8]| VariableFacts {
        name: name.to_owned(),
        constant,
        offset,
        size,
        bytes: bytes.to_vec(),
        addresses: Vec::new(),
    };
    let mut table = variable("table", false, 0, 16, &[5]);
    table.addresses = vec![(8, "zeros".to_owned(), 4)];
    assert_eq!(
        found.variables,
        [
            variable("weights", true, 0, 8, &[1, 2]),
            variable(".nv.constant3+0x8", true, 8, 4, &[9]),
            table,
            variable("zeros", false, 256, 64, &[]),
        ]
    );
    let addresses = vec![(0, "table".to_owned(), 0), (8, "zeros".to_owned(), 16)];
    assert_eq!(found.banks, [BankFacts { bank: 4, bytes: vec![0; 16], addresses }]);
}

/// Variables with and without initial bytes lie in the order of their symbols, 256 bytes apart.
#[test]
fn variables_in_the_order_of_their_symbols() {
    let mut elf = Elf::new(90);
    elf.kernel("k", 12);
    let initialized = elf.section(".nv.global.init", 8, vec![7; 12]);
    let zero = elf.section(".nv.global", 8, vec![0; 308]);
    elf.symbol("flag", 1, 0, zero, 304, 4);
    elf.symbol("last_in_section", 1, 0, initialized, 8, 4);
    elf.symbol("table", 1, 0, zero, 0, 300);
    elf.symbol("first_in_section", 1, 0, initialized, 0, 8);
    let found = crate::facts(&elf.bytes()).expect("a cubin");
    let places: Vec<(&str, u32)> =
        found.variables.iter().map(|v| (v.name.as_str(), v.offset)).collect();
    assert_eq!(
        places,
        [("flag", 0), ("last_in_section", 256), ("table", 512), ("first_in_section", 1024)]
    );
}

#[test]
fn no_parameters_and_no_tables() {
    let mut elf = Elf::new(90);
    elf.kernel("bare", 12);
    elf.section(".nv.constant0.bare", 1, vec![0; 0x210]);
    let found = crate::facts(&elf.bytes()).expect("a cubin");
    let kernel = &found.kernels[0];
    assert_eq!((kernel.params_at, kernel.params.len(), kernel.shared), (0x210, 0, 0));
    assert_eq!((kernel.lines.len(), kernel.source.as_ref()), (0, None));
}

#[test]
fn architectures() {
    for arch in [75, 86, 90, 120] {
        let mut elf = Elf::new(arch);
        elf.kernel("k", 12);
        elf.section(".nv.shared.k", 8, vec![0; 2048]);
        let found = crate::facts(&elf.bytes()).expect("a cubin");
        let reserved = if arch >= 90 { 1024 } else { 0 };
        assert_eq!(found.arch, arch);
        let kernel = &found.kernels[0];
        assert_eq!((kernel.shared, kernel.reserved_shared), (2048 - reserved, reserved));
    }
    let mut old = Elf::new(52);
    old.kernel("k", 12);
    (old.abi, old.flags) = (7, 0x0034_0534);
    assert_eq!(crate::facts(&old.bytes()).expect("a cubin").arch, 52);
}

#[test]
fn files_that_are_no_cubins() {
    let error = |bytes: &[u8]| crate::facts(bytes).expect_err("an error");
    assert_eq!(error(b""), CubinError::NotElf);
    assert_eq!(error(b"//! kernel k\n"), CubinError::NotElf);
    assert!(matches!(error(&[0x50, 0xed, 0x55, 0xba, 1, 0]), CubinError::Container(_)));
    assert!(matches!(error(b"\x7fELF"), CubinError::Damaged(_)));
    let mut host = Elf::new(90);
    host.machine = 62;
    assert_eq!(error(&host.bytes()), CubinError::Machine(62));
    host.section(".nv_fatbin", 1, vec![0; 8]);
    assert!(error(&host.bytes()).to_string().contains("cuobjdump -xelf"));
    let mut relocatable = Elf::new(90);
    relocatable.kind = 1;
    assert_eq!(error(&relocatable.bytes()), CubinError::Relocatable);
    assert!(matches!(error(&Elf::new(90).bytes()), CubinError::Unsupported(_)));
}

#[test]
fn addresses_that_the_driver_writes_into_instructions() {
    let mut elf = Elf::new(90);
    let k = elf.kernel("k", 12);
    let section = elf.section(".text.helper", 1, vec![0; 32]);
    let helper = elf.symbol("helper", 2, 0, section, 0, 32);
    let print = elf.symbol("vprintf", 2, 0, 0, 0, 0);
    elf.relocate(".text.k", &[(0x20, print, 57, 0), (0, k, 56, 0x20), (0x10, helper, 75, 0)]);
    elf.relocate(".text.helper", &[(0x10, print, 56, 0)]);
    let found = crate::facts(&elf.bytes()).expect("a cubin");
    let name = str::to_owned;
    let expected = [
        (0, AddressPart::Low, name("k"), 0x20),
        (0x10, AddressPart::Call, name("helper"), 0),
        (0x20, AddressPart::High, name("vprintf"), 0),
    ];
    assert_eq!(found.kernels[0].relocations, expected);
    let [function] = &found.functions[..] else { panic!("{:?}", found.functions) };
    assert_eq!((function.name.as_str(), function.code), ("helper", 32));
    assert_eq!(function.relocations, [(0x10, AddressPart::Low, name("vprintf"), 0)]);

    let mut elf = Elf::new(90);
    elf.kernel("k", 12);
    let elsewhere = elf.symbol("elsewhere", 2, 0, 0, 0, 0);
    elf.relocate(".text.k", &[(0, elsewhere, 56, 0)]);
    let error = crate::facts(&elf.bytes()).expect_err("an error").to_string();
    assert!(error.contains("`elsewhere`"), "{error}");

    let mut elf = Elf::new(90);
    let k = elf.kernel("k", 12);
    elf.relocate(".text.k", &[(0, k, 99, 0)]);
    let error = crate::facts(&elf.bytes()).expect_err("an error").to_string();
    assert!(error.contains("relocation type 99"), "{error}");
}

#[test]
fn functions_of_the_runtime_system() {
    // Functions of the runtime system are called through addresses in bank 4.
    let mut elf = Elf::new(90);
    elf.kernel("k", 12);
    elf.section(".nv.constant0.k", 1, vec![0; 0x210]);
    elf.section(".nv.constant4", 1, vec![0; 16]);
    let names = ["vprintf", "elsewhere"];
    let [print, elsewhere] = names.map(|name| elf.symbol(name, 2, 0, 0, 0, 0));
    elf.relocate(".nv.constant4", &[(8, print, 2, 0)]);
    let found = crate::facts(&elf.bytes()).expect("a cubin");
    assert_eq!(found.banks[0].addresses, [(8, "vprintf".to_owned(), 0)]);
    elf.relocate(".nv.constant4", &[(0, elsewhere, 2, 0)]);
    let error = crate::facts(&elf.bytes()).expect_err("an error").to_string();
    assert!(error.contains("`elsewhere`"), "{error}");
}

/// What a cubin calls of the device runtime gets code, and its variable a place behind the others.
#[test]
fn the_grid_barrier_of_the_device_runtime() {
    let mut elf = Elf::new(90);
    elf.kernel("k", 12);
    let global = elf.section(".nv.global", 8, vec![0; 16]);
    elf.symbol("table", 1, 0, global, 0, 16);
    let sync = elf.symbol("__cuda_syscall_CGS_sync", 2, 0, 0, 0, 0);
    elf.relocate(".text.k", &[(0x10, sync, 75, 0)]);
    let found = crate::facts(&elf.bytes()).expect("a cubin");
    let names: Vec<&str> = found.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["__cuda_syscall_CGS_sync", "__cuda_syscall_CGS_get_intrinsic_handle"]);
    let barrier = found.variables.iter().find(|v| v.name == "simt_grid_barrier");
    assert_eq!(barrier.map(|v| v.offset), Some(256));
    let listing = "\tcode for sm_90\n\t\tFunction : k\n";
    let text = join("", found.clone(), listing).expect("a text");
    for name in names {
        assert_eq!(text.matches(&format!("Function : {name}\n")).count(), 1, "{name}");
    }
    assert!(!text.contains("Function : _Z4keepv"));
}

/// Types 4 and 35: generic addresses, addresses of functions.
#[test]
fn addresses_of_other_kinds_in_data() {
    let mut elf = Elf::new(90);
    let k = elf.kernel("k", 12);
    let global = elf.section(".nv.global.init", 1, vec![0; 16]);
    let table = elf.symbol("table", 1, 0, global, 0, 16);
    elf.relocate(".nv.global.init", &[(0, k, 35, 0), (8, table, 4, 4)]);
    let found = crate::facts(&elf.bytes()).expect("a cubin");
    let expected = [(0, "k".to_owned(), 0), (8, "table".to_owned(), 4)];
    assert_eq!(found.variables[0].addresses, expected);
}

#[test]
fn other_relocations_of_data() {
    let mut elf = Elf::new(90);
    let k = elf.kernel("k", 12);
    elf.section(".nv.constant4", 1, vec![0; 8]);
    elf.relocate(".nv.constant4", &[(0, k, 99, 0)]);
    let error = crate::facts(&elf.bytes()).expect_err("an error").to_string();
    assert!(error.contains("relocation type 99"), "{error}");
}

/// The error for a relocation of a reference or a descriptor names the reason and the remedy.
#[test]
fn relocations_of_textures() {
    let message = |section: &str, kind: u32, symbol: &str| {
        let mut elf = Elf::new(90);
        elf.kernel("k", 12);
        elf.section(".nv.constant0.k", 1, vec![0; 0x220]);
        let symbol = elf.symbol(symbol, 2, 0, 0, 0, 0);
        elf.relocate(section, &[(0, symbol, kind, 0)]);
        crate::facts(&elf.bytes()).expect_err("an error").to_string()
    };
    let ways = [(6, "use a texture object"), (52, "use a surface object"), (101, "and no sampler")];
    for (kind, way) in ways {
        let message = message(".nv.constant0.k", kind, "image");
        let place = format!("`image` (relocation type {kind}) is a ");
        assert!(message.starts_with(&place) && message.ends_with(way), "{message}");
    }
    let message = message(".text.k", 55, ".nv.surfrefDescSize");
    assert!(message.contains("which CUDA's driver does not run either"), "{message}");
}

/// A cubin that launches kernels is not linked, but linking is no way out.
#[test]
fn launches_from_the_device() {
    for name in ["__cudaCDP2LaunchDeviceV2", "cudaLaunchDevice"] {
        let mut elf = Elf::new(90);
        elf.kernel("k", 12);
        elf.symbol(name, 2, 0, 0, 0, 0);
        elf.kind = 1;
        let error = crate::facts(&elf.bytes()).expect_err("an error");
        assert_eq!(error, CubinError::DeviceLaunch(name.to_owned()));
        assert!(error.to_string().contains("dynamic parallelism"), "{error}");
    }
}

#[test]
fn inlined_lines_belong_to_the_caller() {
    let mut elf = Elf::new(90);
    let k = elf.kernel("k", 12);
    let program = [
        &[0, 9, 2][..],
        &[0; 8],                                            // address, relocated
        &[4, 1, 3, 6, 1],                                   // file 1, line 7, row 1
        &[4, 2, 0, 3, 0x90, 1, 0],                          // file 2, inlined at row 1
        &[3, 0xdd, 0, 2, 16, 1],                            // line 100, address 16, row 2
        &[4, 1, 0, 3, 0x90, 0, 0, 3, 0x9f, 0x7f, 2, 16, 1], // back: file 1, line 3
        &[2, 0x60, 0, 1, 1],
    ];
    elf.lines(".debug_line", &["wave.cu", "atomics.hpp"], &program.concat(), k);
    let found = crate::facts(&elf.bytes()).expect("a cubin");
    assert_eq!(found.kernels[0].lines, [(0, 7), (0x20, 3)]);
    assert_eq!(found.kernels[0].source.as_deref(), Some("wave.cu"));
}

#[test]
fn cut_and_changed_images_are_errors_or_facts() {
    let whole = sample().bytes();
    for length in 0..whole.len() {
        // The last sections may be cut off unnoticed only if no facts stand there.
        let _ = crate::facts(&whole[..length]);
    }
    let mut changed = whole.clone();
    for (at, &byte) in whole.iter().enumerate() {
        for other in [0, 1, 0x7f, 0xff, byte ^ 0x10] {
            changed[at] = other;
            if let Ok(found) = crate::facts(&changed) {
                let _ = facts::read(&facts::write(&found));
            }
        }
        changed[at] = byte;
    }
    assert!(crate::facts(&whole[..whole.len() / 2]).is_err());
}

#[test]
fn attributes_that_end_early() {
    let mut elf = Elf::new(90);
    elf.kernel("k", 12);
    let mut cut = attribute(0x17, &[0; 12]);
    cut.truncate(9);
    elf.section(".nv.info.k", CUDA, cut);
    assert!(matches!(crate::facts(&elf.bytes()), Err(CubinError::Damaged(_))));
    let mut elf = Elf::new(90);
    elf.kernel("k", 12);
    elf.section(".nv.info.k", CUDA, attribute(0x34, &bytes_of(&[0x10, 0, u32::MAX, 0x20])));
    assert!(matches!(crate::facts(&elf.bytes()), Err(CubinError::Damaged(_))));
}

#[test]
fn listings_and_facts_are_joined() {
    let mut elf = Elf::new(90);
    elf.kernel("a", 12);
    elf.kernel("b", 16);
    let found = crate::facts(&elf.bytes()).expect("a cubin");
    let listing = "\n\tcode for sm_90\n\t\tFunction : b\n  x  \n\t\tFunction : a\n";
    let text = join("// c\n //! grid = 1\nint x;\n//! block = 32\n", found.clone(), listing);
    let text = text.expect("a listing of the same kernels");
    assert!(text.starts_with("//! grid = 1\n//! block = 32\n\n//@ Module("), "{text}");
    assert!(text.ends_with("Function : b\n  x\n\t\tFunction : a\n"), "{text}");
    let names: Vec<_> = facts::read(&text).expect("facts").kernels;
    assert_eq!(names.iter().map(|k| k.name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    for listing in ["Function : a\n", "Function : a\nFunction : b\nFunction : c\n"] {
        assert!(matches!(join("", found.clone(), listing), Err(CubinError::Listing(_))));
    }
}

#[test]
fn addends_in_place() {
    let mut elf = Elf::new(90);
    elf.kernel("k", 12);
    let section = elf.section(".nv.global", 8, vec![0; 32]);
    elf.symbol("first", 1, 0, section, 0, 8);
    elf.symbol("second", 1, 0, section, 8, 24);
    let name = elf.symbol("", 3, 0, section, 0, 0);
    elf.section(".nv.constant4", 1, halves(&[0, 12]));
    elf.relocate_in_place(".nv.constant4", &[(8, name, REL_64)]);
    let found = crate::facts(&elf.bytes()).expect("a cubin");
    assert_eq!(found.banks[0].addresses, [(8, "second".to_owned(), 4)]);
}

/// Kernels with jump tables and a constant variable.
const UNITS: &str = include_str!("../../../tests/observations/h200/units/units.sass");

#[test]
fn a_part_of_a_module_has_the_data_of_the_whole_at_the_same_addresses() {
    let facts = facts::read(UNITS).expect("facts");
    let whole = Program::parse("units", UNITS);
    assert!(whole.kernels.len() == 16 && facts.own_banks() > 2 && facts.variables.len() == 1);
    let listing = &UNITS[UNITS.find("code for sm_90").expect("a listing")..];
    let program = |facts, listing: &str| {
        Program::parse("part", &join("", facts, listing).expect("facts and listing agree"))
    };
    let none = program(facts.part(None), "\tcode for sm_90\n");
    assert!(none.kernels.is_empty() && none.findings.is_empty());
    assert_eq!(none.variables[..], whole.variables[..none.variables.len()]);
    let mut variables = none.variables.to_vec();
    for (place, kernel) in facts.kernels.iter().enumerate() {
        let part = program(facts.part(Some(place)), &part(listing, &kernel.name));
        let [only] = part.kernels.as_slice() else { panic!("one kernel") };
        let same = whole.kernels.iter().find(|known| known.symbol == kernel.name);
        let same = same.expect("a kernel of the whole");
        assert_eq!(only.variables, same.variables, "{}", kernel.name);
        assert_eq!(only.insts.len(), same.insts.len(), "{}", kernel.name);
        variables.extend(part.variables.iter().skip(none.variables.len()).cloned());
    }
    assert_eq!(variables, whole.variables.to_vec());
}

/// A driver gives the next module the addresses after those of the variables and of all kernels'
/// banks.
#[test]
fn data_of_the_parts_of_a_module_end_before_the_next_module() {
    let listing = &UNITS[UNITS.find("code for sm_90").expect("a listing")..];
    let mut facts = facts::read(UNITS).expect("facts");
    facts.banks = vec![BankFacts { bank: 4, bytes: vec![0; 8], addresses: Vec::new() }];
    let bases = Bases::default();
    for variables in [facts.variables.clone(), Vec::new()] {
        facts.variables = variables;
        let program = |place, listing: &str| {
            Program::parse("part", &join("", facts.part(place), listing).expect("they agree"))
        };
        let none = program(None, "\tcode for sm_90\n");
        assert!(none.findings.is_empty(), "{:?}", none.findings);
        let end = none.bases_after(bases).constant + u64::from(facts.own_banks()) * BASE_ALIGN;
        for (place, kernel) in facts.kernels.iter().enumerate() {
            let part = program(Some(place), &part(listing, &kernel.name));
            let ends = part.variables.iter().filter(|v| v.space == Space::Const);
            let last = ends.map(|v| v.address + v.bytes.len() as u64).max();
            assert!(last.is_none_or(|last| last <= end), "{}: {last:x?} {end:x}", kernel.name);
        }
    }
}
