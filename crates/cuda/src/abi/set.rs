//! Memory filled with a value.

use super::entry_points;
use crate::error::Error;
use crate::fill::Fill;
use crate::operation::{Operation, on_stream};
use crate::table::Handle;

/// Returns a set of values of `element` bytes that follow each other.
fn row(address: u64, element: u32, value: u32, count: usize) -> Fill {
    rows(address, 0, element, value, [count, 1])
}

fn rows(address: u64, pitch: usize, element: u32, value: u32, size: [usize; 2]) -> Fill {
    let [columns, rows] = size.map(|n| n as u64);
    Fill { address, pitch: pitch as u64, element, value, columns, rows }
}

/// Sets without a stream.
fn set(fill: Fill) -> Result<(), Error> {
    set_on(0, fill)
}

/// Sets in the order of a stream.
fn set_on(stream: Handle, fill: Fill) -> Result<(), Error> {
    on_stream(stream, Operation::Set(fill))
}

entry_points! {
    fn cuMemsetD8_v2(address: u64, value: u8, count: usize) {
        set(row(address, 1, value.into(), count))
    }

    fn cuMemsetD8Async(address: u64, value: u8, count: usize, stream: Handle) {
        set_on(stream, row(address, 1, value.into(), count))
    }

    fn cuMemsetD16_v2(address: u64, value: u16, count: usize) {
        set(row(address, 2, value.into(), count))
    }

    fn cuMemsetD16Async(address: u64, value: u16, count: usize, stream: Handle) {
        set_on(stream, row(address, 2, value.into(), count))
    }

    fn cuMemsetD32_v2(address: u64, value: u32, count: usize) {
        set(row(address, 4, value, count))
    }

    fn cuMemsetD32Async(address: u64, value: u32, count: usize, stream: Handle) {
        set_on(stream, row(address, 4, value, count))
    }

    fn cuMemsetD2D8_v2(address: u64, pitch: usize, value: u8, width: usize, height: usize) {
        set(rows(address, pitch, 1, value.into(), [width, height]))
    }

    fn cuMemsetD2D8Async(
        address: u64, pitch: usize, value: u8, width: usize, height: usize, stream: Handle,
    ) {
        set_on(stream, rows(address, pitch, 1, value.into(), [width, height]))
    }

    fn cuMemsetD2D16_v2(address: u64, pitch: usize, value: u16, width: usize, height: usize) {
        set(rows(address, pitch, 2, value.into(), [width, height]))
    }

    fn cuMemsetD2D16Async(
        address: u64, pitch: usize, value: u16, width: usize, height: usize, stream: Handle,
    ) {
        set_on(stream, rows(address, pitch, 2, value.into(), [width, height]))
    }

    fn cuMemsetD2D32_v2(address: u64, pitch: usize, value: u32, width: usize, height: usize) {
        set(rows(address, pitch, 4, value, [width, height]))
    }

    fn cuMemsetD2D32Async(
        address: u64, pitch: usize, value: u32, width: usize, height: usize, stream: Handle,
    ) {
        set_on(stream, rows(address, pitch, 4, value, [width, height]))
    }
}
