//! Functions of CUDA's runtime system in kernels: `printf`, `assert`, `malloc`, `free`.

use simt_core::exec::FaultKind;
use simt_core::launch::{Launch, Overrides};
use simt_core::machine::{Finish, Options, Outcome};
use simt_core::observe::Counts;
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};

const DECLARED: &str = "
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.extern .func __assertfail (.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
";

fn parsed(text: &str) -> Program {
    let program = Program::parse("k.ir", text);
    assert!(program.is_sound(), "{:?}", program.findings);
    program
}

fn launch(program: &Program) -> Launch {
    let kernel = program.kernel(None).expect("one kernel");
    let none = |_: &str, _| Err("no files".to_owned());
    program.launch(kernel, &Overrides::default(), &none).expect("sound directives")
}

fn run(program: &Program, launch: Launch, preset: &str) -> Outcome<Counts> {
    let machine = Machine::preset(preset).expect("a preset");
    let kernel = program.kernel(None).expect("one kernel");
    let mode = if machine.modes.contains(&Mode::Volta) { Mode::Volta } else { Mode::PreVolta };
    let options = Options::of(&machine, mode);
    Job::new(program, kernel, launch, &machine, options).count(&()).expect("fits")
}

/// Threads print different texts, by even and odd index.
fn printing(grid: u32) -> String {
    format!(
        "//! grid = {grid}\n//! block = 4\n{DECLARED}
.global .b8 even[11] = {{101, 118, 101, 110, 32, 37, 100, 47, 37, 100}};
.global .b8 odd[17] = {{111, 100, 100, 32, 37, 46, 49, 102, 32, 37, 115, 10}};
.global .b8 word[5] = {{119, 97, 114, 112}};
.entry k()
{{
    .local .align 8 .b8 list[16];
    .reg .pred %p;
    .reg .u32 %t, %b, %r;
    .reg .u64 %a, %f;
    .reg .f64 %d;
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u64 %a, list;
    cvta.local.u64 %a, %a;
    and.b32 %r, %t, 1;
    setp.eq.u32 %p, %r, 0;
    @%p bra Even;
    cvt.rn.f64.u32 %d, %t;
    st.local.f64 [list], %d;
    mov.u64 %f, word;
    st.local.u64 [list + 8], %f;
    mov.u64 %f, odd;
    bra Print;
Even:
    st.local.u32 [list], %b;
    st.local.u32 [list + 4], %t;
    mov.u64 %f, even;
Print:
    {{
    .param .b64 p0;
    .param .b64 p1;
    .param .b32 back;
    st.param.b64 [p0], %f;
    st.param.b64 [p1], %a;
    call.uni (back), vprintf, (p0, p1);
    ld.param.b32 %r, [back];
    }}
    ret;
}}
"
    )
}

#[test]
fn lanes_print_in_the_order_of_blocks() {
    let program = parsed(&printing(3));
    let block = |b: u32| format!("even {b}/0odd 1.0 warp\neven {b}/2odd 3.0 warp\n");
    let expected: String = (0..3).map(block).collect();
    for preset in ["fermi", "volta", "h200"] {
        let done = run(&program, launch(&program), preset);
        assert_eq!(done.finish.name(), "ok");
        let output = done.observer.output();
        let text = String::from_utf8(output.bytes()).expect("ASCII");
        assert_eq!(text, expected, "{preset}");
        let places: Vec<_> = output.texts().map(|p| (p.block.0, p.thread)).collect();
        assert_eq!(places.len(), 12);
        assert!(places.is_sorted_by_key(|(block, _)| *block), "{places:?}");
    }
}

#[test]
fn output_beyond_the_buffer_is_counted() {
    let program = parsed(&printing(40_000));
    let done = run(&program, launch(&program), "h200");
    let output = done.observer.output();
    assert!(output.bytes().len() <= 1 << 20 && output.bytes().len() > (1 << 20) - 32);
    assert_eq!(output.texts().count() as u64 + output.dropped(), 160_000);
}

/// Fails where `tid.x` is 3 in block 1.
const ASSERTING: &str = "
.global .b8 message[6] = {116, 32, 60, 32, 51};
.global .b8 file[5] = {107, 46, 99, 117};
.global .b8 function[9] = {118, 111, 105, 100, 32, 107, 40, 41};
.entry k()
{
    .reg .pred %p, %q;
    .reg .u32 %t, %b;
    .reg .u64 %m, %f, %n;
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u64 %m, message;
    mov.u64 %f, file;
    mov.u64 %n, function;
    setp.eq.u32 %p, %t, 3;
    setp.eq.u32 %q, %t, 5;
    or.pred %p, %p, %q;
    setp.eq.u32 %q, %b, 1;
    and.pred %p, %p, %q;
    @!%p bra Done;
    {
    .param .b64 p0;
    .param .b64 p1;
    .param .b32 p2;
    .param .b64 p3;
    .param .b64 p4;
    st.param.b64 [p0], %m;
    st.param.b64 [p1], %f;
    st.param.b32 [p2], 7;
    st.param.b64 [p3], %n;
    st.param.b64 [p4], 1;
    call.uni __assertfail, (p0, p1, p2, p3, p4);
    }
Done:
    ret;
}
";

#[test]
fn a_failed_assert_is_a_fault_that_names_its_threads() {
    let program = parsed(&format!("//! grid = 2\n//! block = (4, 2)\n{DECLARED}{ASSERTING}"));
    let done = run(&program, launch(&program), "volta");
    let Finish::Fault(report) = done.finish else { panic!("no fault") };
    let lines = report.assertion([2, 1, 1], [4, 2, 1]).expect("an assertion");
    let line = |thread: &str| {
        format!("k.cu:7: void k(): block: [1,0,0], thread: {thread} Assertion `t < 3` failed.")
    };
    assert_eq!(lines, [line("[3,0,0]"), line("[3,1,0]")]);
}

/// Each thread allocates, fills and hands over its memory, and frees that of its neighbor.
const HEAP: &str = "
.entry k(.param .u64 out, .param .u64 bytes, .param .u32 wild)
{
    .reg .pred %p;
    .reg .u32 %t, %b, %w;
    .reg .u64 %o, %i, %m, %n;
    ld.param.u64 %o, [out];
    ld.param.u64 %n, [bytes];
    ld.param.u32 %w, [wild];
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mad.lo.u32 %t, %b, 4, %t;
    mul.wide.u32 %i, %t, 8;
    add.u64 %o, %o, %i;
    {
    .param .b64 p0;
    .param .b64 back;
    st.param.b64 [p0], %n;
    call.uni (back), malloc, (p0);
    ld.param.b64 %m, [back];
    }
    st.global.u64 [%o], %m;
    setp.eq.u64 %p, %m, 0;
    @%p bra Done;
    st.u32 [%m], %t;
    setp.eq.u32 %p, %w, 1;
    @%p add.u64 %m, %m, 4;
    setp.eq.u32 %p, %w, 2;
    @%p bra Done;
    {
    .param .b64 p0;
    st.param.b64 [p0], %m;
    call.uni free, (p0);
    }
Done:
    ret;
}
";

fn heap(bytes: u64, wild: u32, grid: u32) -> String {
    format!(
        "//! grid = {grid}\n//! block = 4\n//! buffer out: u64[{}]\n//! arg out = out\n\
         //! arg bytes = {bytes}\n//! arg wild = {wild}\n{DECLARED}{HEAP}",
        4 * grid
    )
}

#[test]
fn memory_is_allocated_freed_and_runs_out() {
    let found = |text: &str| {
        let program = parsed(text);
        let done = run(&program, launch(&program), "h200");
        let words: Vec<u64> = done.launch.buffers[0]
            .words
            .chunks(2)
            .map(|pair| u64::from(pair[1]) << 32 | u64::from(pair[0]))
            .collect();
        (done.finish, words, done.launch.heap.expect("a heap").allocated())
    };
    let (finish, addresses, left) = found(&heap(100, 0, 2));
    assert_eq!((finish.name(), left), ("ok", 0));
    assert!(addresses.iter().all(|a| a.is_multiple_of(16) && *a != 0), "{addresses:x?}");
    // 8 MiB hold two allocations of 3 MiB.
    let (finish, addresses, left) = found(&heap(3 << 20, 2, 1));
    assert_eq!((finish.name(), left), ("ok", 6 << 20));
    assert_eq!(addresses.iter().filter(|a| **a == 0).count(), 2);
    let (finish, addresses, _) = found(&heap(16, 1, 1));
    let Finish::Fault(report) = finish else { panic!("no fault") };
    assert_eq!(report.fault.kind, FaultKind::WildFree { address: addresses[0] + 4 });
}

#[test]
fn a_heap_outlives_its_launch() {
    let program = parsed(&heap(64, 2, 1));
    let first = run(&program, launch(&program), "volta").launch;
    let heap = first.heap.clone();
    assert_eq!(heap.as_ref().map(simt_core::exec::Heap::allocated), Some(256));
    let again = run(&program, Launch { heap, ..launch(&program) }, "volta").launch;
    assert_ne!(first.buffers[0].words, again.buffers[0].words);
    assert_eq!(again.heap.expect("a heap").allocated(), 512);
}

#[test]
fn a_system_function_of_other_parameters_is_refused() {
    let text = "//! grid = 1\n//! block = 1\n.extern .func free (.param .b32 p);\n.entry k()\n{\n\
                call.uni free, (1);\nret;\n}\n";
    let program = Program::parse("k.ir", text);
    assert_eq!(program.findings[0].code, "undefined-function");
}

#[test]
fn memory_may_end_later_than_its_buffer() {
    let text = "//! grid = 1\n//! block = 32\n//! buffer a: u32[4] = fill(0)\n//! arg a = a\n\
                .entry k(.param .u64 a)\n{\n.reg .u64 %a;\nld.param.u64 %a, [a];\n\
                st.global.u32 [%a + 508], 7;\nst.global.u32 [%a + 512], 7;\nret;\n}\n";
    let program = parsed(text);
    let mut launch = launch(&program);
    let buffer = &mut launch.buffers[0];
    (buffer.reach, buffer.words) = (512, vec![0; 128]);
    let kernel = program.kernel(None).expect("one kernel");
    let outcome = run(&program, launch, "volta");
    let Finish::Fault(report) = outcome.finish else { panic!("no fault") };
    assert_eq!(outcome.launch.buffers[0].words[127], 7);
    let FaultKind::OutOfBounds { space, address, bytes } = report.fault.kind else {
        panic!("in bounds")
    };
    let words = simt_core::checks::nearest(kernel, &outcome.launch, space, address, bytes);
    assert_eq!(words.as_deref(), Some("`a[128]`, 125 past the end"), "of the buffer");
}

#[test]
fn a_fault_in_dynamic_shared_memory_of_size_0_says_so() {
    let text = "//! grid = 1\n//! block = 32\n.extern .shared .align 4 .b8 tile[];\n.entry k()\n{\n\
                .reg .u32 %t;\nmov.u32 %t, 1;\nst.shared.u32 [tile + 4], %t;\nret;\n}\n";
    let program = parsed(text);
    let launch = launch(&program);
    let kernel = program.kernel(None).expect("one kernel");
    let Finish::Fault(report) = run(&program, launch.clone(), "volta").finish else {
        panic!("no fault")
    };
    let FaultKind::OutOfBounds { space, address, bytes } = report.fault.kind else {
        panic!("in bounds")
    };
    let words = simt_core::checks::nearest(kernel, &launch, space, address, bytes);
    let expected = "`tile` is dynamic shared memory, and the launch has 0 bytes of it (add `//! \
                    shared = BYTES`)";
    assert_eq!(words.as_deref(), Some(expected));
}
