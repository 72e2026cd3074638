//! Calls with null and wild handles, addresses and sizes, in any order, from two threads.
//!
//! Each must return; none may end the process. The calls run in a child process, so that a crash
//! is a failure of the test and not of the test run.

use std::process::Command;

use crate::api::{Driver, path, text};

/// Calls of each of two threads.
const CALLS: u32 = 6000;
/// Variable that makes this test the child.
const CHILD: &str = "SIMT_TEST_MUTATED";
/// Bytes of the memory that calls may read and write. Device memory is smaller, so that no copy
/// between the two leaves it.
const SCRATCH: usize = 1 << 16;

const PTX: &str = include_str!("vector_add.ptx");

/// Functions with the kinds of their arguments: `o` place for a result, `h` handle, `a` device
/// address, `p` memory of the process, `s` size, `n` small number, `t` text, `k` list of
/// parameters, `i` image, `l` list of numbers, `w` wild address of the process, `c` place of a
/// small count, `b` small count, `d` list of handles, `m` parameters of a node, `r` mode of a
/// capture that concerns no other.
const CALLS_MADE: &[(&str, &str)] = &[
    ("cuInit", "n"),
    ("cuDriverGetVersion", "o"),
    ("cuDeviceGet", "on"),
    ("cuDeviceGetName", "onn"),
    ("cuDeviceGetAttribute", "onn"),
    ("cuDeviceTotalMem_v2", "on"),
    ("cuDeviceGetPCIBusId", "onn"),
    ("cuDeviceGetByPCIBusId", "ot"),
    ("cuDevicePrimaryCtxRetain", "on"),
    ("cuDevicePrimaryCtxRelease_v2", "n"),
    ("cuDevicePrimaryCtxReset_v2", "n"),
    ("cuDevicePrimaryCtxGetState", "noo"),
    ("cuCtxCreate_v2", "onn"),
    ("cuCtxDestroy_v2", "h"),
    ("cuCtxPushCurrent_v2", "h"),
    ("cuCtxPopCurrent_v2", "o"),
    ("cuCtxSetCurrent", "h"),
    ("cuCtxGetDevice", "o"),
    ("cuCtxGetDevice_v2", "oh"),
    ("cuCtxSynchronize", ""),
    ("cuCtxGetLimit", "on"),
    ("cuCtxSetLimit", "ns"),
    ("cuMemGetInfo_v2", "oo"),
    ("cuMemAlloc_v2", "os"),
    ("cuMemAlloc_v2", "os"),
    ("cuMemAllocPitch_v2", "oossn"),
    ("cuMemFree_v2", "a"),
    ("cuMemGetAddressRange_v2", "ooa"),
    ("cuMemHostAlloc", "osn"),
    ("cuMemFreeHost", "a"),
    ("cuMemAllocManaged", "osn"),
    ("cuMemHostGetDevicePointer_v2", "oan"),
    ("cuMemHostRegister_v2", "wsn"),
    ("cuMemHostUnregister", "a"),
    ("cuMemAllocAsync", "osh"),
    ("cuMemFreeAsync", "ah"),
    ("cuPointerGetAttribute", "ona"),
    ("cuPointerGetAttributes", "nlka"),
    ("cuMemcpyHtoD_v2", "aps"),
    ("cuMemcpyDtoH_v2", "pas"),
    ("cuMemcpyDtoD_v2", "aas"),
    ("cuMemcpyHtoDAsync_v2", "apsh"),
    ("cuMemcpyDtoHAsync_v2", "pash"),
    ("cuMemcpy", "aas"),
    ("cuMemsetD8_v2", "ans"),
    ("cuMemsetD16_v2", "ans"),
    ("cuMemsetD32_v2", "ans"),
    ("cuMemsetD2D32_v2", "asnss"),
    ("cuMemsetD32Async", "ansh"),
    ("cuModuleLoadData", "oi"),
    ("cuModuleUnload", "h"),
    ("cuModuleGetFunction", "oht"),
    ("cuModuleGetGlobal_v2", "ooht"),
    ("cuModuleEnumerateFunctions", "onh"),
    ("cuModuleGetFunctionCount", "oh"),
    ("cuLibraryLoadData", "oi"),
    ("cuLibraryGetKernel", "oht"),
    ("cuLibraryUnload", "h"),
    ("cuLibraryGetModule", "oh"),
    ("cuKernelGetFunction", "oh"),
    ("cuKernelGetName", "oh"),
    ("cuFuncGetAttribute", "onh"),
    ("cuFuncSetAttribute", "hnn"),
    ("cuFuncGetParamInfo", "hnoo"),
    ("cuLinkCreate_v2", "nlko"),
    ("cuLinkAddData_v2", "hnist"),
    ("cuLinkComplete", "hoo"),
    ("cuLinkDestroy", "h"),
    ("cuLaunchKernel", "hnnnnnnshkk"),
    ("cuLaunchKernel", "hnnnnnnnhk"),
    ("cuLaunchCooperativeKernel", "hnnnnnnnhk"),
    ("cuLaunchHostFunc", "hz"),
    ("cuStreamCreate", "on"),
    ("cuStreamDestroy_v2", "h"),
    ("cuStreamSynchronize", "h"),
    ("cuStreamWaitEvent", "hhn"),
    ("cuStreamAddCallback", "hz"),
    ("cuStreamIsCapturing", "ho"),
    ("cuEventCreate", "on"),
    ("cuEventRecord", "hh"),
    ("cuEventQuery", "h"),
    ("cuEventElapsedTime", "ohh"),
    ("cuEventDestroy_v2", "h"),
    ("cuOccupancyMaxActiveBlocksPerMultiprocessor", "ohns"),
    ("cuOccupancyMaxPotentialBlockSize", "oohzsn"),
    ("cuOccupancyAvailableDynamicSMemPerBlock", "ohnn"),
    ("cuGetErrorName", "no"),
    ("cuGetErrorString", "no"),
    ("cuGetProcAddress_v2", "tonno"),
    ("cuGetExportTable", "oo"),
    ("cuGraphCreate", "o"),
    ("cuGraphCreate", "on"),
    ("cuGraphDestroy", "h"),
    ("cuGraphClone", "oh"),
    ("cuGraphNodeFindInClone", "ohh"),
    ("cuGraphNodeGetType", "ho"),
    ("cuGraphGetNodes", "hdc"),
    ("cuGraphGetRootNodes", "hdc"),
    ("cuGraphGetEdges_v2", "hdddc"),
    ("cuGraphNodeGetDependencies", "hdc"),
    ("cuGraphNodeGetDependentNodes_v2", "hdoc"),
    ("cuGraphAddDependencies", "hdds"),
    ("cuGraphAddDependencies_v2", "hddlb"),
    ("cuGraphRemoveDependencies", "hddb"),
    ("cuGraphDestroyNode", "h"),
    ("cuGraphDebugDotPrint", "hzn"),
    ("cuGraphAddKernelNode_v2", "ohdbm"),
    ("cuGraphAddKernelNode_v2", "ohzbm"),
    ("cuGraphAddKernelNode", "ohdbm"),
    ("cuGraphAddMemsetNode", "ohdbmh"),
    ("cuGraphAddMemcpyNode", "ohdbmh"),
    ("cuGraphAddHostNode", "ohdbm"),
    ("cuGraphAddEmptyNode", "ohdb"),
    ("cuGraphAddChildGraphNode", "ohdbh"),
    ("cuGraphAddEventRecordNode", "ohdbh"),
    ("cuGraphAddEventWaitNode", "ohdbh"),
    ("cuGraphAddMemAllocNode", "ohdbm"),
    ("cuGraphAddMemFreeNode", "ohdba"),
    ("cuGraphAddNode_v2", "ohdlbm"),
    ("cuGraphConditionalHandleCreate", "ohznn"),
    ("cuGraphNodeSetParams", "hm"),
    ("cuGraphKernelNodeGetParams_v2", "ho"),
    ("cuGraphKernelNodeSetParams_v2", "hm"),
    ("cuGraphMemcpyNodeGetParams", "ho"),
    ("cuGraphKernelNodeSetAttribute", "hnl"),
    ("cuGraphInstantiateWithFlags", "oh"),
    ("cuGraphInstantiateWithFlags", "ohn"),
    ("cuGraphInstantiateWithParams", "ohl"),
    ("cuGraphExecUpdate_v2", "hho"),
    ("cuGraphExecKernelNodeSetParams_v2", "hhm"),
    ("cuGraphExecChildGraphNodeSetParams", "hhh"),
    ("cuGraphExecNodeSetParams", "hhm"),
    ("cuGraphNodeSetEnabled", "hhn"),
    ("cuGraphUpload", "hh"),
    ("cuGraphLaunch", "hh"),
    ("cuGraphLaunch", "hh"),
    ("cuGraphExecDestroy", "h"),
    ("cuStreamBeginCapture_v2", "hr"),
    ("cuStreamBeginCaptureToGraph", "hhdlbr"),
    ("cuStreamEndCapture", "ho"),
    ("cuStreamGetCaptureInfo_v3", "hoooooo"),
    ("cuStreamUpdateCaptureDependencies_v2", "hdlbn"),
    ("cuUserObjectCreate", "onznn"),
    ("cuUserObjectRetain", "hn"),
    ("cuGraphRetainUserObject", "hhnn"),
    ("cuDeviceGetGraphMemAttribute", "nno"),
    ("cuMemPoolDestroy", "h"),
    ("cuDeviceGetDefaultMemPool", "on"),
    ("cuIpcGetMemHandle", "oh"),
    ("cuIpcCloseMemHandle", "h"),
];

/// Numbers of a seed (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

/// Returns the address of an argument of a kernel, or one that is none.
fn addressed(numbers: &mut Numbers, never: &[u64], at: u64) -> u64 {
    match numbers.below(6) {
        0 => numbers.of(never),
        _ => at + 6144 + 8 * numbers.below(16),
    }
}

/// Returns parameters of a node: of the type that a call takes, or of any type.
///
/// Copies are between addresses of the device, since other addresses are the caller's promise;
/// there is no function to call. Arguments of kernels are in the list at `list`.
fn described(
    numbers: &mut Numbers,
    name: &str,
    known: &[u64],
    addresses: &[u64],
    list: u64,
) -> [u64; 32] {
    let kind = match name {
        _ if name.contains("Memset") => 2,
        _ if name.contains("Memcpy") => 1,
        _ if name.contains("MemAlloc") => 10,
        _ if name.contains("Kernel") => 0,
        _ if name.contains("Host") => 3,
        _ => numbers.below(14),
    };
    let device = |numbers: &mut Numbers| {
        let address = numbers.of(addresses);
        let is_device = (0x0100_0000_0000..0x1000_0000_0000).contains(&address);
        if is_device { address } else { 64 }
    };
    let mut words = [0_u64; 32];
    match kind {
        0 => {
            let pair = |numbers: &mut Numbers| numbers.below(3) << 32 | numbers.below(3);
            words[0] = numbers.of(known);
            words[1..4].fill_with(|| pair(numbers));
            words[4] &= 0xffff;
            words[5] = list + 8 * numbers.below(16);
        }
        1 => {
            (words[4], words[15]) = (2 + numbers.below(2), 2);
            (words[6], words[7], words[17]) = (device(numbers), numbers.of(known), device(numbers));
            words[22..25].fill_with(|| numbers.below(40));
        }
        2 => {
            words[0] = numbers.of(addresses);
            words[2] = (1 + numbers.below(4)) << 32 | 7;
            (words[3], words[4]) = (numbers.below(40), numbers.below(3));
        }
        10 => (words[0], words[1], words[13]) = (1, 1, numbers.below(4096)),
        3 | 5 => {}
        _ => words[0] = numbers.of(known),
    }
    if name.contains("GraphAddNode") || name.contains("NodeSetParams") && !name.contains("Kernel") {
        words.rotate_right(if kind == 1 { 4 } else { 2 });
        (words[0], words[1]) = (kind, 0);
    }
    words
}

/// Calls of one thread.
fn calls(cuda: &Driver, seed: u64) -> [u32; 2] {
    let mut numbers = Numbers(seed);
    // Calls register parts of it, so it stays until the end of the process.
    let scratch: &'static mut [u64] = vec![0_u64; SCRATCH / 8].leak();
    let at = scratch.as_mut_ptr() as u64;
    let texts = ["add", "spin", "scale", "launches", "nothing", "", "cuMemAlloc", "0000:01:00.0"];
    let texts = texts.map(text);
    let mut images =
        vec![text(PTX), text("nonsense"), text(""), vec![0x50, 0xed, 0x55, 0xba, 0, 0, 0, 0]];
    images.push(b"\x7fELF\x02\x01\x01".iter().copied().chain([0; 80]).collect());
    images[3].resize(64, 0);
    // Handles and addresses that calls returned, alive or not.
    let mut known: Vec<u64> = vec![0, 1, 2];
    let mut addresses: Vec<u64> = vec![0, 64];
    let wild = [3, 0xdead_beef, 0x10_0000_0010, 0x20_0000_0100, u64::MAX, 1 << 63, 4095];
    let never = [0, 8, 0x0700_0000_0000, 0x0100_0000_0000, u64::MAX - 7];
    let sizes = [0, 1, 3, 4, 64, 256, 1000, 4096, 1 << 40, u64::MAX, u64::MAX / 2];
    let mut ended = [0_u32; 2];
    for i in 0..CALLS {
        if i % 16 == 0 && cuda.call("cuCtxSynchronize", &[]) != 0 {
            // The context was destroyed, or a launch in it failed.
            known.push(cuda.context());
            known.push(cuda.kernel(PTX, "add"));
            known.push(cuda.make("cuStreamCreate", &[0]));
            known.push(cuda.make("cuEventCreate", &[0]));
            addresses.push(cuda.upload(&[i; 1000]));
            addresses.push(cuda.upload(&[i; 64]));
        }
        let (name, kinds) = numbers.of(CALLS_MADE);
        let mut arguments = Vec::new();
        let mut results = Vec::new();
        for (i, kind) in kinds.chars().enumerate() {
            let slot = at + 512 * i as u64;
            arguments.push(match (kind, numbers.below(8)) {
                ('o', 0) | ('p', 0) | ('l', 0) => numbers.of(&never),
                ('o', _) => {
                    scratch[64 * i] = 0;
                    results.push(64 * i);
                    slot
                }
                ('h', 0) => numbers.of(&wild),
                ('h', _) => numbers.of(&known),
                ('a', 0) => numbers.of(&wild),
                ('a', 1) => numbers.of(&addresses).wrapping_add(numbers.below(8192)),
                ('a', _) => numbers.of(&addresses),
                ('p', _) => at,
                ('w', 0..=3) => numbers.next() >> 16,
                ('w', _) => at + numbers.below(4096),
                ('s', 0) => numbers.next(),
                ('s', _) => numbers.of(&sizes),
                ('n', 0) => numbers.next(),
                ('n', _) => numbers.below(40),
                ('t', 0) => numbers.of(&never),
                ('t', _) => texts[numbers.below(8) as usize].as_ptr() as u64,
                ('i', 0) => numbers.of(&never),
                ('i', 1..=3) => images[numbers.below(5) as usize].as_ptr() as u64,
                ('i', _) => images[0].as_ptr() as u64,
                ('k', 0) => numbers.of(&never),
                ('k', _) => {
                    scratch[64 * i..64 * i + 16].fill_with(|| addressed(&mut numbers, &never, at));
                    slot
                }
                ('c', _) => {
                    scratch[64 * i] = numbers.below(8);
                    slot
                }
                ('b', 0) => numbers.of(&sizes),
                ('b', _) => numbers.below(3),
                ('r', 0) => 3 + numbers.below(9),
                ('r', _) => 2,
                ('d', 0) | ('m', 0) => numbers.of(&never),
                ('d', _) => {
                    for j in 0..8 {
                        scratch[64 * i + j] = numbers.of(&known);
                    }
                    slot
                }
                ('m', _) => {
                    // Half of the slot is for addresses of arguments.
                    let node = described(&mut numbers, name, &known, &addresses, slot + 256);
                    scratch[64 * i..64 * i + 32].copy_from_slice(&node);
                    scratch[64 * i + 32..64 * i + 64]
                        .fill_with(|| addressed(&mut numbers, &never, at));
                    slot
                }
                ('l', _) => {
                    for j in 0..8 {
                        scratch[64 * i + j] = numbers.below(30) << 32 | numbers.below(30);
                    }
                    slot
                }
                _ => 0,
            });
        }
        // Arguments of kernels: addresses and sizes.
        for j in 0..16 {
            scratch[768 + j] = if j % 4 == 3 { numbers.below(100) } else { numbers.of(&addresses) };
        }
        // Images of these sizes only: a size in a call is the caller's promise.
        if name == "cuLinkAddData_v2" {
            arguments[3] = numbers.of(&[0, 1, 40]);
        }
        if name == "cuPointerGetAttributes" || name == "cuLinkCreate_v2" {
            arguments[0] = numbers.below(8);
        }
        if name == "cuDeviceGetName" || name == "cuDeviceGetPCIBusId" {
            arguments[1] = numbers.below(64);
        }
        // Two places of the process: sizes within them.
        if name == "cuMemcpy" {
            arguments[2] = numbers.below(4096);
            let host = |a: u64| a != 0 && !(0x0100_0000_0000..0x1000_0000_0000).contains(&a);
            if arguments[..2].iter().any(|a| host(*a)) {
                arguments[0] = at;
            }
            if host(arguments[1]) {
                arguments[1] = at + 8192;
            }
        }
        let code = cuda.call(name, &arguments);
        ended[usize::from(code != 0)] += 1;
        if code != 0 {
            assert!(!cuda.name_of(code).is_empty(), "{name} returned {code}");
            continue;
        }
        for slot in results {
            let value = scratch[slot];
            if name.contains("Alloc") {
                addresses.push(value);
            } else if value > 1 << 36 {
                known.push(value);
            }
        }
    }
    ended
}

#[test]
fn ten_thousand_mutated_calls_return() {
    if std::env::var_os(CHILD).is_none() {
        let child = Command::new(std::env::current_exe().expect("the test"))
            .args(["--exact", "mutated::ten_thousand_mutated_calls_return", "--nocapture"])
            .env(CHILD, "1")
            .env("SIMT_SIM_MACHINE", "teaching")
            .env("SIMT_SIM_WARP_SIZE", "32")
            .env("SIMT_SIM_MAX_CYCLES", "200000")
            .output()
            .expect("the child starts");
        let words = String::from_utf8_lossy(&child.stderr);
        let last: String = words.lines().rev().take(20).collect::<Vec<_>>().join("\n");
        assert!(child.status.success(), "{:?}: {}\n{last}", child.status, path().display());
        assert!(!words.contains("this is a bug"), "{words}");
        return;
    }
    let cuda = Driver::load();
    let ended = std::thread::scope(|scope| {
        let run = |seed| {
            scope.spawn({
                let cuda = &cuda;
                move || {
                    cuda.context();
                    calls(cuda, seed)
                }
            })
        };
        [run(0x9e37_79b9), run(0x7f4a_7c15)].map(|thread| thread.join().expect("no panic"))
    });
    let [good, bad] = [0, 1].map(|i| ended[0][i] + ended[1][i]);
    assert!(good > 1000 && bad > 4000, "{good} calls succeeded, {bad} failed");
    // The driver still works.
    cuda.context();
    let add = cuda.kernel(PTX, "add");
    let [a, c] = [cuda.upload(&[5; 32]), cuda.upload(&[0; 32])];
    assert_eq!(cuda.launch(add, 1, 32, &[a, a, c, 32]), 0);
    assert_eq!(cuda.download(c, 32), [10; 32]);
}
