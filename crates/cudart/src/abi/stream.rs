//! Streams, events and functions that streams call.

use super::context::{self, current};
use super::driver::{HostFunction, StreamCallback};
use super::{Out, api};
use crate::registry::Handle;
use std::ffi::c_void;

api! {
    cudaStreamCreate(stream: Out<Handle>) {
        create(stream, 0)
    }

    cudaStreamCreateWithFlags(stream: Out<Handle>, flags: u32) {
        create(stream, flags)
    }

    cudaStreamCreateWithPriority(stream: Out<Handle>, flags: u32, priority: i32) {
        let mut made = 0;
        current()?.cuStreamCreateWithPriority(&raw mut made, flags, priority)?;
        stream.set(made)
    }

    cudaStreamDestroy(stream: Handle) {
        current()?.cuStreamDestroy_v2(stream)
    }

    cudaStreamSynchronize [cudaStreamSynchronize_ptsz] (stream: Handle) {
        current()?.cuStreamSynchronize(context::stream(stream))
    }

    cudaStreamQuery [cudaStreamQuery_ptsz] (stream: Handle) {
        current()?.cuStreamQuery(context::stream(stream))
    }

    cudaStreamWaitEvent [cudaStreamWaitEvent_ptsz] (stream: Handle, event: Handle, flags: u32) {
        current()?.cuStreamWaitEvent(context::stream(stream), event, flags)
    }

    cudaStreamGetFlags [cudaStreamGetFlags_ptsz] (stream: Handle, flags: Out<u32>) {
        let mut found = 0;
        current()?.cuStreamGetFlags(context::stream(stream), &raw mut found)?;
        flags.set(found)
    }

    cudaStreamGetPriority [cudaStreamGetPriority_ptsz] (stream: Handle, priority: Out<i32>) {
        let mut found = 0;
        current()?.cuStreamGetPriority(context::stream(stream), &raw mut found)?;
        priority.set(found)
    }

    cudaStreamGetId [cudaStreamGetId_ptsz] (stream: Handle, id: Out<u64>) {
        let mut found = 0;
        current()?.cuStreamGetId(context::stream(stream), &raw mut found)?;
        id.set(found)
    }

    cudaStreamGetDevice [cudaStreamGetDevice_ptsz] (_stream: Handle, device: Out<i32>) {
        device.set(context::device()?)
    }

    cudaStreamAddCallback [cudaStreamAddCallback_ptsz] (
        stream: Handle, callback: StreamCallback, argument: *mut c_void, flags: u32,
    ) {
        current()?.cuStreamAddCallback(context::stream(stream), callback, argument, flags)
    }

    cudaLaunchHostFunc [cudaLaunchHostFunc_ptsz] (
        stream: Handle, function: HostFunction, argument: *mut c_void,
    ) {
        current()?.cuLaunchHostFunc(context::stream(stream), function, argument)
    }

    // How it waits for the stream makes no difference.
    cudaLaunchHostFunc_v2 [cudaLaunchHostFunc_v2_ptsz] (
        stream: Handle, function: HostFunction, argument: *mut c_void, _mode: u32,
    ) {
        current()?.cuLaunchHostFunc(context::stream(stream), function, argument)
    }

    // Managed memory is visible to all streams.
    cudaStreamAttachMemAsync [cudaStreamAttachMemAsync_ptsz] (
        _stream: Handle, _pointer: usize, _bytes: usize, _flags: u32,
    ) {
        current().map(|_| ())
    }

    cudaEventCreate(event: Out<Handle>) {
        create_event(event, 0)
    }

    cudaEventCreateWithFlags(event: Out<Handle>, flags: u32) {
        create_event(event, flags)
    }

    cudaEventRecord [cudaEventRecord_ptsz] (event: Handle, stream: Handle) {
        current()?.cuEventRecord(event, context::stream(stream))
    }

    cudaEventRecordWithFlags [cudaEventRecordWithFlags_ptsz] (
        event: Handle, stream: Handle, flags: u32,
    ) {
        current()?.cuEventRecordWithFlags(event, context::stream(stream), flags)
    }

    cudaEventSynchronize(event: Handle) {
        current()?.cuEventSynchronize(event)
    }

    cudaEventQuery(event: Handle) {
        current()?.cuEventQuery(event)
    }

    cudaEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }

    cudaEventElapsedTime_v2(milliseconds: Out<f32>, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }

    cudaEventDestroy(event: Handle) {
        current()?.cuEventDestroy_v2(event)
    }
}

fn create(stream: Out<Handle>, flags: u32) -> crate::errors::Result<()> {
    let mut made = 0;
    current()?.cuStreamCreate(&raw mut made, flags)?;
    stream.set(made)
}

fn create_event(event: Out<Handle>, flags: u32) -> crate::errors::Result<()> {
    let mut made = 0;
    current()?.cuEventCreate(&raw mut made, flags)?;
    event.set(made)
}

fn elapsed(milliseconds: Out<f32>, start: Handle, end: Handle) -> crate::errors::Result<()> {
    let mut found = 0.0;
    current()?.cuEventElapsedTime(&raw mut found, start, end)?;
    milliseconds.set(found)
}
