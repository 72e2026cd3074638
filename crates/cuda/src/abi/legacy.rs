//! Launches as before CUDA 4: block, shared memory and parameters are set one by one in the
//! function, and stay for later launches. PyCUDA sets blocks so.

use super::entry_points;
use super::launch::Shape;
use super::pointer::In;
use crate::error::Error;
use crate::operation::{Operation, on_stream};
use crate::state::at_once;
use crate::table::Handle;

/// Bytes of parameters, at most.
const MOST_PARAMETERS: usize = 1 << 12;

/// Settings of a function.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    block: [u32; 3],
    /// Dynamic shared memory in bytes.
    shared: u32,
    params: Vec<u8>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { block: [1; 3], shared: 0, params: Vec::new() }
    }
}

/// Changes the settings of a function.
fn change(
    function: Handle,
    change: impl FnOnce(&mut Settings) -> Result<(), Error>,
) -> Result<(), Error> {
    change(&mut at_once()?.functions.get_mut(function)?.settings)
}

/// Sets bytes of the parameters.
fn put(function: Handle, offset: i32, bytes: &[u8]) -> Result<(), Error> {
    let offset = usize::try_from(offset).map_err(|_| Error::INVALID_VALUE)?;
    let end = offset.checked_add(bytes.len()).filter(|end| *end <= MOST_PARAMETERS);
    let end = end.ok_or(Error::INVALID_VALUE)?;
    change(function, |settings| {
        let params = &mut settings.params;
        params.resize(params.len().max(end), 0);
        params[offset..end].copy_from_slice(bytes);
        Ok(())
    })
}

/// Launches a function with what was set in it.
fn launch(function: Handle, [width, height]: [i32; 2], stream: Handle) -> Result<(), Error> {
    if width <= 0 || height <= 0 {
        return Err(Error::INVALID_VALUE);
    }
    let grid = [width as u32, height as u32, 1];
    let mut driver = at_once()?;
    driver.context()?;
    driver.stream(stream)?;
    let Settings { block, shared, mut params } = driver.functions.get(function)?.settings.clone();
    params.resize(driver.parameters(function)?.1 as usize, 0);
    drop(driver);
    let shape = Shape { grid, block, shared, cooperative: false };
    on_stream(stream, Operation::Launch(shape.with(function, params)))
}

entry_points! {
    fn cuFuncSetBlockShape(function: Handle, x: i32, y: i32, z: i32) {
        if x <= 0 || y <= 0 || z <= 0 {
            return Err(Error::INVALID_VALUE);
        }
        change(function, |settings| {
            settings.block = [x, y, z].map(|n| n as u32);
            Ok(())
        })
    }

    fn cuFuncSetSharedSize(function: Handle, bytes: u32) {
        change(function, |settings| {
            settings.shared = bytes;
            Ok(())
        })
    }

    fn cuParamSetSize(function: Handle, bytes: u32) {
        change(function, |settings| {
            let bytes = Some(bytes as usize).filter(|bytes| *bytes <= MOST_PARAMETERS);
            settings.params.resize(bytes.ok_or(Error::INVALID_VALUE)?, 0);
            Ok(())
        })
    }

    fn cuParamSeti(function: Handle, offset: i32, value: u32) {
        put(function, offset, &value.to_le_bytes())
    }

    fn cuParamSetf(function: Handle, offset: i32, value: f32) {
        put(function, offset, &value.to_le_bytes())
    }

    fn cuParamSetv(function: Handle, offset: i32, value: In<u8>, bytes: u32) {
        if bytes as usize > MOST_PARAMETERS {
            return Err(Error::INVALID_VALUE);
        }
        put(function, offset, &value.bytes(bytes as usize)?)
    }

    fn cuLaunch(function: Handle) {
        launch(function, [1, 1], 0)
    }

    fn cuLaunchGrid(function: Handle, width: i32, height: i32) {
        launch(function, [width, height], 0)
    }

    fn cuLaunchGridAsync(function: Handle, width: i32, height: i32, stream: Handle) {
        launch(function, [width, height], stream)
    }
}
