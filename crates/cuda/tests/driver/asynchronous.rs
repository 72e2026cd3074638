//! The host goes on while launches run.

use std::thread;
use std::time::Duration;

use crate::api::{Driver, address, text};

const PTX: &str = include_str!("vector_add.ptx");
/// Iterations that take the simulator long enough for the calls below.
const LONG: u64 = 200_000;

/// Codes of `cuda.h`.
const NOT_READY: u32 = 600;
const ILLEGAL_ADDRESS: u32 = 700;

#[test]
fn calls_that_need_no_results_return_while_a_launch_runs() {
    let cuda = Driver::load();
    let context = cuda.context();
    let (count, out) = (cuda.kernel(PTX, "count"), cuda.upload(&[0]));
    let stream = cuda.make("cuStreamCreate", &[1]);
    let events = [0, 1, 2].map(|_| cuda.make("cuEventCreate", &[0]));
    let [start, middle, end] = events;
    let record = |event: u64| assert_eq!(cuda.call("cuEventRecord", &[event, stream]), 0);
    record(start);
    assert_eq!(cuda.launch(count, 1, 1, &[out, LONG]), 0);
    record(middle);
    assert_eq!(cuda.call("cuStreamQuery", &[stream]), NOT_READY);
    assert_eq!(cuda.call("cuEventQuery", &[middle]), NOT_READY);
    let mut milliseconds = 0_f32;
    let place = address(&mut milliseconds);
    assert_eq!(cuda.call("cuEventElapsedTime", &[place, start, middle]), NOT_READY);
    // Another thread is served, too.
    thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(cuda.call("cuCtxSetCurrent", &[context]), 0);
            cuda.make("cuDeviceGetAttribute", &[16, 0]);
            cuda.make("cuEventCreate", &[0]);
            assert_eq!(cuda.call("cuStreamQuery", &[stream]), NOT_READY);
        });
    });
    assert_eq!(cuda.launch(count, 1, 1, &[out, LONG + 1]), 0, "it waits for its turn");
    record(end);
    assert_eq!(cuda.download(out, 1), [LONG as u32 + 1], "a copy waits for all work before it");
    assert_eq!(cuda.call("cuStreamQuery", &[stream]), 0);
    assert_eq!(cuda.call("cuEventQuery", &[end]), 0);
    assert_eq!(cuda.call("cuEventElapsedTime", &[place, start, end]), 0);
    assert!(milliseconds > 0.1, "{milliseconds} ms");
}

#[test]
fn results_and_times_do_not_depend_on_waiting() {
    let cuda = Driver::load();
    cuda.context();
    let (count, out) = (cuda.kernel(PTX, "count"), cuda.upload(&[0; 4]));
    let measure = |waits: bool| {
        let events: Vec<u64> = (0..5).map(|_| cuda.make("cuEventCreate", &[0])).collect();
        assert_eq!(cuda.call("cuEventRecord", &[events[0], 0]), 0);
        for i in 0..4 {
            assert_eq!(cuda.launch(count, 1, 32, &[out + 4 * i, 1000 * (i + 1)]), 0);
            assert_eq!(cuda.call("cuEventRecord", &[events[i as usize + 1], 0]), 0);
            if waits {
                assert_eq!(cuda.call("cuCtxSynchronize", &[]), 0);
            }
        }
        assert_eq!(cuda.call("cuEventSynchronize", &[events[4]]), 0);
        assert_eq!(cuda.download(out, 4), [1000, 2000, 3000, 4000]);
        let pairs = events.windows(2).map(|pair| {
            let mut milliseconds = 0_f32;
            let place = address(&mut milliseconds);
            assert_eq!(cuda.call("cuEventElapsedTime", &[place, pair[0], pair[1]]), 0);
            milliseconds
        });
        pairs.collect::<Vec<f32>>()
    };
    // The tests of this program share a device: work of others lengthens the spans of its clock.
    let close = |(a, b): (&f32, &f32)| (a - b).abs() <= a.abs() * 1e-3;
    let equal = |_| {
        let times = [false, true].map(measure);
        times[0].iter().zip(&times[1]).all(close).then_some(times)
    };
    let times = (0..100).find_map(equal).expect("times without work of others");
    assert!(times[0].windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
}

#[test]
fn a_child_of_fork_cannot_use_the_driver() {
    const NOT_INITIALIZED: i32 = 3;
    let cuda = Driver::load();
    cuda.context();
    let [init, synchronize] = ["cuInit", "cuCtxSynchronize"].map(|name| cuda.function(name));
    // SAFETY: the child calls two functions that return at once, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: as any call of a function with numbers; `_exit` ends the process.
        unsafe {
            let codes = [init, synchronize].map(|f| f(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) as i32);
            libc::_exit(if codes == [NOT_INITIALIZED; 2] { 0 } else { 1 });
        }
    }
    assert!(child > 0, "no child process");
    let mut status = 0;
    // SAFETY: the child is ours, and the place for its status lives.
    let ended = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((ended, status), (child, 0), "CUDA goes on in a child");
    assert_eq!(cuda.call("cuCtxSynchronize", &[]), 0, "the parent goes on");
}

#[test]
fn a_small_copy_takes_the_time_of_its_start() {
    let cuda = Driver::load();
    cuda.context();
    let word = cuda.upload(&[7]);
    let [start, end] = [0; 2].map(|_| cuda.make("cuEventCreate", &[0]));
    assert_eq!(cuda.call("cuEventRecord", &[start, 0]), 0);
    assert_eq!(cuda.download(word, 1), [7]);
    assert_eq!(cuda.call("cuEventRecord", &[end, 0]), 0);
    assert_eq!(cuda.call("cuEventSynchronize", &[end]), 0);
    let mut milliseconds = 0_f32;
    let place = address(&mut milliseconds);
    assert_eq!(cuda.call("cuEventElapsedTime", &[place, start, end]), 0);
    assert!(milliseconds > 1e-3, "{milliseconds} ms");
}

#[test]
fn two_events_on_an_idle_device_measure_the_host() {
    const PAUSE: Duration = Duration::from_millis(30);
    let cuda = Driver::load();
    cuda.context();
    let pause = || {
        let [start, end] = [0; 2].map(|_| cuda.make("cuEventCreate", &[0]));
        assert_eq!(cuda.call("cuEventRecord", &[start, 0]), 0);
        thread::sleep(PAUSE);
        assert_eq!(cuda.call("cuEventRecord", &[end, 0]), 0);
        assert_eq!(cuda.call("cuEventSynchronize", &[end]), 0);
        let between = |from: u64, to: u64| {
            let mut milliseconds = 0_f32;
            let place = address(&mut milliseconds);
            assert_eq!(cuda.call("cuEventElapsedTime", &[place, from, to]), 0);
            milliseconds
        };
        [between(start, end), between(end, start)]
    };
    // Tests beside this one give the device work now and then; the time is then simulated.
    let found = (0..100).map(|_| pause()).find(|[forth, _]| *forth >= 30.0);
    let [forth, back] = found.expect("a pause without work of others");
    assert!((back + forth).abs() < 1e-3, "{forth} and {back} ms");
}

#[test]
fn copies_and_sets_take_the_time_of_their_bytes() {
    const BYTES: u64 = 1 << 22;
    /// Seconds of the start of a launch on an H200.
    const START: f64 = 2810.0 / 1.98e9;
    let cuda = Driver::load();
    cuda.context();
    let [a, b] = [0; 2].map(|_| cuda.make("cuMemAlloc_v2", &[BYTES]));
    let pinned = cuda.make("cuMemHostAlloc", &[BYTES, 0]);
    let pageable = vec![0_u8; BYTES as usize];
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-2;
    // Holds the bytes a second of a call against those of the GPU. Work of other tests, which share
    // the device, can only lower them, and it ends.
    let held = |name: &str, arguments: &[u64], expected: f64| {
        let one = || {
            let [start, end] = [0; 2].map(|_| cuda.make("cuEventCreate", &[0]));
            assert_eq!(cuda.call("cuEventRecord", &[start, 0]), 0);
            assert_eq!(cuda.call(name, arguments), 0);
            assert_eq!(cuda.call("cuEventRecord", &[end, 0]), 0);
            assert_eq!(cuda.call("cuEventSynchronize", &[end]), 0);
            let mut milliseconds = 0_f32;
            let place = address(&mut milliseconds);
            assert_eq!(cuda.call("cuEventElapsedTime", &[place, start, end]), 0);
            BYTES as f64 / (f64::from(milliseconds) / 1e3 - START)
        };
        let mut best = 0.0;
        for tries in 0..1000 {
            if tries >= 20 && near(best, expected) {
                break;
            }
            best = one().max(best);
        }
        assert!(near(best, expected), "{name}: {best}, not {expected}");
    };
    // An H200: PCI Express 5, and 2,273 bytes of DRAM a cycle at 1,980 MHz.
    let memory = 2273.0 * 1.98e9;
    held("cuMemcpyHtoD_v2", &[a, pinned, BYTES], 63e9);
    held("cuMemcpyDtoH_v2", &[pageable.as_ptr() as u64, a, BYTES], 31.5e9);
    held("cuMemcpyDtoD_v2", &[b, a, BYTES], memory / 2.0);
    held("cuMemsetD32_v2", &[a, 7, BYTES / 4], memory);
}

#[test]
fn a_fault_reaches_the_call_that_waits_and_ends_the_work_after_it() {
    let cuda = Driver::load();
    cuda.context();
    let (count, out) = (cuda.kernel(PTX, "count"), cuda.upload(&[0]));
    assert_eq!(cuda.launch(count, 1, 1, &[out, LONG]), 0);
    assert_eq!(cuda.launch(count, 1, 1, &[0, 1]), 0, "a fault, later");
    assert_eq!(cuda.launch(count, 1, 1, &[out, 1]), 0, "never runs");
    assert_eq!(cuda.call("cuCtxSynchronize", &[]), ILLEGAL_ADDRESS);
    assert_eq!(cuda.launch(count, 1, 1, &[out, 1]), ILLEGAL_ADDRESS);
}

#[test]
fn the_host_may_write_to_pinned_memory_that_a_launch_does_not_use() {
    let cuda = Driver::load();
    cuda.context();
    let count = cuda.kernel(PTX, "count");
    let pinned = cuda.make("cuMemHostAlloc", &[64, 0]);
    assert_eq!(cuda.launch(count, 1, 1, &[pinned, LONG]), 0);
    assert_eq!(cuda.call("cuStreamQuery", &[0]), NOT_READY);
    let place = std::ptr::with_exposed_provenance_mut::<u32>(pinned as usize + 8);
    // SAFETY: the driver allocated 64 bytes there, and the kernel writes to the first four.
    unsafe { place.write_volatile(7) };
    assert_eq!(cuda.call("cuCtxSynchronize", &[]), 0);
    // SAFETY: as above, and the launch has ended.
    let found = unsafe { [place.sub(2).read_volatile(), place.read_volatile()] };
    assert_eq!(found, [LONG as u32, 7]);
}

#[test]
fn objects_may_be_destroyed_while_a_launch_uses_them() {
    let cuda = Driver::load();
    cuda.context();
    let module = cuda.make("cuModuleLoadData", &[text(PTX).as_ptr() as u64]);
    let count = cuda.make("cuModuleGetFunction", &[module, text("count").as_ptr() as u64]);
    let out = cuda.upload(&[0]);
    let (stream, event) = (cuda.make("cuStreamCreate", &[0]), cuda.make("cuEventCreate", &[0]));
    assert_eq!(cuda.launch(count, 1, 1, &[out, LONG]), 0);
    assert_eq!(cuda.call("cuEventRecord", &[event, stream]), 0);
    assert_eq!(cuda.call("cuEventDestroy_v2", &[event]), 0);
    assert_eq!(cuda.call("cuStreamDestroy_v2", &[stream]), 0);
    assert_eq!(cuda.call("cuModuleUnload", &[module]), 0);
    assert_eq!(cuda.download(out, 1), [LONG as u32]);
}
