//! `y = a * x + y` in Rust with cudarc: a module from PTX, streams, copies, a launch, events.
//!
//! ```sh
//! cargo build
//! simt-sim exec --metrics gld_transactions -- target/debug/saxpy
//! ```

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaContext, DriverError, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::Ptx;

/// As `nvcc -ptx -arch=compute_75` compiles `if (i < n) y[i] = a * x[i] + y[i]`.
const PTX: &str = "
.version 8.0
.target sm_75
.address_size 64

.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
    .reg .pred %p<2>;
    .reg .f32 %f<5>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;

    ld.param.u32 %r1, [n];
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd3, %rd1;
    cvta.to.global.u64 %rd4, %rd2;
    mul.wide.u32 %rd5, %r5, 4;
    add.s64 %rd6, %rd3, %rd5;
    add.s64 %rd7, %rd4, %rd5;
    ld.global.f32 %f2, [%rd6];
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd7], %f4;
DONE:
    ret;
}
";

fn main() -> Result<(), DriverError> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let saxpy = context.load_module(Ptx::from_src(PTX))?.load_function("saxpy")?;

    let n = 1000_u32;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let y = vec![1.0_f32; n as usize];
    let on_device = stream.clone_htod(&x)?;
    let mut sum = stream.clone_htod(&y)?;
    let a = 2.5_f32;

    let start = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;
    let mut launch = stream.launch_builder(&saxpy);
    launch.arg(&n).arg(&a).arg(&on_device).arg(&mut sum);
    // SAFETY: the arguments are those of the kernel above, and both arrays have n elements.
    unsafe { launch.launch(LaunchConfig::for_num_elems(n)) }?;
    let stop = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;

    let sum = stream.clone_dtoh(&sum)?;
    let wrong = x.iter().zip(&sum).filter(|&(x, y)| *y != a * x + 1.0).count();
    println!("{n} elements on {}, {wrong} wrong", context.name()?);
    println!("took time: {}", start.elapsed_ms(&stop)? > 0.0);
    Ok(())
}
