//! Launches: parameters and limits.

use std::sync::Arc;

use simt_core::code::Code;
use simt_core::exec::Heap;
use simt_core::kernel::Kernel;
use simt_core::launch::{Launch, Spare, Variables};
use simt_core::machine::{DoesNotFit, Occupancy, Options};
use simt_core::spec::Machine;
use simt_core::{Program, diag};
use simt_report::launches::Launched;

use crate::abi::HEAP;
use crate::device::{MOST_BLOCK_Z, MOST_GRID, SHARED_DEFAULT};
use crate::error::Error;
use crate::module;
use crate::state::Driver;
use crate::table::Handle;

/// A launch that a program asks for.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) function: Handle,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub(crate) shared: u32,
    /// Parameter block, as laid out by the kernel.
    pub(crate) params: Vec<u8>,
    /// True if all blocks must be resident at once.
    pub(crate) cooperative: bool,
}

impl Driver {
    /// Returns the kernel of a function.
    pub(crate) fn kernel(&self, function: Handle) -> Result<&Kernel, Error> {
        let function = self.functions.get(function)?;
        function.program.kernels.get(function.kernel).ok_or(Error::INVALID_HANDLE)
    }

    /// Returns the name of a function in its module.
    pub(crate) fn symbol(&self, function: Handle) -> Result<&str, Error> {
        self.kernel(function).map(|kernel| kernel.symbol.as_str())
    }

    /// Returns offset and size of each parameter of a function, and the size of all.
    pub(crate) fn parameters(&self, function: Handle) -> Result<(Vec<(u32, u32)>, u32), Error> {
        let kernel = self.kernel(function)?;
        let all = kernel.params.iter().map(|p| (p.offset, p.bytes)).collect();
        Ok((all, kernel.param_bytes))
    }

    /// Checks a launch against the limits of the device and the kernel.
    fn admit(&self, request: &Request, device: usize) -> Result<(), Error> {
        let device = self.devices.get(device).ok_or(Error::INVALID_DEVICE)?;
        let kernel = self.kernel(request.function)?;
        let extents = request.grid.iter().zip(MOST_GRID);
        if extents.into_iter().any(|(&n, most)| n == 0 || n > most) || request.block.contains(&0) {
            return Err(Error::INVALID_VALUE);
        }
        let threads: u64 = request.block.iter().map(|&n| u64::from(n)).product();
        if threads > u64::from(device.machine.max_block_threads) || request.block[2] > MOST_BLOCK_Z
        {
            return Err(Error::INVALID_VALUE);
        }
        if let Some((limit, required)) = kernel.block_limit {
            let most = kernel.most_threads().into();
            if if required { request.block != limit } else { threads > most } {
                return Err(Error::INVALID_VALUE);
            }
        }
        let asked = self.functions.get(request.function)?.most_dynamic;
        let default = SHARED_DEFAULT.min(device.most_shared()).saturating_sub(kernel.shared_bytes);
        if request.shared > asked.unwrap_or(0).max(default) {
            let too_large = Error::COOPERATIVE_LAUNCH_TOO_LARGE; // as seen on an H100
            return Err(if request.cooperative { too_large } else { Error::INVALID_VALUE });
        }
        Ok(())
    }

    /// Admits a launch.
    ///
    /// # Errors
    /// The error that CUDA has for a launch that a device refuses.
    pub(crate) fn admitted(&mut self, context: Handle, request: &Request) -> Result<Ready, Error> {
        let state = self.contexts.get(context).map_err(|_| Error::CONTEXT_IS_DESTROYED)?;
        let device_index = state.device;
        let stack = state.limits.get(&0).and_then(|bytes| u32::try_from(*bytes).ok());
        let heap_bytes = state.limits.get(&HEAP).copied();
        self.admit(request, device_index)?;
        let function = self.functions.get(request.function)?.clone();
        let program = function.program;
        let kernel = program.kernels.get(function.kernel).ok_or(Error::INVALID_HANDLE)?;
        let device = &self.devices[device_index];
        let (machine, options) = (Arc::clone(&device.machine), device.options.clone());
        let code = match function.code {
            Some(code) => code,
            None => {
                let code = module::compile(kernel, &machine, &options);
                self.functions.get_mut(request.function)?.code = Some(Arc::clone(&code));
                code
            }
        };
        let launch = Launch {
            kernel: kernel.name.clone(),
            title: None,
            grid: request.grid,
            block: request.block,
            params: request.params.clone(),
            dynamic_shared: request.shared,
            stack,
            cooperative: request.cooperative,
            registers: fitting_registers(kernel, request.block, &machine),
            buffers: Vec::new(),
            variables: Variables::InBuffers,
            heap: None,
            spare: Spare::default(),
            expectations: Vec::new(),
            constants: Vec::new(),
        };
        let fits = DoesNotFit::check_code(kernel, &machine, options.mode)
            .and_then(|()| Occupancy::new(kernel, &launch, &machine));
        let occupancy = match fits {
            Ok(occupancy) => occupancy,
            Err(reason) => {
                let (said, error) = refused(&kernel.name, &reason);
                self.reports.tell(&said);
                return Err(error);
            }
        };
        let row = Launched {
            number: 0,
            process: std::process::id(),
            program: diag::printable(&program.name),
            kernel: kernel.name.clone(),
            grid: launch.grid,
            block: launch.block,
            dynamic_shared: launch.dynamic_shared,
            registers: occupancy.registers_per_thread,
            machine: machine.name.clone(),
            code: if kernel.native.is_some() { "SASS" } else { "PTX" }.to_owned(),
            mode: options.mode.name().to_owned(),
            cycles: None,
            nanoseconds: None,
            finish: String::new(),
            metrics: Vec::new(),
            findings: [0, 0],
            run: None,
        };
        let heap = kernel.uses_heap().then(|| heap_bytes.map_or_else(Heap::default, Heap::new));
        Ok(Ready {
            context,
            device: device_index,
            program,
            code,
            launch,
            heap,
            machine,
            options,
            row,
        })
    }
}

/// A launch that was admitted, without the contents of memory.
pub(crate) struct Ready {
    pub(crate) context: Handle,
    pub(crate) device: usize,
    pub(crate) program: Arc<Program>,
    pub(crate) code: Arc<Code>,
    pub(crate) launch: Launch,
    /// New heap, if the kernel uses one and no kernel before did.
    pub(crate) heap: Option<Heap>,
    pub(crate) machine: Arc<Machine>,
    pub(crate) options: Options,
    pub(crate) row: Launched,
}

/// Returns the registers of a thread, if the estimate for PTX is more than a block can have.
///
/// ptxas often needs fewer registers than PTX has values at once, so an estimate must not refuse a
/// launch that a GPU takes. Machine code states its number.
fn fitting_registers(kernel: &Kernel, block: [u32; 3], machine: &Machine) -> Option<u32> {
    let threads = block.iter().fold(1, |all: u32, &n| all.saturating_mul(n));
    let warps = threads.div_ceil(machine.warp_size).max(1);
    let unit = machine.register_unit.max(1);
    let most = machine.registers / warps / unit * unit / machine.warp_size;
    let estimated = kernel.native.is_none();
    (estimated && kernel.registers_per_thread > most).then_some(most)
}

/// Returns the words and the error for a launch that does not fit the machine.
pub(crate) fn refused(kernel: &str, reason: &DoesNotFit) -> (String, Error) {
    let error = match reason {
        DoesNotFit::Cooperative { .. } => Error::COOPERATIVE_LAUNCH_TOO_LARGE,
        DoesNotFit::Resource { .. } => Error::LAUNCH_OUT_OF_RESOURCES,
        _ => Error::NOT_SUPPORTED,
    };
    let help = match reason {
        DoesNotFit::NoStack { .. } => {
            "  help: hand over PTX, which runs in both modes: compile with -arch=compute_NN; Numba \
             does without the package nvidia-nvjitlink\n"
        }
        _ => "",
    };
    (format!("simt-sim: launch of `{kernel}`: {reason}\n{help}"), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    #[test]
    fn an_estimate_of_registers_refuses_no_block() {
        let (mut loads, mut sums) = (String::new(), String::new());
        for i in 0..100 {
            writeln!(loads, "ld.global.f32 %f{i}, [%rd0+{}];", 4 * i).expect("a string");
            writeln!(sums, "add.f32 %f100, %f100, %f{};", 99 - i).expect("a string");
        }
        let text = format!(
            ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
             .reg .f32 %f<101>;\n.reg .b64 %rd<1>;\nld.param.u64 %rd0, [p];\nmov.f32 %f100, 0f00000000;\n\
             {loads}{sums}st.global.f32 [%rd0], %f100;\nret;\n}}\n"
        );
        let program = Program::parse("k.ptx", &text);
        let kernel = program.kernels.first().expect("a kernel");
        assert!(kernel.registers_per_thread > 64, "{}", kernel.registers_per_thread);
        let machine = Machine::preset("h200").expect("a preset");
        assert_eq!(fitting_registers(kernel, [1024, 1, 1], &machine), Some(64));
        assert_eq!(fitting_registers(kernel, [80, 10, 1], &machine), Some(80));
        assert_eq!(fitting_registers(kernel, [256, 1, 1], &machine), None);
    }
}
