//! Core of simt-sim: from PTX to a checked kernel, its code, and the SM that runs it.
//!
//! Data flows one way: text → tree → checked kernel → code → machine → events → observers. The
//! core uses no files, threads, terminals or pictures. `docs/architecture.md` describes the rooms,
//! and a test checks their imports.
//!
//! ```
//! use simt_core::launch::Overrides;
//! use simt_core::machine::Options;
//! use simt_core::spec::{Lowering, Machine, Mode};
//! use simt_core::{Job, Program};
//!
//! let text = "
//! //! grid = 1
//! //! block = 32
//! //! buffer out: u32[32]
//! //! arg out = out
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
//! let kernel = program.kernel(None)?;
//! let launch = program
//!     .launch(kernel, &Overrides::default(), &|_, _| Err("no files".into()))
//!     .expect("sound directives");
//! let machine = Machine::preset("fermi").expect("a preset").lowered(Lowering::AsWritten);
//! let options = Options::of(&machine, Mode::PreVolta);
//! let done = Job::new(&program, kernel, launch, &machine, options).count(&())?;
//! assert_eq!(done.launch.buffers[0].words[..10], [1, 1, 1, 1, 1, 1, 1, 1, 2, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod base;
pub mod checks;
pub mod code;
pub mod debug;
pub mod diag;
pub mod divergence;
pub mod event;
pub mod exec;
mod graph;
pub mod isa;
mod job;
pub mod kernel;
pub mod launch;
pub mod machine;
pub mod observe;
pub mod oracle;
mod program;
pub mod ptx;
pub mod ptxas;
pub mod sass;
pub mod schedules;
pub mod spec;

pub use job::{Job, PassageCounts};
pub use program::{Compiled, NoKernel, Program, arguments_by_position};
