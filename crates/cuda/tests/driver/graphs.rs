//! Graphs: made node by node and by capture, changed, launched.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::api::{Driver, address, text};

const PTX: &str = include_str!("vector_add.ptx");

/// Codes of `cuda.h`.
const INVALID_VALUE: u32 = 1;
const NOT_PERMITTED: u32 = 800;
const NOT_SUPPORTED: u32 = 801;
const UNSUPPORTED: u32 = 900;
const INVALIDATED: u32 = 901;
const UNJOINED: u32 = 904;
const IMPLICIT: u32 = 906;
const UPDATE_FAILURE: u32 = 910;
/// Types of nodes.
const KERNEL: u32 = 0;
const COPY: u32 = 1;
const SET: u32 = 2;
const HOST: u32 = 3;
const GRAPH: u32 = 4;
const EMPTY: u32 = 5;
const ALLOCATION: u32 = 10;
const FREE: u32 = 11;

/// Arguments of `add` and the list of their addresses.
struct Arguments(Box<[u64; 4]>, Box<[u64; 4]>);

impl Arguments {
    fn new(values: [u64; 4]) -> Arguments {
        let values = Box::new(values);
        let places = std::array::from_fn(|i| (&raw const values[i]) as u64);
        Arguments(values, Box::new(places))
    }

    fn list(&self) -> u64 {
        let _ = &self.0;
        self.1.as_ptr() as u64
    }

    /// Returns `CUDA_KERNEL_NODE_PARAMS` of a block of threads.
    fn node(&self, function: u64, threads: u32) -> [u64; 9] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let shape = [pair(1, 1), pair(1, threads), pair(1, 1)];
        [function, shape[0], shape[1], shape[2], 0, self.list(), 0, 0, 0]
    }
}

/// Returns `CUDA_MEMSET_NODE_PARAMS` of words.
fn set(at: u64, value: u32, count: u64) -> [u64; 5] {
    [at, 0, u64::from(value) | 4 << 32, count, 1]
}

/// Returns `CUDA_MEMCPY3D` from device memory to memory of the process.
fn to_host(to: u64, from: u64, bytes: u64) -> [u64; 25] {
    let mut copy = [0; 25];
    (copy[4], copy[6], copy[15], copy[16]) = (2, from, 1, to);
    (copy[22], copy[23], copy[24]) = (bytes, 1, 1);
    copy
}

/// Adds a node after others.
fn add(cuda: &Driver, name: &str, graph: u64, after: &[u64], rest: &[u64]) -> u64 {
    let (list, count) = (after.as_ptr() as u64, after.len() as u64);
    cuda.make(name, &[&[graph, list, count], rest].concat())
}

/// Returns a stream that the legacy default stream waits for.
fn stream(cuda: &Driver) -> u64 {
    cuda.make("cuStreamCreate", &[0])
}

fn begin(cuda: &Driver, stream: u64) {
    assert_eq!(cuda.call("cuStreamBeginCapture_v2", &[stream, 1]), 0);
}

fn instantiate(cuda: &Driver, graph: u64) -> u64 {
    cuda.make("cuGraphInstantiateWithFlags", &[graph, 0])
}

/// Launches an executable graph and waits for it.
fn run(cuda: &Driver, exec: u64, stream: u64) {
    assert_eq!(cuda.call("cuGraphLaunch", &[exec, stream]), 0);
    assert_eq!(cuda.call("cuStreamSynchronize", &[stream]), 0);
}

/// Returns the nodes of a graph and their types.
fn nodes(cuda: &Driver, graph: u64) -> (Vec<u64>, Vec<u32>) {
    let (mut list, mut count) = ([0_u64; 32], 32_u64);
    let places = [graph, address(&mut list), address(&mut count)];
    assert_eq!(cuda.call("cuGraphGetNodes", &places), 0);
    let nodes = list[..count as usize].to_vec();
    let types = nodes.iter().map(|node| {
        let mut kind = 99_u32;
        assert_eq!(cuda.call("cuGraphNodeGetType", &[*node, address(&mut kind)]), 0);
        kind
    });
    let types = types.collect();
    (nodes, types)
}

/// Returns the edges of a graph by number of node.
fn edges(cuda: &Driver, graph: u64) -> Vec<[usize; 2]> {
    let (mut from, mut to, mut count) = ([0_u64; 64], [0_u64; 64], 64_u64);
    let places = [graph, address(&mut from), address(&mut to), address(&mut count)];
    assert_eq!(cuda.call("cuGraphGetEdges", &places), 0);
    let (all, _) = nodes(cuda, graph);
    let place = |node: u64| all.iter().position(|other| *other == node).expect("a node");
    (0..count as usize).map(|i| [place(from[i]), place(to[i])]).collect()
}

#[test]
fn a_captured_stream_and_one_that_joins_it_become_a_graph() {
    let cuda = Driver::load();
    cuda.context();
    let kernel = cuda.kernel(PTX, "add");
    let memory = cuda.upload(&[1; 32]);
    let (sum, more) = (cuda.upload(&[0; 32]), cuda.upload(&[0; 32]));
    let [main, side] = [stream(&cuda), stream(&cuda)];
    let [fork, join] = [0; 2].map(|_| cuda.make("cuEventCreate", &[2]));
    let launch = |on: u64, values: [u64; 4]| {
        let arguments = Arguments::new(values);
        let shape = [kernel, 1, 1, 1, 32, 1, 1, 0, on, arguments.list(), 0];
        assert_eq!(cuda.call("cuLaunchKernel", &shape), 0);
    };
    let mut results = [0_u32; 32];
    begin(&cuda, main);
    launch(main, [memory, memory, sum, 32]);
    assert_eq!(cuda.call("cuEventRecord", &[fork, main]), 0);
    assert_eq!(cuda.call("cuStreamWaitEvent", &[side, fork, 0]), 0);
    let mut status = 0_u32;
    assert_eq!(cuda.call("cuStreamIsCapturing", &[side, address(&mut status)]), 0);
    assert_eq!(status, 1, "the other stream has joined");
    launch(side, [sum, sum, more, 32]);
    assert_eq!(cuda.call("cuMemsetD32Async", &[memory, 5, 32, main]), 0);
    assert_eq!(cuda.call("cuEventRecord", &[join, side]), 0);
    assert_eq!(cuda.call("cuStreamWaitEvent", &[main, join, 0]), 0);
    let to = address(&mut results);
    assert_eq!(cuda.call("cuMemcpyDtoHAsync_v2", &[to, more, 128, main]), 0);
    let graph = {
        let mut graph = 0_u64;
        assert_eq!(cuda.call("cuStreamEndCapture", &[main, address(&mut graph)]), 0);
        graph
    };
    assert_eq!(nodes(&cuda, graph).1, [KERNEL, KERNEL, SET, COPY]);
    assert_eq!(edges(&cuda, graph), [[0, 1], [0, 2], [1, 3], [2, 3]]);
    assert_eq!(
        (cuda.download(sum, 1), cuda.download(memory, 1)),
        (vec![0], vec![1]),
        "no work yet"
    );
    let exec = instantiate(&cuda, graph);
    run(&cuda, exec, main);
    assert_eq!((results, cuda.download(memory, 2)), ([4; 32], vec![5, 5]));
    run(&cuda, exec, side);
    assert_eq!(results, [20; 32], "the second launch begins with what the first left");
    assert_eq!(cuda.call("cuGraphDestroy", &[graph]), 0);
    run(&cuda, exec, 0);
    assert_eq!(cuda.call("cuGraphExecDestroy", &[exec]), 0);
    assert_eq!(cuda.call("cuGraphLaunch", &[exec, 0]), INVALID_VALUE);
}

#[test]
fn nodes_are_done_in_the_order_of_their_edges() {
    let cuda = Driver::load();
    cuda.context();
    let kernel = cuda.kernel(PTX, "add");
    let [a, c] = [cuda.upload(&[0; 8]), cuda.upload(&[0; 8])];
    let mut results = [0_u32; 8];
    let graph = cuda.make("cuGraphCreate", &[0]);
    // Made back to front: the copy first, the set last.
    let copy = to_host(address(&mut results), c, 32);
    let copy = add(&cuda, "cuGraphAddMemcpyNode", graph, &[], &[copy.as_ptr() as u64, 0]);
    let arguments = Arguments::new([a, a, c, 8]);
    let params = arguments.node(kernel, 8);
    let params = params.as_ptr() as u64;
    let launch = add(&cuda, "cuGraphAddKernelNode_v2", graph, &[], &[params]);
    let empty = add(&cuda, "cuGraphAddEmptyNode", graph, &[], &[]);
    let fill = set(a, 3, 8);
    let fill = add(&cuda, "cuGraphAddMemsetNode", graph, &[], &[fill.as_ptr() as u64, 0]);
    let (from, to) = ([fill, empty, launch], [empty, launch, copy]);
    let lists = [graph, from.as_ptr() as u64, to.as_ptr() as u64, 3];
    assert_eq!(cuda.call("cuGraphAddDependencies", &lists), 0);
    assert_eq!(cuda.call("cuGraphAddDependencies", &lists), INVALID_VALUE, "they are there");
    let clone = cuda.make("cuGraphClone", &[graph]);
    for graph in [graph, clone] {
        assert_eq!(nodes(&cuda, graph).1, [COPY, KERNEL, EMPTY, SET]);
        assert_eq!(edges(&cuda, graph), [[1, 0], [2, 1], [3, 2]]);
    }
    let twin = cuda.make("cuGraphNodeFindInClone", &[fill, clone]);
    assert_eq!(twin, nodes(&cuda, clone).0[3]);
    run(&cuda, instantiate(&cuda, graph), 0);
    assert_eq!(results, [6; 8]);
    // A child graph, with another value in its set.
    let other = set(a, 4, 8);
    assert_eq!(cuda.call("cuGraphMemsetNodeSetParams", &[twin, other.as_ptr() as u64]), 0);
    let parent = cuda.make("cuGraphCreate", &[0]);
    add(&cuda, "cuGraphAddChildGraphNode", parent, &[], &[clone]);
    assert_eq!(cuda.call("cuGraphDestroy", &[clone]), 0, "the node has a copy");
    assert_eq!(nodes(&cuda, parent).1, [GRAPH]);
    run(&cuda, instantiate(&cuda, parent), 0);
    assert_eq!(results, [8; 8]);
    // A circle has no order.
    let circle = [graph, to.as_ptr() as u64 + 16, from.as_ptr() as u64, 1];
    assert_eq!(cuda.call("cuGraphAddDependencies", &circle), 0);
    let mut exec = 0_u64;
    let made = cuda.call("cuGraphInstantiateWithFlags", &[address(&mut exec), graph, 0]);
    assert_eq!(made, INVALID_VALUE);
}

#[test]
fn an_executable_graph_takes_other_parameters() {
    let cuda = Driver::load();
    cuda.context();
    let kernel = cuda.kernel(PTX, "add");
    let [a, c] = [cuda.upload(&[1; 8]), cuda.upload(&[0; 8])];
    let make = |values: [u64; 4], value: u32| {
        let graph = cuda.make("cuGraphCreate", &[0]);
        let fill = set(c, value, 8);
        let first = add(&cuda, "cuGraphAddMemsetNode", graph, &[], &[fill.as_ptr() as u64, 0]);
        let params = Arguments::new(values);
        let params = params.node(kernel, 8);
        let params = params.as_ptr() as u64;
        let second = add(&cuda, "cuGraphAddKernelNode_v2", graph, &[first], &[params]);
        (graph, first, second)
    };
    let (graph, first, second) = make([a, c, c, 4], 10);
    let exec = instantiate(&cuda, graph);
    run(&cuda, exec, 0);
    assert_eq!(cuda.download(c, 8), [11, 11, 11, 11, 10, 10, 10, 10]);
    let all = Arguments::new([a, c, c, 8]);
    let params = all.node(kernel, 8);
    let change = [exec, second, params.as_ptr() as u64];
    assert_eq!(cuda.call("cuGraphExecKernelNodeSetParams_v2", &change), 0);
    run(&cuda, exec, 0);
    assert_eq!(cuda.download(c, 8), [11; 8]);
    assert_eq!(cuda.call("cuGraphNodeSetEnabled", &[exec, second, 0]), 0);
    run(&cuda, exec, 0);
    assert_eq!(cuda.download(c, 8), [10; 8], "a node that is left out");
    assert_eq!(cuda.call("cuGraphNodeSetEnabled", &[exec, second, 1]), 0);
    // All at once, after a graph that was made alike.
    let mut info = [0_u64; 3];
    let (other, ..) = make([c, c, c, 8], 21);
    assert_eq!(cuda.call("cuGraphExecUpdate_v2", &[exec, other, address(&mut info)]), 0);
    run(&cuda, exec, 0);
    assert_eq!(cuda.download(c, 8), [42; 8]);
    let third = add(&cuda, "cuGraphAddEmptyNode", other, &[], &[]);
    let update = [exec, other, address(&mut info)];
    assert_eq!(cuda.call("cuGraphExecUpdate_v2", &update), UPDATE_FAILURE);
    assert_eq!(info[0] as u32, 2, "another topology");
    assert_eq!(cuda.call("cuGraphDestroyNode", &[third]), 0);
    // The parameters of a node, read and written back.
    let mut read = [0_u64; 9];
    assert_eq!(cuda.call("cuGraphKernelNodeGetParams_v2", &[second, address(&mut read)]), 0);
    assert_eq!((read[0], read[5] != 0), (kernel, true));
    assert_eq!(cuda.call("cuGraphKernelNodeSetParams_v2", &[second, address(&mut read)]), 0);
    assert_eq!(
        cuda.call("cuGraphKernelNodeGetParams_v2", &[first, address(&mut read)]),
        INVALID_VALUE
    );
    run(&cuda, instantiate(&cuda, graph), 0);
    assert_eq!(cuda.download(c, 8), [11, 11, 11, 11, 10, 10, 10, 10]);
}

static CALLED: AtomicU64 = AtomicU64::new(0);
static SYNCHRONIZE: AtomicU64 = AtomicU64::new(0);

/// Notes the word at an address, and what a call of the driver returns here.
extern "C" fn note(word: *const u32) {
    // SAFETY: the test passes the address of a word that a copy before has written.
    CALLED.store(u64::from(unsafe { word.read_volatile() }), Ordering::Relaxed);
    let cuda = Driver::load_again();
    SYNCHRONIZE.store(cuda.call("cuCtxSynchronize", &[]).into(), Ordering::Relaxed);
}

#[test]
fn a_function_of_the_host_has_its_turn() {
    let cuda = Driver::load();
    cuda.context();
    let c = cuda.upload(&[7]);
    let mut word = 0_u32;
    let on = stream(&cuda);
    begin(&cuda, on);
    assert_eq!(cuda.call("cuMemcpyDtoHAsync_v2", &[address(&mut word), c, 4, on]), 0);
    let function = note as extern "C" fn(*const u32) as usize as u64;
    assert_eq!(cuda.call("cuLaunchHostFunc", &[on, function, address(&mut word)]), 0);
    let mut graph = 0_u64;
    assert_eq!(cuda.call("cuStreamEndCapture", &[on, address(&mut graph)]), 0);
    assert_eq!(nodes(&cuda, graph).1, [COPY, HOST]);
    assert_eq!(CALLED.load(Ordering::Relaxed), 0);
    run(&cuda, instantiate(&cuda, graph), on);
    assert_eq!(CALLED.load(Ordering::Relaxed), 7);
    assert_eq!(SYNCHRONIZE.load(Ordering::Relaxed), u64::from(NOT_PERMITTED));
}

#[test]
fn calls_that_a_capture_does_not_allow_invalidate_it() {
    let cuda = Driver::load();
    cuda.context();
    let memory = cuda.upload(&[0; 8]);
    let [main, side] = [stream(&cuda), stream(&cuda)];
    let event = cuda.make("cuEventCreate", &[2]);
    let mut word = 0_u32;
    let word = address(&mut word);
    let mut graph = 1_u64;
    for (name, arguments, error) in [
        ("cuStreamSynchronize", vec![main], UNSUPPORTED),
        ("cuStreamQuery", vec![main], UNSUPPORTED),
        ("cuCtxSynchronize", vec![], UNSUPPORTED),
        ("cuMemFree_v2", vec![memory], UNSUPPORTED),
        ("cuMemcpyDtoH_v2", vec![word, memory, 4], IMPLICIT),
        ("cuMemsetD8Async", vec![memory, 0, 4, 0], IMPLICIT),
    ] {
        begin(&cuda, main);
        assert_eq!(cuda.call(name, &arguments), error, "{name}");
        assert_eq!(cuda.call("cuMemsetD8Async", &[memory, 0, 4, main]), INVALIDATED);
        assert_eq!(cuda.call("cuStreamEndCapture", &[main, address(&mut graph)]), INVALIDATED);
        assert_eq!(graph, 0, "{name}");
    }
    begin(&cuda, main);
    assert_eq!(cuda.call("cuEventRecord", &[event, main]), 0);
    assert_eq!(cuda.call("cuStreamWaitEvent", &[side, event, 0]), 0);
    assert_eq!(cuda.call("cuMemsetD8Async", &[memory, 0, 4, side]), 0);
    assert_eq!(cuda.call("cuStreamEndCapture", &[main, address(&mut graph)]), UNJOINED);
    assert_eq!(cuda.call("cuMemsetD8Async", &[memory, 9, 4, side]), 0, "it does its work again");
    assert_eq!(cuda.download(memory, 1), [0x0909_0909]);
}

#[test]
fn memory_of_a_graph_is_there_while_its_nodes_need_it() {
    let cuda = Driver::load();
    cuda.context();
    let on = stream(&cuda);
    let mut results = [0_u32; 4];
    let mut graph = 0_u64;
    let capture = |frees: bool, graph: &mut u64, results: &mut [u32; 4]| {
        begin(&cuda, on);
        let at = cuda.make("cuMemAllocAsync", &[4096, on]);
        assert_eq!(cuda.call("cuMemsetD32Async", &[at, 6, 4, on]), 0);
        assert_eq!(cuda.call("cuMemcpyDtoHAsync_v2", &[address(results), at, 16, on]), 0);
        if frees {
            assert_eq!(cuda.call("cuMemFreeAsync", &[at, on]), 0);
        }
        assert_eq!(cuda.call("cuStreamEndCapture", &[on, address(graph)]), 0);
        at
    };
    let at = capture(true, &mut graph, &mut results);
    assert_eq!(nodes(&cuda, graph).1, [ALLOCATION, SET, COPY, FREE]);
    let exec = instantiate(&cuda, graph);
    let second = [address(&mut 0_u64), graph, 0];
    assert_eq!(cuda.call("cuGraphInstantiateWithFlags", &second), NOT_SUPPORTED);
    for _ in 0..2 {
        results = [0; 4];
        run(&cuda, exec, on);
        assert_eq!(results, [6; 4]);
    }
    let mut word = 0_u32;
    let read = [address(&mut word), at, 4];
    assert_eq!(cuda.call("cuMemcpyDtoH_v2", &read), INVALID_VALUE, "it was freed");
    // Memory that outlives the launch.
    let at = capture(false, &mut graph, &mut results);
    let exec = instantiate(&cuda, graph);
    assert_eq!(cuda.call("cuMemFree_v2", &[at]), INVALID_VALUE, "it is not there yet");
    run(&cuda, exec, on);
    assert_eq!(cuda.download(at, 4), [6; 4]);
    assert_eq!(cuda.call("cuGraphLaunch", &[exec, on]), INVALID_VALUE, "the memory is still there");
    assert_eq!(cuda.call("cuMemFree_v2", &[at]), 0);
    run(&cuda, exec, on);
    assert_eq!(cuda.call("cuMemFreeAsync", &[at, on]), 0);
}

/// Counts down, and sets the value of a conditional handle to the count.
const COUNTDOWN: &str = ".version 7.0
.target sm_75
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry countdown(.param .u64 count, .param .u64 handle)
{
    .reg .b32 %r;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [count];
    ld.param.u64 %rd2, [handle];
    ld.global.u32 %r, [%rd1];
    sub.u32 %r, %r, 1;
    st.global.u32 [%rd1], %r;
    {
    .param .b64 to;
    .param .b32 value;
    st.param.b64 [to], %rd2;
    st.param.b32 [value], %r;
    call cudaGraphSetConditional, (to, value);
    }
    ret;
}
";

#[test]
fn a_value_that_kernels_set_chooses_between_graphs() {
    let cuda = Driver::load();
    cuda.context();
    let kernel = cuda.kernel(COUNTDOWN, "countdown");
    let count = cuda.upload(&[3]);
    let graph = cuda.make("cuGraphCreate", &[0]);
    let handle = cuda.make("cuGraphConditionalHandleCreate", &[graph, 0, 1, 1]);
    // `CUgraphNodeParams` of a loop: type, handle, form and number of graphs, their list.
    let mut node = [0_u64; 32];
    (node[0], node[2], node[3]) = (13, handle, 1 | 1 << 32);
    cuda.make("cuGraphAddNode_v2", &[graph, 0, 0, 0, address(&mut node)]);
    // SAFETY: the driver returned the address of a list of one graph.
    let body = unsafe { (node[4] as *const u64).read() };
    let arguments = Arguments::new([count, handle, 0, 0]);
    let params = arguments.node(kernel, 1);
    let params = params.as_ptr() as u64;
    let first = add(&cuda, "cuGraphAddKernelNode_v2", body, &[], &[params]);
    let mut left = 9_u32;
    let copy = to_host(address(&mut left), count, 4);
    add(&cuda, "cuGraphAddMemcpyNode", body, &[first], &[copy.as_ptr() as u64, 0]);
    let exec = instantiate(&cuda, graph);
    run(&cuda, exec, 0);
    assert_eq!((left, cuda.download(count, 1)), (0, vec![0]), "three times");
    assert_eq!(cuda.call("cuMemsetD32_v2", &[count, 2, 1]), 0);
    run(&cuda, exec, 0);
    assert_eq!(cuda.download(count, 1), [0], "a launch begins with the default");
    let mut place = 0_u64;
    let clone = [address(&mut place), graph];
    assert_eq!(cuda.call("cuGraphClone", &clone), NOT_SUPPORTED);
    assert_eq!(cuda.call("cuGraphDestroy", &[body]), INVALID_VALUE, "it is the node's");
    let event = cuda.make("cuEventCreate", &[0]);
    add(&cuda, "cuGraphAddEventRecordNode", body, &[], &[event]);
    let again = [address(&mut place), graph, 0];
    assert_eq!(cuda.call("cuGraphInstantiateWithFlags", &again), NOT_SUPPORTED);
}

#[test]
fn a_fault_ends_the_nodes_after_it() {
    let cuda = Driver::load();
    cuda.context();
    let kernel = cuda.kernel(PTX, "add");
    let a = cuda.upload(&[1; 8]);
    let graph = cuda.make("cuGraphCreate", &[0]);
    let arguments = Arguments::new([a, a, 64, 8]);
    let params = arguments.node(kernel, 8);
    let bad = add(&cuda, "cuGraphAddKernelNode_v2", graph, &[], &[params.as_ptr() as u64]);
    let mut results = [5_u32; 8];
    let copy = to_host(address(&mut results), a, 32);
    add(&cuda, "cuGraphAddMemcpyNode", graph, &[bad], &[copy.as_ptr() as u64, 0]);
    let exec = instantiate(&cuda, graph);
    assert_eq!(cuda.call("cuGraphLaunch", &[exec, 0]), 0);
    assert_eq!(cuda.call("cuCtxSynchronize", &[]), 700);
    assert_eq!(results, [5; 8]);
}

#[test]
fn a_graph_is_drawn_as_on_an_h200() {
    let cuda = Driver::load();
    cuda.context();
    let kernel = cuda.kernel(PTX, "add");
    let a = cuda.upload(&[1; 8]);
    let graph = cuda.make("cuGraphCreate", &[0]);
    let arguments = Arguments::new([a, a, a, 8]);
    let params = arguments.node(kernel, 8);
    let first = add(&cuda, "cuGraphAddKernelNode_v2", graph, &[], &[params.as_ptr() as u64]);
    let fill = set(a, 7, 8);
    add(&cuda, "cuGraphAddMemsetNode", graph, &[first], &[fill.as_ptr() as u64, 0]);
    let path = std::env::temp_dir().join(format!("simt-graph-{}.dot", std::process::id()));
    let name = text(&path.display().to_string());
    assert_eq!(cuda.call("cuGraphDebugDotPrint", &[graph, name.as_ptr() as u64, 0]), 0);
    let drawn = std::fs::read_to_string(&path).expect("a picture");
    let _ = std::fs::remove_file(&path);
    let id = drawn.split("cluster_").nth(1).and_then(|rest| rest.split(' ').next()).expect("an id");
    assert_eq!(
        drawn,
        format!(
            "digraph dot {{\nsubgraph cluster_{id} {{\nlabel=\"graph_{id}\" graph[style=\"dashed\"];\n\
             \"graph_{id}_node_0\"[style=\"bold\" shape=\"octagon\" label=\"0\nadd\n\"];\n\n\
             \"graph_{id}_node_1\"[style=\"solid\" shape=\"invtrapezium\" label=\"1\nMEMSET\n(7,32)\n\
             \"];\n\n\"graph_{id}_node_0\" -> \"graph_{id}_node_1\";\n}}\n}}\n"
        )
    );
}
