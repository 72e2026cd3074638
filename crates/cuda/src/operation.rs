//! Operations: what a stream does, as values with their arguments.

use crate::copy::BlockCopy;
use crate::error::Error;
use crate::fill::Fill;
use crate::launch::Request;
use crate::queue::{self, Work};
use crate::state::{self, at_once};
use crate::table::Handle;

/// Function of the host that a stream calls.
pub(crate) type HostFunction = extern "C" fn(usize);

/// Something that a stream does.
#[derive(Clone, Debug)]
pub(crate) enum Operation {
    Launch(Request),
    Copy(BlockCopy),
    Set(Fill),
    /// Call of a function with its argument.
    Call(HostFunction, usize),
}

/// Does an operation in the order of a stream.
///
/// # Errors
/// Those of its arguments and of its context.
pub(crate) fn on_stream(stream: Handle, operation: Operation) -> Result<(), Error> {
    let mut driver = at_once()?;
    driver.context()?;
    driver.stream(stream)?;
    if let Operation::Launch(request) = operation {
        let (context, _) = driver.context()?;
        let ready = driver.admitted(context, &request)?;
        let blocks = driver.options.blocking;
        queue::submit(driver, Work::Launch(Box::new(ready)));
        return if blocks { state::driver()?.context().map(|_| ()) } else { Ok(()) };
    }
    let mut driver = queue::finish(driver);
    if let Operation::Call(function, data) = operation {
        drop(driver);
        // All work before it is done; the driver is not locked, as it may be called.
        function(data);
        return Ok(());
    }
    let device = driver.current_device()?;
    match operation {
        Operation::Copy(copy) => {
            driver.check_copy(&copy)?;
            if copy.is_empty() { Ok(()) } else { driver.copy(&copy, device) }
        }
        Operation::Set(fill) => {
            driver.check_fill(&fill)?;
            if fill.is_empty() { Ok(()) } else { driver.fill(&fill, device) }
        }
        _ => Ok(()),
    }
}
