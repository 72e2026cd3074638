//! Codes of the checker: names, types, the instruction set, control flow.

use super::Sample::{Body, File, None};
use super::{Code, Sample, Stage};

const fn code(
    name: &'static str,
    meaning: &'static str,
    remedy: &'static str,
    sample: Sample,
) -> Code {
    Code { name, stage: Stage::Check, meaning, remedy, sample }
}

#[rustfmt::skip] // one paragraph per code: name, meaning, remedy, sample
pub(super) const CODES: &[Code] = &[
    code("address-size",
        "The file declares 32-bit addresses. All simulated machines have 64-bit addresses.",
        "Write `.address_size 64`, and compile for 64 bits.",
        File(".address_size 32\n.entry k() { ret; }")),
    code("address-space",
        "The instruction accesses one state space, and the symbol is declared in another. The same \
         address refers to a different location there.",
        "Access the state space in which the symbol is declared, or convert the address with \
         `cvta`.",
        File(".shared .u32 data;\n.entry k() {\n.reg .b32 %r<2>;\nld.global.u32 %r1, [data];\n\
             ret;\n}")),
    code("alignment",
        "The variable requires a larger alignment than the simulated memory guarantees.",
        "Use an alignment no larger than the limit in the message.",
        File(".global .align 2097152 .u32 data;\n.entry k() { ret; }")),
    code("barrier-number",
        "A block has sixteen barriers, numbered 0 to 15.",
        "Use a number from 0 to 15; `bar.sync 0` is `__syncthreads()`.",
        Body("bar.sync 16;")),
    code("block-limit",
        "`.maxntid` and `.reqntid` take up to three positive numbers: the threads of a block in x, \
         y and z.",
        "Use positive numbers.",
        File(".entry k() .maxntid 0, 1, 1 { ret; }")),
    code("call-sequence",
        "PTX requires that the arguments of a call are stored immediately before it and its \
         results are loaded immediately after it. No label, branch or other call may come in \
         between, and none of these instructions may be predicated. ptxas accepts other sequences \
         silently, and may pass the argument to one of the calls only.",
        "Store every argument again before each call that takes it, and load each result directly \
         after the call.",
        File(".func f(.param .u32 a) { ret; }\n.entry k() {\n.reg .b32 %r<2>;\n.param .u32 x;\n\
             mov.u32 %r1, 0;\nst.param.u32 [x], %r1;\ncall f, (x);\ncall f, (x);\nret;\n}")),
    code("cooperative-launch",
        "The kernel synchronizes all blocks of the grid (`grid.sync()` of cooperative groups), \
         which requires a cooperative launch. The simulator launches ordinary grids only: the \
         workspace in `%envreg1` and `%envreg2` is null, and the kernel would trap.",
        "End the kernel at the grid barrier and launch a second kernel for the rest; kernels \
         launched one after another run in order.",
        Body("mov.u32 %r1, %envreg2;\nsetp.ne.u32 %p1, %r1, 0;\n@!%p1 trap;")),
    code("divergent-barrier",
        "Some lanes of a warp may reach a block barrier while others do not. In volta mode the \
         kernel can deadlock. In pre-volta mode the whole warp counts as arrived, and the work of \
         the missing lanes may be lost.",
        "Move the barrier out of the branch, so that every thread of the block reaches it.",
        Body("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 8;\n@%p1 bar.sync 0;")),
    code("duplicate-kernel",
        "Two kernels or functions of the file have the same name.",
        "Rename one of them.",
        File(".entry k() { ret; }\n.entry k() { ret; }")),
    code("duplicate-label",
        "A label is defined twice in one scope, so a branch to it has two targets.",
        "Rename one of them.",
        Body("again:\nagain:")),
    code("duplicate-register",
        "A register is declared twice in one scope. `%r<4>` declares `%r0` to `%r3`.",
        "Remove one declaration.",
        Body(".reg .b32 %r1;")),
    code("duplicate-variable",
        "A variable is declared twice in one scope.",
        "Rename one of them.",
        File(".shared .u32 data;\n.shared .u32 data;\n.entry k() { ret; }")),
    code("extern-variable",
        "The variable is only declared here. Its definition is in another file, which is not read.",
        "Define the variable in this file, without `.extern`.",
        File(".extern .global .u32 data;\n.entry k() { ret; }")),
    code("function-mismatch",
        "Two declarations of a function, or the possible targets of one call, differ in their \
         parameters or results.",
        "Give all of them the same parameters and results.",
        File(".func f(.param .b32 x);\n.func f(.param .b64 x) { ret; }\n.entry k() { ret; }")),
    code("incomplete-instruction",
        "The mnemonic is incomplete: a type, an operation or a state space is missing.",
        "Append one of the modifiers listed in the message.",
        Body("add %r1, %r2, %r3;")),
    code("initialiser",
        "The variable has an initialiser, but its state space does not allow one: shared and local \
         memory start undefined.",
        "Store the value in the kernel, or declare the variable `.global` or `.const`.",
        File(".entry k() {\n.shared .u32 data = 1;\nret;\n}")),
    code("initialiser-size",
        "The initialiser has more values than the variable can hold.",
        "Make the variable larger, or remove values.",
        File(".global .u32 data[2] = {1, 2, 3};\n.entry k() { ret; }")),
    code("literal-range",
        "The literal does not fit the type of the instruction. Hardware would truncate it \
         silently.",
        "Use a value in the range given in the message, or a wider type.",
        Body("mov.u32 %r1, 4294967296;")),
    code("literal-type",
        "The instruction expects a float and the operand is an integer literal, or the reverse. \
         PTX does not convert literals.",
        "Write `1.0` for a float and `1` for an integer.",
        Body("add.f32 %f1, %f2, 1;")),
    code("missing-prototype",
        "An indirect call names neither a prototype nor a list of targets, so its parameters and \
         its possible targets are unknown.",
        "Append the label of a `.callprototype` or `.calltargets` after the arguments.",
        Body("call %rd1, ();")),
    code("narrow-address",
        "A 32-bit register is used as an address, but addresses have 64 bits. The upper half is \
         taken as 0.",
        "Use a 64-bit register.",
        Body("ld.param.u32 %r1, [n];\nst.global.u32 [%r1], %r1;")),
    code("never-written",
        "A register is read, but no instruction writes it. Its value is undefined on a GPU and 0 \
         in the simulator.",
        "Write the register first, or correct its name.",
        Body("add.u32 %r1, %r2, 1;")),
    code("no-exit",
        "No path from the start of the kernel reaches an exit, so the kernel cannot end.",
        "Add a path that reaches a `ret`.",
        File(".entry k() {\nagain:\nbra again;\n}")),
    code("nothing-to-call",
        "An indirect call has no possible target: no function with this prototype has its address \
         taken. Executing the call is a fault.",
        "Take the address of a function with `mov.u64 %rd, f;`, or write the prototype that the \
         function has.",
        Body("mov.u64 %rd1, 0;\nproto: .callprototype _ ();\ncall %rd1, proto;")),
    code("operand-count",
        "The instruction has too few or too many operands.",
        "Write the operands of the form shown in the message.",
        Body("add.u32 %r1, %r2;")),
    code("operand-kind",
        "The instruction does not accept this kind of operand here: a literal as a destination, an \
         address without brackets, a predicate as a number.",
        "Use the kind of operand named in the message.",
        Body("mov.u32 4, %r1;")),
    code("parameter-range",
        "The access extends past the end of the parameter, or writes a kernel parameter, which is \
         read-only.",
        "Access no more bytes than the parameter has; to change a kernel parameter, copy it to a \
         register.",
        Body("ld.param.u64 %rd1, [n];")),
    code("several-results",
        "A function returns more than one value in `.param` space. PTX allows a list of results in \
         registers only.",
        "Declare the results as `.reg`, or return one array in `.param` space.",
        File(".func (.param .b32 a, .param .b32 b) f() { ret; }\n.entry k() { ret; }")),
    code("too-many-blocks",
        "The kernel has more than 10,000 basic blocks, its functions included. The time for \
         control-flow analysis grows with the square of that number.",
        "Split the kernel, or unroll less.",
        None("The smallest example is too large for this page.")),
    code("too-many-functions",
        "The file has more than 4,000 device functions, or its kernels have more than 2,000,000 \
         instructions in total. A function counts once for every kernel that may call it.",
        "Split the file.",
        None("The smallest example is too large for this page.")),
    code("too-many-registers",
        "The kernel uses more registers and constants than the simulator can number: 65,535 each \
         of 32-bit values, 64-bit values and predicates.",
        "Use fewer registers, or split the kernel.",
        None("The smallest example is too large for this page.")),
    code("type-mismatch",
        "The register is narrower or wider than the type of the instruction, or of a different \
         kind, such as a float instead of an integer.",
        "Declare the register with the type of the instruction, or convert the value with `cvt`.",
        Body("add.u32 %r1, %r2, %f1;")),
    code("undefined-function",
        "The called function is only declared. Its body is in another file or in a library.",
        "Define the function in this file; compile with `-rdc=false`.",
        File(".func f();\n.entry k() {\ncall f, ();\nret;\n}")),
    code("unknown-instruction",
        "PTX has no instruction of this name.",
        "Use the instruction suggested in the message; `simt-sim isa` lists all.",
        Body("ad.u32 %r1, %r2, %r3;")),
    code("unknown-label",
        "The function has no label of this name.",
        "Define the label, or correct its name.",
        Body("bra nowhere;")),
    code("unknown-modifier",
        "The instruction exists, but one of its modifiers does not apply to it.",
        "Use one of the modifiers listed in the message.",
        Body("add.u33 %r1, %r2, %r3;")),
    code("unknown-name",
        "No register, variable, parameter, function or constant of this name is in scope.",
        "Declare it, or correct the name; the message suggests the closest one.",
        Body("mov.u32 %r1, %count;")),
    code("unknown-table",
        "A `brx.idx` or a call names a list of targets that does not exist.",
        "Declare the list after a label: `table: .branchtargets A, B;`.",
        Body("brx.idx %r1, nowhere;")),
    code("unreachable-code",
        "No path reaches these instructions.",
        "Remove them, or correct the branch that should reach them.",
        Body("ret;\nmov.u32 %r1, 0;")),
    code("unsupported-instruction",
        "The instruction is valid PTX but is not simulated. The message gives the reason.",
        "Compile without tensor cores, textures and bulk copies; `simt-sim isa` lists the \
         supported forms.",
        Body("vadd.s32.s32.s32 %r1, %r2, %r3;")),
    code("unused-label",
        "No branch targets this label.",
        "Remove it, or correct the branch that should target it.",
        Body("nobody:")),
    code("unused-register",
        "A register is declared and never used.",
        "Remove its declaration.",
        Body(".reg .b32 %idle;")),
    code("variable-size",
        "A variable or parameter is larger than its state space.",
        "Make it smaller, or move it to another state space.",
        File(".entry k() {\n.shared .b8 data[99999999999];\nret;\n}")),
    code("variable-space",
        "A variable cannot be declared in this state space here.",
        "Use `.global`, `.const` or `.shared` at the top level, `.shared` or `.local` in a body.",
        File(".local .u32 data;\n.entry k() { ret; }")),
    code("vector-length",
        "The number of registers in braces does not match the instruction: `.v2` takes two, `.v4` \
         takes four.",
        "Write as many registers as the instruction takes.",
        Body("ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];")),
    code("vector-register",
        "Registers of a vector type are not supported.",
        "Declare one register per element and write them in braces: `{%a, %b}`.",
        Body(".reg .v4 .b32 %v;")),
    code("vector-width",
        "The registers in braces have different widths. The elements of a vector are all 32-bit or \
         all 64-bit registers.",
        "Convert the narrow ones with `cvt`, or use registers of one width.",
        Body("st.global.v2.u32 [%rd1], {%r1, %rd2};")),
];
