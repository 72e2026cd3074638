//! Memory and an event of two processes.

use std::process::Command;

use crate::api::{Driver, Function, address};

const PTX: &str = include_str!("vector_add.ptx");
/// Variable with the handle for the second process.
const HANDLE: &str = "SIMT_TEST_HANDLE";

/// Codes of `cuda.h`.
const INVALID_VALUE: u32 = 1;
const INVALID_CONTEXT: u32 = 201;

/// `CUipcMemHandle` or `CUipcEventHandle`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Handle([u64; 8]);

/// Opens a handle of memory; returns code and address.
fn open(cuda: &Driver, handle: Handle, flags: u32) -> (u32, u64) {
    open_by(cuda, "cuIpcOpenMemHandle_v2", handle, flags)
}

/// Opens a handle by a function; that for events takes no flags.
fn open_by(cuda: &Driver, name: &str, handle: Handle, flags: u32) -> (u32, u64) {
    type Open = unsafe extern "C" fn(u64, Handle, u32) -> u32;
    let open = cuda.function(name);
    // SAFETY: `cuda.h` declares the function with this signature.
    let open = unsafe { std::mem::transmute::<Function, Open>(open) };
    let mut at = 0;
    // SAFETY: the place for the address lives during the call.
    let code = unsafe { open(address(&mut at), handle, flags) };
    (code, at)
}

#[test]
fn another_process_reads_and_writes_memory() {
    let cuda = Driver::load();
    cuda.context();
    let shared = cuda.upload(&[1, 2, 3, 4]);
    let mut handle = Handle([0; 8]);
    assert_eq!(cuda.call("cuIpcGetMemHandle", &[address(&mut handle), shared]), 0);
    assert_eq!(cuda.download(shared, 4), [1, 2, 3, 4]);
    assert_eq!(open(&cuda, handle, 1).0, INVALID_CONTEXT, "this process has it");
    let (mut event, mut of_event) = (0_u64, Handle([0; 8]));
    assert_eq!(cuda.call("cuEventCreate", &[address(&mut event), 6]), 0);
    assert_eq!(cuda.call("cuIpcGetEventHandle", &[address(&mut of_event), event]), 0);
    assert_eq!(cuda.call("cuEventRecord", &[event, 0]), 0);
    let numbers: Vec<String> = handle.0.iter().chain(&of_event.0).map(u64::to_string).collect();
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    let child = child.args(["--exact", "shared::second_process"]).env(HANDLE, numbers.join(" "));
    let output = child.output().expect("the second process starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(cuda.download(shared, 4), [101, 102, 103, 104], "what its kernel wrote");
    assert_eq!(cuda.call("cuIpcCloseMemHandle", &[shared]), INVALID_VALUE, "not opened here");
    assert_eq!(cuda.call("cuMemFree_v2", &[shared]), 0);
}

/// The second process of the test above; without a handle there is nothing to do.
#[test]
fn second_process() {
    let Ok(numbers) = std::env::var(HANDLE) else { return };
    let numbers: Vec<u64> = numbers.split(' ').map(|n| n.parse().expect("a number")).collect();
    let [handle, of_event] =
        [&numbers[..8], &numbers[8..]].map(|n| Handle(n.try_into().expect("a handle")));
    let cuda = Driver::load();
    cuda.context();
    let open_event = |handle| open_by(&cuda, "cuIpcOpenEventHandle", handle, 0);
    let (code, event) = open_event(of_event);
    assert_eq!(code, 0);
    assert_eq!(cuda.call("cuStreamWaitEvent", &[0, event, 0]), 0);
    assert_eq!(cuda.call("cuEventQuery", &[event]), 0, "all work is done");
    assert_eq!(open_event(handle).0, INVALID_VALUE, "a handle of memory");
    assert_eq!(open(&cuda, handle, 2).0, INVALID_VALUE, "unknown flags");
    assert_eq!(open(&cuda, Handle([7; 8]), 1).0, INVALID_VALUE, "no handle");
    for word in 1..5 {
        let mut wrong = handle;
        wrong.0[word] ^= 1 << 20;
        assert_ne!(open(&cuda, wrong, 1).0, 0, "word {word}");
    }
    let (code, theirs) = open(&cuda, handle, 1);
    assert_eq!(code, 0);
    assert_eq!(open(&cuda, handle, 1), (0, theirs), "a second time");
    assert_eq!(cuda.download(theirs, 4), [1, 2, 3, 4]);
    let (add, hundred) = (cuda.kernel(PTX, "add"), cuda.upload(&[100; 4]));
    assert_eq!(cuda.run(add, 1, 32, &[theirs, hundred, theirs, 4]), 0);
    assert_eq!(cuda.call("cuMemFree_v2", &[theirs]), INVALID_VALUE);
    let close = || cuda.call("cuIpcCloseMemHandle", &[theirs]);
    assert_eq!([close(), close(), close()], [0, 0, INVALID_VALUE]);
}
