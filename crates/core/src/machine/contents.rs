//! Device memory of a launch: buffers and variables moved in before a run, and back after it.

use crate::exec::{self, GlobalMemory, Heap, SegmentImage};
use crate::kernel::Kernel;
use crate::kernel::layout::HEAP_BASE;
use crate::launch::{Buffer, Launch, Spare};

/// Returns the content of device memory at the start of a launch.
pub(super) fn images(kernel: &Kernel, launch: &Launch) -> Vec<SegmentImage> {
    let buffers = launch.mapped().map(|b| (b.address, b.reach, b.content(), b.writable));
    let mut segments = exec::segments(launch.fresh(&kernel.variables), buffers);
    if kernel.uses_heap() && launch.heap.is_none() {
        let bytes = Heap::default().bytes();
        segments.push((HEAP_BASE, bytes, vec![0; (bytes / 4) as usize], true));
    }
    segments.extend(exec::workspace(launch.cooperative));
    segments.extend(exec::parameters(kernel, &launch.params));
    segments
}

/// Moves the launch's buffers and the kernel's variables to device memory. Lent content stays where
/// it is.
pub(super) fn load(kernel: &Kernel, launch: &mut Launch) -> GlobalMemory {
    let variables = launch.fresh(&kernel.variables);
    let lent =
        launch.mapped().filter_map(|b| Some((b.address, b.reach, b.lent.clone()?, b.writable)));
    let lent: Vec<_> = lent.collect();
    let given = launch.buffers.iter_mut().filter(|b| b.mapped && b.lent.is_none());
    let buffers = given.map(|b| (b.address, b.reach, std::mem::take(&mut b.words), b.writable));
    let mut segments = exec::segments(variables, buffers);
    segments.extend(exec::workspace(launch.cooperative));
    segments.extend(exec::parameters(kernel, &launch.params));
    let fresh = || kernel.uses_heap().then(Heap::default);
    GlobalMemory::with_heap(segments, launch.heap.take().or_else(fresh))
        .with_lent(lent.into_iter())
        .with_spare(std::mem::take(&mut launch.spare.pieces))
}

/// Moves the buffers back.
pub(super) fn unload(mut global: GlobalMemory, launch: &mut Launch) {
    let (pieces, accessed) = global.take_spare();
    launch.spare = Spare { pieces, accessed };
    let (segments, heap) = global.into_parts();
    launch.heap = heap;
    let own = launch.buffers.iter_mut().filter(|b| b.mapped && b.lent.is_none());
    let mut mapped: Vec<&mut Buffer> = own.collect();
    mapped.sort_by_key(|buffer| buffer.address);
    let mut segments = segments.into_iter().peekable();
    for buffer in mapped {
        let ends_before = |s: &SegmentImage| s.0 + s.1.max(1) <= buffer.address;
        while segments.next_if(ends_before).is_some() {}
        let Some(segment) = segments.peek_mut() else { break };
        buffer.words = if (segment.0, segment.1) == (buffer.address, buffer.reach) {
            std::mem::take(&mut segment.2)
        } else {
            exec::part_of(segment, buffer.address, buffer.reach)
        };
    }
}
