//! A cycle-level SIMT warp simulator: which lanes of a warp worked, when, and why a warp waited.
//!
//! Data flows one way: text → tree → checked kernel → launch → machine → events → reports. `docs/architecture.md` has the
//! map, and a test holds the modules to it.
//!
//! A run as library calls:
//!
//! ```
//! use simt_sim::divergence::SideOrder;
//! use simt_sim::launch::Overrides;
//! use simt_sim::machine::{MachineSpec, Mode, Options};
//! use simt_sim::pipeline::{Program, simulate};
//!
//! let text = "
//! //! grid = 1
//! //! block = 32
//! //! buffer out: u32[32]
//! //! arg out = out
//! //! expect out[i] == (i < 8 ? 1 : 2) for i in 0..32
//! .entry halves(.param .u64 out)
//! {
//!     .reg .pred %low;
//!     .reg .u32 %lane, %x;
//!     .reg .u64 %out;
//!     mov.u32 %lane, %tid.x;
//!     ld.param.u64 %out, [out];
//!     mad.wide.u32 %out, %lane, 4, %out;
//!     setp.lt.u32 %low, %lane, 8;
//!     @%low bra Low;
//!     mov.u32 %x, 2;
//!     bra Join;
//! Low:
//!     mov.u32 %x, 1;
//! Join:
//!     st.global.u32 [%out], %x;
//!     ret;
//! }
//! ";
//! let program = Program::parse("halves.ir", text);
//! assert!(program.is_sound());
//! let kernel = program.kernel(None)?;
//! let launch = program.launch(kernel, &Overrides::default(), &|_, _| Err("no files".into())).expect("sound directives");
//! let spec = MachineSpec::parse(MachineSpec::preset_text("teaching").expect("a preset")).expect("a sound preset");
//! let spec = MachineSpec { warp_size: 32, ..spec };
//! let options =
//!     Options { mode: Mode::PreVolta, order: SideOrder::Taken, yields: true, max_cycles: 1_000_000, max_issues: u64::MAX, jobs: 1 };
//! let done = simulate(&program, kernel, launch, &spec, &options, &())?;
//! assert!(done.run.passed());
//! assert_eq!(done.run.branches[0].divergent, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod ask;
pub mod base;
pub mod calibrate;
pub mod checks;
pub mod debug;
pub mod diag;
pub mod divergence;
pub mod event;
pub mod exec;
pub mod explain;
pub mod gpu;
pub mod grade;
pub mod html;
pub mod instrument;
pub mod isa;
pub mod kernel;
pub mod launch;
pub mod machine;
pub mod observe;
pub mod oracle;
pub mod pipeline;
pub mod quiz;
pub mod report;
pub mod sweep;
pub mod text;
