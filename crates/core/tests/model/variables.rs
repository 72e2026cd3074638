//! Variables of modules that outlive a launch, at addresses that the caller gives.

use simt_core::checks;
use simt_core::exec::{FaultKind, variable_segments};
use simt_core::isa::Type;
use simt_core::kernel::layout::{Bases, CONST_BASE, FUNCTION_BASE, GLOBAL_BASE};
use simt_core::launch::{Buffer, Launch, Overrides, Variables};
use simt_core::machine::{Finish, Options};
use simt_core::spec::{Machine, Mode};
use simt_core::{Job, Program};

/// Adds `scale` to `count` for each thread and stores to `scale` if the second parameter is not 0.
const COUNTER: &str = "
//! grid = 1
//! block = 32
//! arg 0 = 0
.const .u32 scale = 3;
.global .u32 count = 5;
.global .u8 odd[3] = {1, 2, 3};
.entry add(.param .u32 bad)
{
    .reg .u32 %x, %s, %b;
    .reg .pred %p;
    .reg .u64 %a;
    ld.param.u32 %b, [bad];
    ld.const.u32 %s, [scale];
    atom.global.add.u32 %x, [count], %s;
    setp.eq.u32 %p, %b, 1;
    mov.u64 %a, scale;
    @%p st.u32 [%a], %x;
    setp.eq.u32 %p, %b, 2;
    mov.u64 %a, odd;
    @%p st.u32 [%a + 4], %x;
    ret;
}
";

/// Returns a buffer for each segment of the program's variables.
fn memory_of(program: &Program) -> Vec<Buffer> {
    let buffer = |(address, bytes, words, writable)| Buffer {
        name: format!("module data at 0x{address:x}"),
        address,
        bytes,
        reach: bytes,
        element: Type::U32,
        words,
        lent: None,
        unset: None,
        mapped: true,
        writable,
    };
    variable_segments(&program.variables).into_iter().map(buffer).collect()
}

fn launch(program: &Program, argument: u32, buffers: Vec<Buffer>) -> Launch {
    let kernel = program.kernel(None).expect("one kernel");
    let none = |_: &str, _| Err("no files".to_owned());
    let launch = program.launch(kernel, &Overrides::default(), &none).expect("sound directives");
    let params = argument.to_le_bytes().to_vec();
    Launch { params, buffers, variables: Variables::InBuffers, ..launch }
}

fn run(program: &Program, launch: Launch) -> (Finish, Vec<Buffer>) {
    let machine = Machine::preset("volta").expect("a preset");
    let kernel = program.kernel(None).expect("one kernel");
    let options = Options::of(&machine, Mode::Volta);
    let done = Job::new(program, kernel, launch, &machine, options).execute(&()).expect("fits");
    (done.finish, done.launch.buffers)
}

#[test]
fn modules_keep_their_variables_at_their_own_addresses() {
    let first = Program::parse("a.ir", COUNTER);
    let next = first.bases_after(Bases::default());
    assert_eq!(next.constant, CONST_BASE + (1 << 20));
    assert_eq!(next.global, GLOBAL_BASE + (1 << 20));
    assert_eq!(next.function, FUNCTION_BASE + (1 << 20));
    let second = Program::parse_at("b.ir", COUNTER, next);
    let mut memory = memory_of(&first);
    memory.extend(memory_of(&second));
    memory.sort_by_key(|buffer| buffer.address);
    for program in [&first, &second, &second] {
        let (finish, after) = run(program, launch(program, 0, memory));
        assert_eq!(finish.name(), "ok");
        memory = after;
    }
    let count = |program: &Program| {
        let at = program.variables.iter().find(|v| v.name == "count").expect("declared").address;
        memory.iter().find(|b| b.address == at).expect("a buffer").words[0]
    };
    assert_eq!([count(&first), count(&second)], [5 + 96, 5 + 192]);
    assert_eq!(
        memory.iter().filter(|b| !b.writable).map(|b| b.words[0]).collect::<Vec<_>>(),
        [3, 3]
    );
}

#[test]
fn faults_name_variables_in_buffers() {
    let program = Program::parse("a.ir", COUNTER);
    let kernel = program.kernel(None).expect("one kernel");
    let fault = |argument| match run(&program, launch(&program, argument, memory_of(&program))).0 {
        Finish::Fault(fault) => fault.fault.kind,
        other => panic!("expected a fault, found {other:?}"),
    };
    assert_eq!(fault(1), FaultKind::ReadOnly { address: CONST_BASE });
    let FaultKind::OutOfBounds { space, address, bytes } = fault(2) else { panic!("in bounds") };
    let launch = launch(&program, 2, memory_of(&program));
    let words = checks::nearest(kernel, &launch, space, address, bytes);
    assert_eq!(words.as_deref(), Some("1 bytes past the end of `odd` (3 bytes)"));
}

#[test]
fn wild_bases_are_moved_into_their_ranges() {
    for base in [0, 7, u64::MAX] {
        let bases = Bases { constant: base, global: base, function: base };
        let program = Program::parse_at("a.ir", COUNTER, bases);
        assert!(program.is_sound());
        let (finish, _) = run(&program, launch(&program, 0, memory_of(&program)));
        assert_eq!(finish.name(), "ok", "{base:x}");
    }
}

/// Module variables named by directives.
const DIRECTIVES: &str = "
//! grid = 1
//! block = 4
//! buffer coef: u32[4] = [10, 20, 30, 40]
//! buffer tally: u8[3]
//! buffer out: u32[4]
//! arg out = out
//! expect out == [10, 20, 30, 40]
//! expect tally == [7, 9, 9]
//! expect coef[3] == 40
.const .b8 _ZL4coef[16];
.global .u8 before = 1;
.global .u8 tally[3] = {7, 8, 9};
.entry k(.param .u64 out)
{
    .reg .u32 %t, %x;
    .reg .u64 %o, %a, %i;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %i, %t, 4;
    mov.u64 %a, _ZL4coef;
    add.u64 %a, %a, %i;
    ld.const.u32 %x, [%a];
    add.u64 %o, %o, %i;
    st.global.u32 [%o], %x;
    mov.u32 %x, 9;
    st.global.u8 [tally + 1], %x;
    ret;
}
";

#[test]
fn directives_fill_and_read_module_variables() {
    let program = Program::parse("k.ir", DIRECTIVES);
    let kernel = program.kernel(None).expect("one kernel");
    let none = |_: &str, _| Err("no files".to_owned());
    let launch = program.launch(kernel, &Overrides::default(), &none).expect("sound directives");
    let oracle = simt_core::oracle::run(kernel, &launch, 1000).expect("runs");
    let machine = Machine::preset("volta").expect("a preset");
    let options = Options::of(&machine, Mode::Volta);
    let done = Job::new(&program, kernel, launch, &machine, options).execute(&()).expect("fits");
    assert_eq!(done.finish.name(), "ok");
    let found: Vec<_> =
        done.launch.buffers.iter().map(|b| (&b.name[..], b.words.clone())).collect();
    let expected =
        [("coef", vec![10, 20, 30, 40]), ("tally", vec![0x09_0907]), ("out", vec![10, 20, 30, 40])];
    assert_eq!(found, expected);
    assert_eq!(oracle.buffers, expected.map(|(_, words)| words));
}

#[test]
fn a_buffer_of_another_size_than_its_variable_is_refused() {
    for (line, help) in [
        ("coef: u32[5] = iota", "write `coef: u32[4]`, or choose another name"),
        ("tally: u32[1]", "write `tally: u8[3]`, or choose another name"),
    ] {
        let name = &line[..line.find(':').unwrap_or(0)];
        let start = DIRECTIVES.find(&format!("buffer {name}")).expect("a directive");
        let end = start + DIRECTIVES[start..].find('\n').expect("a line");
        let text = format!("{}buffer {line}{}", &DIRECTIVES[..start], &DIRECTIVES[end..]);
        let program = Program::parse("k.ir", &text);
        let kernel = program.kernel(None).expect("one kernel");
        let none = |_: &str, _| Err("no files".to_owned());
        let errors = program.launch(kernel, &Overrides::default(), &none).expect_err(line);
        assert_eq!(errors[0].code, "wrong-length");
        assert_eq!(errors[0].help.as_deref(), Some(help));
    }
}
