//! Small programs: launches, variables, host memory, errors, events, reports.

use crate::api::{Driver, address, text};

const PTX: &str = include_str!("vector_add.ptx");
const N: usize = 1000;

/// Codes of `cuda.h`.
const INVALID_VALUE: u32 = 1;
const INVALID_CONTEXT: u32 = 201;
const INVALID_PTX: u32 = 218;
const INVALID_HANDLE: u32 = 400;
const NOT_FOUND: u32 = 500;
const ILLEGAL_ADDRESS: u32 = 700;
const LAUNCH_TIMEOUT: u32 = 702;
const MISALIGNED_ADDRESS: u32 = 716;
const NOT_SUPPORTED: u32 = 801;

fn numbers(factor: u32) -> Vec<u32> {
    (0..N as u32).map(|i| factor * i).collect()
}

#[test]
fn a_vector_addition_runs() {
    let cuda = Driver::load();
    cuda.context();
    let add = cuda.kernel(PTX, "add");
    let (a, b) = (cuda.upload(&numbers(1)), cuda.upload(&numbers(2)));
    let c = cuda.upload(&[0; N]);
    let (start, end) = (cuda.make("cuEventCreate", &[0]), cuda.make("cuEventCreate", &[0]));
    assert_eq!(cuda.call("cuEventRecord", &[start, 0]), 0);
    assert_eq!(cuda.launch(add, 4, 256, &[a, b, c, N as u64]), 0);
    assert_eq!(cuda.call("cuEventRecord", &[end, 0]), 0);
    assert_eq!(cuda.download(c, N), numbers(3));
    let mut milliseconds = 0_f32;
    let place = address(&mut milliseconds);
    assert_eq!(cuda.call("cuEventElapsedTime", &[place, start, end]), 0);
    assert!((1e-4..1.0).contains(&milliseconds), "{milliseconds} ms");
    let report = cuda.own_text("simtReportLast");
    assert!(report.contains("\"simt-sim/run/1\""), "{report}");
    // The same arguments in one block of memory.
    let mut block = [a, b, c, 10];
    let mut size = size_of_val(&block) as u64;
    let mut extra = [1, address(&mut block), 2, address(&mut size), 0];
    assert_eq!(cuda.call("cuMemsetD32_v2", &[c, 7, N as u64]), 0);
    let extra = address(&mut extra);
    assert_eq!(cuda.call("cuLaunchKernel", &[add, 1, 1, 1, 32, 1, 1, 0, 0, 0, extra]), 0);
    let found = cuda.download(c, N);
    assert_eq!((found[9], found[10]), (27, 7));
}

/// CUB chooses its kernels by the target of the PTX.
#[test]
fn versions_of_a_kernel_are_those_of_its_ptx_and_of_the_device() {
    let cuda = Driver::load();
    cuda.context();
    for target in [75, 80, 90] {
        let text = PTX.replace(".target sm_75", &format!(".target sm_{target}"));
        let kernel = cuda.kernel(&text, "add");
        let version = |number: u64| {
            let mut value = 0_i32;
            let place = address(&mut value);
            assert_eq!(cuda.call("cuFuncGetAttribute", &[place, number, kernel]), 0);
            value
        };
        assert_eq!([5, 6].map(version), [target, 90]);
    }
}

#[test]
fn variables_outlive_a_launch_and_belong_to_their_module() {
    let cuda = Driver::load();
    cuda.context();
    let modules = [0, 1].map(|_| cuda.make("cuModuleLoadData", &[text(PTX).as_ptr() as u64]));
    let memory = [1, 2, 0].map(|factor| cuda.upload(&numbers(factor)));
    let [a, b, c] = memory;
    let variable = |module: u64, name: &str| {
        let (mut at, mut bytes) = (0_u64, 0_u64);
        let name = text(name);
        let places = [address(&mut at), address(&mut bytes), module, name.as_ptr() as u64];
        assert_eq!(cuda.call("cuModuleGetGlobal_v2", &places), 0);
        assert_eq!(bytes, 4);
        at
    };
    let add = |module: u64| {
        let add = cuda.make("cuModuleGetFunction", &[module, text("add").as_ptr() as u64]);
        assert_eq!(cuda.launch(add, 4, 256, &[a, b, c, N as u64]), 0);
    };
    let mut scale = 5_u32;
    let constant = variable(modules[0], "scale");
    assert_eq!(cuda.call("cuMemcpyHtoD_v2", &[constant, address(&mut scale), 4]), 0);
    add(modules[0]);
    assert_eq!(cuda.download(c, N), numbers(7), "the constant is the one that was set");
    add(modules[0]);
    add(modules[1]);
    assert_eq!(cuda.download(c, N), numbers(3), "the other module has its own");
    let counts = modules.map(|module| cuda.download(variable(module, "launches"), 1)[0]);
    assert_eq!(counts, [2, 1]);
}

#[test]
fn kernels_use_memory_of_the_host() {
    let cuda = Driver::load();
    cuda.context();
    let add = cuda.kernel(PTX, "add");
    let managed = cuda.make("cuMemAllocManaged", &[4 * N as u64, 1]);
    let pinned = cuda.make("cuMemHostAlloc", &[4 * N as u64, 2]);
    let (mut one, mut c) = (numbers(1), vec![0_u32; N]);
    let bytes = 4 * N as u64;
    for target in [managed, pinned] {
        assert_eq!(cuda.call("cuMemcpy", &[target, one.as_mut_ptr() as u64, bytes]), 0);
    }
    let c_at = c.as_mut_ptr() as u64;
    assert_eq!(cuda.call("cuMemHostRegister_v2", &[c_at, bytes, 0]), 0);
    assert_eq!(cuda.launch(add, 4, 256, &[managed, pinned, c_at, N as u64]), 0);
    assert_eq!(cuda.call("cuMemHostUnregister", &[c_at]), 0);
    assert_eq!(c, numbers(2));
    // A kernel cannot access host memory that is not registered.
    let secret = [0_u32; 64];
    let at = (&raw const secret) as u64;
    assert_eq!(cuda.run(add, 1, 32, &[at, managed, managed, 32]), ILLEGAL_ADDRESS);
}

#[test]
fn checks_follow_kernels_to_memory_of_the_host() {
    let child = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "programs::kernels_use_memory_of_the_host"])
        .env("SIMT_SIM_CHECKS", "all")
        .output()
        .expect("the child starts");
    let words = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{:?}\n{words}", child.status);
}

#[test]
fn faults_stay_in_their_context() {
    let cuda = Driver::load();
    let broken = cuda.context();
    let add = cuda.kernel(PTX, "add");
    let a = cuda.upload(&numbers(1));
    assert_eq!(cuda.run(add, 4, 256, &[a, a, 0, N as u64]), ILLEGAL_ADDRESS);
    assert_eq!(cuda.name_of(ILLEGAL_ADDRESS), "CUDA_ERROR_ILLEGAL_ADDRESS");
    let mut at = 0_u64;
    assert_eq!(cuda.call("cuMemAlloc_v2", &[address(&mut at), 64]), ILLEGAL_ADDRESS);
    assert_eq!(cuda.call("cuCtxSynchronize", &[]), ILLEGAL_ADDRESS);
    cuda.context();
    let add = cuda.kernel(PTX, "add");
    let b = cuda.upload(&numbers(1));
    assert_eq!(cuda.run(add, 4, 256, &[b, b, b + 2, N as u64]), MISALIGNED_ADDRESS);
    cuda.context();
    let (spin, zero) = (cuda.kernel(PTX, "spin"), cuda.upload(&[0]));
    assert_eq!(cuda.run(spin, 1, 32, &[zero]), LAUNCH_TIMEOUT);
    assert_eq!(cuda.call("cuCtxDestroy_v2", &[broken]), 0);
    assert_eq!(cuda.call("cuCtxDestroy_v2", &[broken]), INVALID_CONTEXT);
}

#[test]
fn wrong_calls_are_errors() {
    let cuda = Driver::load();
    let mut place = 0_u64;
    let at = address(&mut place);
    assert_eq!(cuda.call("cuMemAlloc_v2", &[at, 64]), INVALID_CONTEXT);
    cuda.context();
    assert_eq!(cuda.call("cuMemAlloc_v2", &[0, 64]), INVALID_VALUE);
    assert_eq!(cuda.call("cuMemAlloc_v2", &[at, 0]), INVALID_VALUE);
    assert_eq!(cuda.call("cuModuleLoadData", &[at, 0]), INVALID_VALUE);
    let bad = text(".version 7.0\n.target sm_75\n.entry k() { fly.u32 %r1; }\n");
    assert_eq!(cuda.call("cuModuleLoadData", &[at, bad.as_ptr() as u64]), INVALID_PTX);
    let (mut log, mut size) = ([0_u8; 512], 512_u64);
    let mut options = [5_u32, 6];
    let mut values = [address(&mut log), 512];
    let given = [at, bad.as_ptr() as u64, 2, address(&mut options), address(&mut values)];
    assert_eq!(cuda.call("cuModuleLoadDataEx", &given), INVALID_PTX);
    assert!(String::from_utf8_lossy(&log).contains("fly"), "the log names the instruction");
    size = size.min(values[1]);
    assert!((10..512).contains(&size), "{size} bytes of the log are used");
    let module = cuda.make("cuModuleLoadData", &[text(PTX).as_ptr() as u64]);
    let name = text("subtract");
    assert_eq!(cuda.call("cuModuleGetFunction", &[at, module, name.as_ptr() as u64]), NOT_FOUND);
    assert_eq!(cuda.call("cuModuleUnload", &[module]), 0);
    assert_eq!(cuda.call("cuModuleUnload", &[module]), INVALID_HANDLE);
    assert_eq!(cuda.call("cuTexObjectCreate", &[at, at, at, at]), NOT_SUPPORTED);
    let found = |name: &str, version: u64| {
        let (name, mut at) = (text(name), 0_u64);
        let code = cuda
            .call("cuGetProcAddress_v2", &[name.as_ptr() as u64, address(&mut at), version, 0, 0]);
        (code, at)
    };
    let address = cuda.function("cuMemAlloc_v2") as usize as u64;
    assert_eq!(found("cuMemAlloc", 13_000), (0, address));
    assert_eq!(found("cuMemTeleport", 13_000), (NOT_FOUND, 0));
}

#[test]
fn copies_have_two_and_three_dimensions() {
    let cuda = Driver::load();
    cuda.context();
    let host: Vec<u32> = (0..24).collect();
    let device = cuda.upload(&[0; 64]);
    // CUDA_MEMCPY2D: two columns of three rows, from (1, 1) of a 4-wide host array.
    let mut plane = [4, 1, 1, host.as_ptr() as u64, 0, 0, 16, 8, 0, 2, 0, device, 0, 32, 8, 3_u64];
    assert_eq!(cuda.call("cuMemcpy2D_v2", &[address(&mut plane)]), 0);
    let found = cuda.download(device, 64);
    assert_eq!([found[2], found[3], found[10], found[11], found[18]], [5, 6, 9, 10, 13]);
    assert_eq!(found.iter().filter(|n| **n != 0).count(), 6);
    plane[15] = 9; // rows past the end of the allocation
    plane[6] = 0;
    plane[14] = 16;
    plane[0] = 0;
    assert_eq!(cuda.call("cuMemcpy2D_v2", &[address(&mut plane)]), INVALID_VALUE);
    let mut volume = [0_u64; 25];
    (volume[4], volume[5], volume[9], volume[10]) = (1, host.as_ptr() as u64, 8, 3);
    (volume[15], volume[17], volume[20], volume[21]) = (2, device, 16, 4);
    (volume[22], volume[23], volume[24]) = (8, 3, 2);
    assert_eq!(cuda.call("cuMemcpy3D_v2", &[address(&mut volume)]), 0);
    let found = cuda.download(device, 64);
    assert_eq!([found[0], found[1], found[4], found[16], found[17]], [0, 1, 2, 6, 7]);
    assert_eq!(cuda.call("cuMemsetD2D8_v2", &[device, 16, 0xab, 4, 3]), 0);
    let found = cuda.download(device, 12);
    assert_eq!(
        [found[0], found[1], found[4], found[8]],
        [0xabab_abab, 1, 0xabab_abab, 0xabab_abab]
    );
}

const CALLER: &str = "
.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 x);
.visible .entry k(.param .u64 out)
{
    .reg .u32 %r;
    .reg .u64 %rd;
    mov.u32 %r, %tid.x;
    {
    .param .b32 x;
    .param .b32 result;
    st.param.b32 [x], %r;
    call (result), twice, (x);
    ld.param.b32 %r, [result];
    }
    ld.param.u64 %rd, [out];
    st.global.u32 [%rd], %r;
    ret;
}
";
const CALLED: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 x)
{
    .reg .u32 %r;
    ld.param.b32 %r, [x];
    add.u32 %r, %r, 21;
    shl.b32 %r, %r, 1;
    st.param.b32 [result], %r;
    ret;
}
";

#[test]
fn functions_of_several_texts_are_linked() {
    const PTX_INPUT: u64 = 1;
    const INVALID_IMAGE: u32 = 200;
    let cuda = Driver::load();
    cuda.context();
    let link = |texts: &[&str]| {
        let (mut log, mut link) = ([0_u8; 512], 0_u64);
        let mut options = [5_u32, 6];
        let mut values = [address(&mut log), 512];
        let given = [2, address(&mut options), address(&mut values), address(&mut link)];
        assert_eq!(cuda.call("cuLinkCreate_v2", &given), 0);
        for part in texts {
            let (data, name) = (text(part), text("part"));
            let (at, size) = (data.as_ptr() as u64, data.len() as u64);
            let given = [link, PTX_INPUT, at, size, name.as_ptr() as u64];
            assert_eq!(cuda.call("cuLinkAddData_v2", &given), 0);
        }
        let (mut image, mut size) = (0_u64, 0_u64);
        let places = [link, address(&mut image), address(&mut size)];
        let code = cuda.call("cuLinkComplete", &places);
        (code, image, link, String::from_utf8_lossy(&log).into_owned())
    };
    let (code, image, made, _) = link(&[CALLER, CALLED]);
    assert_eq!(code, 0);
    let library = cuda.make("cuLibraryLoadData", &[image]);
    assert_eq!(cuda.call("cuLinkDestroy", &[made]), 0);
    let kernel = cuda.make("cuLibraryGetKernel", &[library, text("k").as_ptr() as u64]);
    let out = cuda.upload(&[0]);
    assert_eq!(cuda.launch(kernel, 1, 1, &[out]), 0);
    assert_eq!(cuda.download(out, 1), [42]);
    let (code, .., log) = link(&[CALLER, PTX]);
    assert_eq!(code, INVALID_IMAGE);
    assert!(log.contains("`twice`"), "{log}");
}

#[test]
fn blocks_meet_at_the_grid_barrier_of_the_device_runtime() {
    // As Numba writes `cuda.cg.this_grid().sync()`.
    const GRID: &str = ".version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry k(.param .u64 p)
{
    .reg .b32 %i, %n, %b, %flags;
    .reg .b64 %p, %at, %handle;
    ld.param.u64 %p, [p];
    mov.u32 %i, %tid.x;
    mov.u32 %b, %ctaid.x;
    mad.lo.u32 %i, %b, 32, %i;
    mul.wide.u32 %at, %i, 4;
    add.u64 %at, %p, %at;
    st.global.u32 [%at], %i;
    mov.u32 %flags, 1;
    { .param .b32 scope; .param .b64 r; st.param.b32 [scope], %flags;
      call.uni (r), cudaCGGetIntrinsicHandle, (scope); ld.param.b64 %handle, [r]; }
    mov.u32 %flags, 0;
    { .param .b64 handle; .param .b32 flags; .param .b32 r;
      st.param.b64 [handle], %handle; st.param.b32 [flags], %flags;
      call.uni (r), cudaCGSynchronize, (handle, flags); ld.param.b32 %flags, [r]; }
    sub.u32 %n, 255, %i;
    mul.wide.u32 %handle, %n, 4;
    add.u64 %handle, %p, %handle;
    ld.global.u32 %n, [%handle];
    add.u32 %n, %n, %flags;
    st.global.u32 [%at+1024], %n;
    ret;
}
";
    let cuda = Driver::load();
    cuda.context();
    let kernel = cuda.kernel(GRID, "k");
    let memory = cuda.upload(&[0; 512]);
    let mut argument = memory;
    let mut arguments = [address(&mut argument)];
    let arguments = address(&mut arguments);
    let launch = |blocks, shared| {
        let given = [kernel, blocks, 1, 1, 32, 1, 1, shared, 0, arguments];
        cuda.call("cuLaunchCooperativeKernel", &given)
    };
    for _ in 0..2 {
        assert_eq!(launch(8, 0), 0);
        let expected: Vec<u32> = (0..256).rev().collect();
        assert_eq!(cuda.download(memory, 512)[256..], expected);
    }
    assert_eq!(launch(100_000, 0), 720, "more blocks than fit");
    assert_eq!(launch(8, 60_000), 720, "more shared memory than allowed, as on an H100");
}

#[test]
fn a_cooperative_launch_has_a_workspace() {
    // Its address, then the word of the barrier, which each thread counts up.
    const WORKSPACE: &str = ".version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .pred %absent;
    .reg .b32 %low, %high, %n;
    .reg .b64 %p, %at, %word;
    ld.param.u64 %p, [p];
    mov.u32 %low, %envreg2;
    mov.u32 %high, %envreg1;
    mov.b64 %at, {%low, %high};
    setp.eq.u64 %absent, %at, 0;
    @%absent trap;
    atom.add.release.gpu.u32 %n, [%at+4], 1;
    mul.wide.u32 %word, %n, 4;
    add.u64 %p, %p, %word;
    st.global.u32 [%p], %n;
    ret;
}
";
    let cuda = Driver::load();
    cuda.context();
    let kernel = cuda.kernel(WORKSPACE, "k");
    let memory = cuda.upload(&[7; 64]);
    let mut argument = memory;
    let mut arguments = [address(&mut argument)];
    let given = [kernel, 2, 1, 1, 32, 1, 1, 0, 0, address(&mut arguments)];
    // Each launch has a workspace of zeros.
    for _ in 0..2 {
        assert_eq!(cuda.call("cuLaunchCooperativeKernel", &given), 0);
        assert_eq!(cuda.download(memory, 64), (0..64).collect::<Vec<u32>>());
    }
    assert_eq!(cuda.launch(kernel, 2, 32, &[memory]), 0);
    assert_eq!(cuda.call("cuCtxSynchronize", &[]), 719, "the kernel traps");
}

/// Bytes of a page of device memory.
const DEVICE_PAGE: u64 = 2 << 20;
/// Set in processes that have device memory for themselves: others must not be beside it.
const ALONE: &str = "SIMT_SIM_TEST_ALONE";

#[test]
fn the_rest_of_a_small_allocations_page_can_be_reached() {
    if std::env::var_os(ALONE).is_some() {
        return reach_the_rest_of_a_page();
    }
    let child = |checks| {
        let mut child = std::process::Command::new(std::env::current_exe().expect("the test"));
        child.args(["--exact", "programs::the_rest_of_a_small_allocations_page_can_be_reached"]);
        child.args(["--nocapture"]).env(ALONE, "1").env("SIMT_SIM_CHECKS", checks);
        let child = child.output().expect("the child starts");
        (child.status.success(), String::from_utf8_lossy(&child.stderr).into_owned())
    };
    let (succeeds, words) = child("");
    let told = "warning: out of bounds: 3584 bytes past the end of `allocation 4` (512 bytes)";
    assert!(succeeds && words.contains(told), "{words}");
    assert_eq!(words.matches("warning").count(), 1, "once for the kernel\n{words}");
    let (succeeds, words) = child("bounds");
    assert!(!succeeds && words.contains("FAULT: out of bounds"), "{words}");
}

fn reach_the_rest_of_a_page() {
    let cuda = Driver::load();
    cuda.context();
    let add = cuda.kernel(PTX, "add");
    let few = cuda.upload(&[1; 10]);
    let sums = cuda.upload(&[0; 128]);
    // 512 bytes are a GPU's unit: reading on does not fault, as in two tests of Numba.
    assert_eq!(cuda.launch(add, 1, 128, &[few, few, sums, 128]), 0);
    assert_eq!(cuda.download(sums, 11)[9..], [2, 0]);
    // Nor does it up to the end of the page. What was stored there stays.
    let beyond = sums + 4096;
    assert_eq!(cuda.run(add, 1, 32, &[few, few, beyond, 10]), 0);
    assert_eq!(cuda.run(add, 1, 32, &[few, beyond, sums, 11]), 0);
    assert_eq!(cuda.download(sums, 11)[8..], [3, 3, 0]);
    assert_eq!(cuda.run(add, 1, 32, &[few + DEVICE_PAGE, few, sums, 1]), ILLEGAL_ADDRESS);
}
