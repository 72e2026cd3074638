//! `simt-sim import` and commands on cubins, without CUDA: images are built here, and the
//! disassembler is a script.

use std::fs;
use std::path::PathBuf;

use super::cli::{good, refused, simt_sim};

#[expect(dead_code, reason = "the tests of the reader use all of it")]
#[path = "../../crates/cubin/src/tests/image.rs"]
mod image;

/// Writes a file for one test.
fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("import");
    fs::create_dir_all(&folder).expect("a folder for temporary files");
    let path = folder.join(name);
    fs::write(&path, content).expect("a temporary file");
    path.display().to_string()
}

/// Image of a kernel `k` whose code is six instructions.
fn cubin() -> Vec<u8> {
    let mut elf = image::Elf::new(90);
    elf.kernel("k", 12);
    elf.bytes()
}

/// Listing of `k` as `cuobjdump -sass` prints it: EXIT, then branches to themselves.
fn listing() -> String {
    let mut text = "\n\tcode for sm_90\n\t.target\tsm_90\n\n\t\tFunction : k\n".to_owned();
    text.push_str("        /*0000*/    EXIT ;    /* 0x000000000000794d */\n");
    text.push_str("                              /* 0x000fea0003800000 */\n");
    for at in 1..6 {
        text.push_str(&format!(
            "        /*{:04x}*/    NOP;    /* 0x0000000000007918 */\n",
            16 * at
        ));
        text.push_str("                              /* 0x000fc00000000000 */\n");
    }
    text + "\t\t..........\n\n\n"
}

#[cfg(unix)]
#[test]
fn a_cubin_becomes_a_file_that_runs() {
    use std::os::unix::fs::PermissionsExt;

    let listing = file("listing.txt", listing());
    let script = file("cuobjdump.sh", format!("#!/bin/sh\n[ \"$1\" = -sass ] && cat {listing}\n"));
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("an executable");
    let cubin = file("k.cubin", cubin());
    file("k.cu", "// c\n//! grid = 2\n//! block = 64\nint main() {}\n");
    let beside = good(&["import", &cubin, "--disassembler", &script]);
    assert!(beside.starts_with("//! grid = 2\n//! block = 64\n\n//@ Module("), "{beside}");
    let other = file("other.cu", "//! grid = 1\n//! block = 32\n");
    let output = file("k.sass", "");
    let printed =
        good(&["import", &cubin, "--disassembler", &script, "--directives", &other, "-o", &output]);
    assert_eq!(printed, "");
    let text = fs::read_to_string(&output).expect("the result");
    assert!(text.starts_with("//! grid = 1\n"), "{text}");
    assert!(text.ends_with("\t\t..........\n"), "{text}");
    assert!(good(&["check", &output]).contains("0 errors"));
    assert!(good(&["run", &output]).contains("grid 1 x block 32"));

    let other = file("other.txt", "\tcode for sm_90\n\t\tFunction : elsewhere\n");
    let script = file("other.sh", format!("#!/bin/sh\ncat {other}\n"));
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("an executable");
    refused(&["import", &cubin, "--disassembler", &script], &["does not list kernel `k`"]);
    let failing = file("failing.sh", "#!/bin/sh\necho bad cubin >&2\nexit 3\n");
    fs::set_permissions(&failing, fs::Permissions::from_mode(0o755)).expect("an executable");
    refused(&["import", &cubin, "--disassembler", &failing], &["reports errors", "bad cubin"]);
    refused(&["import", &cubin, "--disassembler", "/nonexistent/nvdisasm"], &["nvdisasm"]);
}

#[test]
fn files_that_cannot_be_imported() {
    refused(&["import", "nowhere.cubin"], &["cannot read `nowhere.cubin`"]);
    refused(&["import", "programs"], &["not a regular file"]);
    refused(&["import", "programs/small/diamond.ir"], &["expected a cubin", "nvcc -cubin"]);
    let whole = cubin();
    let cut = file("cut.cubin", &whole[..whole.len() / 2]);
    for command in ["import", "run", "check", "cfg", "timeline"] {
        let ended = simt_sim(&[command, &cut]);
        assert!(ended.err.contains("truncated or damaged"), "{command}: {}", ended.err);
    }
    let fat = file("fat.bin", [0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0]);
    refused(&["import", &fat], &["a fat binary", "cuobjdump -xelf"]);
    let mut host = image::Elf::new(90);
    host.machine = 62;
    host.section(".nv_fatbin", 1, vec![0; 8]);
    let host = file("a.out", host.bytes());
    refused(&["import", &host], &["host program", "cuobjdump -xelf"]);
    refused(&["run", &host], &["host program", "cuobjdump -xelf"]);
    let mut relocatable = image::Elf::new(90);
    relocatable.kind = 1;
    refused(&["import", &file("k.o", relocatable.bytes())], &["-rdc=true"]);
    refused(&["import", &file("k.cubin.txt", "")], &["expected a cubin"]);
}
