//! Objects of the program that graphs refer to.

use super::entry_points;
use super::graphs::end_objects;
use super::pointer::Out;
use crate::error::Error;
use crate::graph::objects::UserObject;
use crate::operation::HostFunction;
use crate::state::at_once;
use crate::table::Handle;

/// Flag of an object: its end waits for nothing. The only one, and needed.
const NO_SYNC: u32 = 1;
/// Flag of a reference: the caller's becomes the graph's.
const MOVE: u32 = 1;

entry_points! {
    fn cuUserObjectCreate(
        out: Out<Handle>, data: usize, end: Option<HostFunction>, references: u32, flags: u32,
    ) {
        let mut driver = at_once()?;
        out.check()?;
        let end = end.ok_or(Error::INVALID_VALUE)?;
        if references == 0 || flags != NO_SYNC {
            return Err(Error::INVALID_VALUE);
        }
        out.set(driver.graphs.objects.add(UserObject { end, data, references }))
    }

    fn cuUserObjectRetain(object: Handle, count: u32) {
        at_once()?.graphs.retain(object, count)
    }

    fn cuUserObjectRelease(object: Handle, count: u32) {
        let mut driver = at_once()?;
        let end = driver.graphs.release(object, count)?;
        end_objects(driver, end.into_iter().collect());
        Ok(())
    }

    fn cuGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32) {
        if flags > MOVE {
            return Err(Error::INVALID_VALUE);
        }
        at_once()?.graphs.retain_in(graph, object, count, flags == MOVE)
    }

    fn cuGraphReleaseUserObject(graph: Handle, object: Handle, count: u32) {
        let mut driver = at_once()?;
        let end = driver.graphs.release_in(graph, object, count)?;
        end_objects(driver, end.into_iter().collect());
        Ok(())
    }
}
