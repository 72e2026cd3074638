//! Linking of several PTX texts to one program.

use simt_core::Job;
use simt_core::Program;
use simt_core::kernel::layout::Bases;
use simt_core::launch::Overrides;
use simt_core::machine::Options;
use simt_core::spec::{Machine, Mode};

/// As nvcc writes with `-rdc=true`: a kernel that calls a function and uses variables of the other
/// text, and private names that both texts have.
const KERNEL: &str = "
.version 9.0
.target sm_75
.address_size 64
//! grid = 1
//! block = 4
//! buffer out: u32[4]
//! buffer shared_counter: u32[1]
//! arg 0 = out
//! expect out == [315, 330, 345, 360]
//! expect shared_counter == [7]
.extern .func (.param .b32 back) outside (.param .b32 p);
.visible .global .align 4 .u32 total = 5;
.global .align 4 .u32 own = 10;
.extern .global .align 4 .u32 shared_counter;
.func (.param .b32 back) helper (.param .b32 p)
{
    .reg .b32 %r<2>;
    ld.param.b32 %r0, [p];
    add.s32 %r1, %r0, 1;
    st.param.b32 [back], %r1;
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<5>;
    .loc 1 6 0
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    {
    .param .b32 param0;
    st.param.b32 [param0+0], %r1;
    .param .b32 retval0;
    call.uni (retval0),
    helper,
    (
    param0
    );
    ld.param.b32 %r2, [retval0+0];
    }
    {
    .param .b32 param0;
    st.param.b32 [param0+0], %r2;
    .param .b32 retval0;
    call.uni (retval0),
    outside,
    (
    param0
    );
    ld.param.b32 %r3, [retval0+0];
    }
    ld.global.u32 %r4, [own];
    sub.s32 %r4, %r4, 10;
    add.s32 %r5, %r4, %r3;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4], %r5;
    mov.u32 %r8, 7;
    st.global.u32 [shared_counter], %r8;
    ret;
}
.file 1 \"a.cu\"
";

const OTHER: &str = "
.version 9.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 shared_counter;
.global .align 4 .u32 own = 60;
.global .align 8 .u64 place = own;
.extern .global .align 4 .u32 total;
.weak .func (.param .b32 back) outside (.param .b32 p);
.func (.param .b32 back) helper (.param .b32 p)
{
    .reg .b32 %r<4>;
    .reg .b64 %a;
    .loc 1 4 49
    ld.param.u32 %r1, [p];
    ld.global.u64 %a, [place];
    ld.global.u32 %r2, [%a];
    mad.lo.s32 %r3, %r1, 3, %r2;
    st.param.b32 [back+0], %r3;
    ret;
}
.weak .func (.param .b32 back) outside (.param .b32 p)
{
    .reg .b32 %r<5>;
    ld.param.u32 %r1, [p];
    {
    .param .b32 param0;
    st.param.b32 [param0+0], %r1;
    .param .b32 retval0;
    call.uni (retval0), helper, (param0);
    ld.param.b32 %r2, [retval0+0];
    }
    ld.global.u32 %r3, [total];
    mul.lo.s32 %r4, %r3, %r2;
    st.param.b32 [back+0], %r4;
    ret;
}
.file 1 \"b.cu\"
";

/// Runs the program and returns its buffers, the variable first.
fn ended(program: &Program) -> [Vec<u32>; 2] {
    assert!(program.is_sound(), "{:?}", program.findings);
    let kernel = program.kernel(None).expect("one kernel");
    let none = |_: &str, _| Err("no files".to_owned());
    let launch = program.launch(kernel, &Overrides::default(), &none).expect("sound directives");
    let machine = Machine::preset("volta").expect("a preset");
    let options = Options::of(&machine, Mode::Volta);
    let done = Job::new(program, kernel, launch, &machine, options).execute(&()).expect("fits");
    assert_eq!(done.finish.name(), "ok");
    ["shared_counter", "out"].map(|name| {
        done.launch.buffers.iter().find(|b| b.name == name).expect("declared").words.clone()
    })
}

fn passes(program: &Program) {
    assert_eq!(ended(program), [vec![7], vec![315, 330, 345, 360]]);
}

#[test]
fn texts_are_linked_in_either_order() {
    passes(&Program::link(&[("a.ptx", KERNEL), ("b.ptx", OTHER)], Bases::default()));
    passes(&Program::link(&[("b.ptx", OTHER), ("a.ptx", KERNEL)], Bases::default()));
}

#[test]
fn places_name_their_text_and_source() {
    let program = Program::link(&[("a.ptx", KERNEL), ("b.ptx", OTHER)], Bases::default());
    let kernel = program.kernel(None).expect("one kernel");
    let locations = program.locations();
    let places: Vec<_> = kernel
        .insts
        .iter()
        .filter_map(|inst| locations.at(inst.span.start).map(|l| (l.file.to_owned(), l.line)))
        .collect();
    assert!(places.contains(&("a.cu".to_owned(), 6)), "{places:?}");
    assert!(places.contains(&("b.cu".to_owned(), 4)), "{places:?}");
    let line_of = |text: &str, what: &str| {
        1 + text.lines().position(|line| line.contains(what)).expect("that line") as u32
    };
    let sub = line_of(KERNEL, "sub.s32");
    let mul = line_of(OTHER, "mul.lo.s32");
    let lines: Vec<_> = kernel.insts.iter().map(|inst| program.place_of(inst.line)).collect();
    assert!(lines.contains(&("a.ptx", sub)) && lines.contains(&("b.ptx", mul)), "{lines:?}");
}

#[test]
fn undefined_and_doubly_defined_names_are_errors() {
    let alone = Program::link(&[("a.ptx", KERNEL)], Bases::default());
    assert!(!alone.is_sound());
    assert_eq!(alone.undefined(), ["outside", "shared_counter"]);
    let strong = OTHER.replace(".weak .func", ".visible .func");
    let twice = [("a.ptx", KERNEL), ("b.ptx", &strong[..]), ("c.ptx", &strong[..])];
    let twice = Program::link(&twice, Bases::default());
    let codes: Vec<_> = twice.findings.iter().map(|found| found.code).collect();
    assert!(codes.contains(&"duplicate-kernel"), "{codes:?}");
    assert!(codes.contains(&"duplicate-variable"), "{codes:?}");
}

#[test]
fn a_strong_definition_replaces_a_weak_one_and_the_largest_common_counts() {
    let value = |word: &str, n: u32| {
        format!(
            ".{word} .func (.param .b32 back) value()\n{{\n.reg .b32 %r;\nmov.u32 %r, {n};\n\
             st.param.b32 [back], %r;\nret;\n}}\n.common .global .u32 pool[{n}];\n"
        )
    };
    let (weak, strong) = (value("weak", 1), value("visible", 2));
    let linked = |texts: &[(&str, &str)]| {
        let program = Program::link(texts, Bases::default());
        assert!(program.is_sound(), "{:?}", program.findings);
        let sizes: Vec<_> = program.variables.iter().map(|v| v.bytes.len()).collect();
        assert_eq!(sizes, [8]);
        let bodies = program.module.items.len();
        assert_eq!(bodies, 2);
        program.text[program
            .module
            .items
            .iter()
            .find_map(|item| match item {
                simt_core::ptx::tree::Item::Function(f) => Some(f.span.start as usize),
                _ => None,
            })
            .expect("a function")..]
            .starts_with(".visible")
    };
    assert!(linked(&[("a", &weak), ("b", &strong)]));
    assert!(linked(&[("b", &strong), ("a", &weak)]));
}

#[test]
fn texts_of_nvcc_are_linked() {
    super::enter_repository();
    let text = |name: &str| {
        std::fs::read_to_string(format!("tests/link/{name}.ptx")).expect("a file of the tests")
    };
    let (kernel, other) = (text("kernel"), text("other"));
    let program =
        Program::link(&[("kernel.ptx", &kernel), ("other.ptx", &other)], Bases::default());
    let done = ended(&program);
    assert_eq!(done, [vec![7], vec![530, 545, 560, 575]]);
    let kernel = program.kernel(None).expect("one kernel");
    let locations = program.locations();
    let files: std::collections::BTreeSet<_> = kernel
        .insts
        .iter()
        .filter_map(|inst| locations.at(inst.span.start))
        .map(|l| l.file)
        .collect();
    assert_eq!(files.into_iter().collect::<Vec<_>>(), ["kernel.cu", "other.cu"]);
}
