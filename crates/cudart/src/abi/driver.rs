//! The driver API of the process's `libcuda.so.1`, loaded at the first call.

use super::array::ArrayDescriptor;
use super::copy3d::{Copy2d, Copy3d};
use super::ipc::SharedHandle;
use super::launch::Config;
use crate::errors::{Error, Result};
use crate::registry::Handle;
use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

/// Address in the device's memory, or a host address that the driver knows.
pub(super) type DevicePtr = u64;

/// Function that a stream calls: a user's argument.
pub(super) type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;
/// Function that a stream calls: stream, status, a user's argument.
pub(super) type StreamCallback = Option<unsafe extern "C" fn(Handle, u32, *mut c_void)>;

/// Places for facts about a capture; 0 for those that nobody asks for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Facts {
    pub(super) id: usize,
    pub(super) graph: usize,
    pub(super) nodes: usize,
    pub(super) edges: usize,
    pub(super) count: usize,
}

/// `CUDA_KERNEL_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct KernelNode {
    pub(super) function: Handle,
    /// Grid and block.
    pub(super) shape: [u32; 6],
    /// Dynamic shared memory in bytes.
    pub(super) shared: u32,
    pub(super) arguments: usize,
    pub(super) extra: usize,
    /// Kernel, if there is no function.
    pub(super) kernel: Handle,
    pub(super) context: Handle,
}

/// `CUgraphNodeParams`, in words of 64 bits.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct AnyNode(pub(super) [u64; 32]);

impl AnyNode {
    /// Writes parameters from a word on.
    pub(super) fn put<T: Copy>(&mut self, word: usize, parameters: T) {
        let Some(place) = self.0.get_mut(word..word + size_of::<T>().div_ceil(8)) else { return };
        // SAFETY: the words are as long as the value.
        unsafe { place.as_mut_ptr().cast::<T>().write_unaligned(parameters) };
    }
}

/// Declares the driver's functions; each becomes a method that returns the driver's status.
macro_rules! driver {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        /// Functions of a loaded driver; one that it lacks is `None`.
        pub(super) struct Driver {
            $($name: Option<unsafe extern "C" fn($($type),*) -> u32>,)*
            /// True if calls that fail are to be reported.
            wants_reports: bool,
        }

        impl Driver {
            /// Looks every function up in a library that `dlopen` returned.
            fn of(library: *mut c_void) -> Driver {
                Driver {
                    $($name: {
                        let name = concat!(stringify!($name), "\0");
                        // SAFETY: the library stays open, and the name ends in a zero byte.
                        let symbol = unsafe { libc::dlsym(library, name.as_ptr().cast()) };
                        // SAFETY: `cuda.h` declares the function with this signature; null is
                        // `None`.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                Option<unsafe extern "C" fn($($type),*) -> u32>,
                            >(symbol)
                        }
                    },)*
                    wants_reports: false,
                }
            }

            /// Returns true if calls that fail are to be reported.
            pub(super) fn wants_reports(&self) -> bool {
                self.wants_reports
            }

            $(
                pub(super) fn $name(&self, $($argument: $type),*) -> Result<()> {
                    let Some(function) = self.$name else { return Err(Error::NOT_SUPPORTED) };
                    // SAFETY: pointers are those of the C caller, which the driver checks, or of
                    // values that outlive the call.
                    status(unsafe { function($($argument),*) })
                }
            )*
        }
    };
}

driver! {
    cuInit(flags: u32);
    simtServesRuntime();
    cuDriverGetVersion(version: *mut i32);
    cuGetProcAddress_v2(name: *const c_char, function: *mut usize, version: i32, flags: u64,
        found: *mut u32);
    cuDeviceGetCount(count: *mut i32);
    cuDeviceGetName(name: *mut c_char, length: i32, device: i32);
    cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: i32);
    cuDeviceTotalMem_v2(bytes: *mut usize, device: i32);
    cuDeviceGetAttribute(value: *mut i32, attribute: u32, device: i32);
    cuDeviceGetPCIBusId(text: *mut c_char, length: i32, device: i32);
    cuDeviceGetByPCIBusId(device: *mut i32, text: *const c_char);
    cuDevicePrimaryCtxRetain(context: *mut Handle, device: i32);
    cuDevicePrimaryCtxReset_v2(device: i32);
    cuCtxGetCurrent(context: *mut Handle);
    cuCtxSetCurrent(context: Handle);
    cuCtxGetDevice(device: *mut i32);
    cuCtxSynchronize();
    cuCtxGetLimit(value: *mut usize, limit: u32);
    cuCtxGetCacheConfig(preference: *mut u32);
    cuCtxSetCacheConfig(preference: u32);
    cuCtxSetLimit(limit: u32, value: usize);
    cuCtxGetStreamPriorityRange(least: *mut i32, greatest: *mut i32);
    cuLogsRegisterCallback(function: usize, data: usize, callback: *mut usize);
    cuLogsUnregisterCallback(callback: usize);
    cuLogsCurrent(iterator: *mut u32, flags: u32);
    cuLogsDumpToMemory(iterator: *mut u32, buffer: *mut u8, bytes: *mut usize, flags: u32);
    cuMemAlloc_v2(pointer: *mut DevicePtr, bytes: usize);
    cuMemAllocPitch_v2(pointer: *mut DevicePtr, pitch: *mut usize, width: usize, height: usize,
        element: u32);
    cuMemAllocManaged(pointer: *mut DevicePtr, bytes: usize, flags: u32);
    cuMemAllocAsync(pointer: *mut DevicePtr, bytes: usize, stream: Handle);
    cuMemAllocFromPoolAsync(pointer: *mut DevicePtr, bytes: usize, pool: Handle, stream: Handle);
    cuDeviceGetDefaultMemPool(pool: *mut Handle, device: i32);
    cuDeviceGetMemPool(pool: *mut Handle, device: i32);
    cuDeviceSetMemPool(device: i32, pool: Handle);
    cuMemPoolCreate(pool: *mut Handle, properties: *const c_void);
    cuMemPoolDestroy(pool: Handle);
    cuMemPoolTrimTo(pool: Handle, bytes: usize);
    cuMemPoolSetAttribute(pool: Handle, attribute: u32, value: *mut c_void);
    cuMemPoolGetAttribute(pool: Handle, attribute: u32, value: *mut c_void);
    cuMemFree_v2(pointer: DevicePtr);
    cuIpcGetEventHandle(handle: *mut SharedHandle, event: Handle);
    cuIpcOpenEventHandle(event: *mut Handle, handle: SharedHandle);
    cuIpcGetMemHandle(handle: *mut SharedHandle, pointer: DevicePtr);
    cuIpcOpenMemHandle_v2(pointer: *mut DevicePtr, handle: SharedHandle, flags: u32);
    cuIpcCloseMemHandle(pointer: DevicePtr);
    cuMemFreeAsync(pointer: DevicePtr, stream: Handle);
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    cuMemHostAlloc(pointer: *mut usize, bytes: usize, flags: u32);
    cuMemFreeHost(pointer: usize);
    cuMemHostRegister_v2(pointer: usize, bytes: usize, flags: u32);
    cuMemHostUnregister(pointer: usize);
    cuMemHostGetDevicePointer_v2(device: *mut DevicePtr, pointer: usize, flags: u32);
    cuMemHostGetFlags(flags: *mut u32, pointer: usize);
    cuPointerGetAttribute(value: *mut c_void, attribute: u32, pointer: DevicePtr);
    cuMemcpy(to: DevicePtr, from: DevicePtr, bytes: usize);
    cuMemcpyHtoD_v2(to: DevicePtr, from: usize, bytes: usize);
    cuMemcpyDtoH_v2(to: usize, from: DevicePtr, bytes: usize);
    cuMemcpyDtoD_v2(to: DevicePtr, from: DevicePtr, bytes: usize);
    cuMemcpyHtoDAsync_v2(to: DevicePtr, from: usize, bytes: usize, stream: Handle);
    cuMemcpyDtoHAsync_v2(to: usize, from: DevicePtr, bytes: usize, stream: Handle);
    cuMemcpyDtoDAsync_v2(to: DevicePtr, from: DevicePtr, bytes: usize, stream: Handle);
    cuMemcpy2DUnaligned_v2(copy: *const Copy2d);
    cuMemcpy2DAsync_v2(copy: *const Copy2d, stream: Handle);
    cuMemcpy3D_v2(copy: *const Copy3d);
    cuMemcpy3DAsync_v2(copy: *const Copy3d, stream: Handle);
    cuArray3DCreate_v2(array: *mut Handle, descriptor: *const ArrayDescriptor);
    cuArray3DGetDescriptor_v2(descriptor: *mut ArrayDescriptor, array: Handle);
    cuArrayDestroy(array: Handle);
    cuTexObjectCreate(object: *mut u64, resource: *const [u64; 18], sampler: *const [u32; 26],
        view: usize);
    cuTexObjectDestroy(object: u64);
    cuModuleGetTexRef(reference: *mut Handle, module: Handle, name: *const c_char);
    cuModuleGetSurfRef(reference: *mut Handle, module: Handle, name: *const c_char);
    cuTexRefSetArray(reference: Handle, array: Handle, flags: u32);
    cuSurfRefSetArray(reference: Handle, array: Handle, flags: u32);
    cuTexRefSetAddress_v2(offset: *mut usize, reference: Handle, address: DevicePtr, bytes: usize);
    cuTexRefSetAddress2D_v3(reference: Handle, descriptor: *const [u64; 3], address: DevicePtr,
        pitch: usize);
    cuTexRefSetFormat(reference: Handle, format: u32, channels: i32);
    cuTexRefSetAddressMode(reference: Handle, axis: i32, mode: u32);
    cuTexRefSetFilterMode(reference: Handle, filter: u32);
    cuTexRefSetFlags(reference: Handle, flags: u32);
    cuMemGetAddressRange_v2(base: *mut DevicePtr, bytes: *mut usize, address: DevicePtr);
    cuTexObjectGetResourceDesc(resource: *mut [u64; 18], object: u64);
    cuTexObjectGetTextureDesc(sampler: *mut [u32; 26], object: u64);
    cuSurfObjectCreate(object: *mut u64, resource: *const [u64; 18]);
    cuSurfObjectDestroy(object: u64);
    cuSurfObjectGetResourceDesc(resource: *mut [u64; 18], object: u64);
    cuMemsetD8_v2(to: DevicePtr, value: u8, bytes: usize);
    cuMemsetD8Async(to: DevicePtr, value: u8, bytes: usize, stream: Handle);
    cuMemsetD2D8_v2(to: DevicePtr, pitch: usize, value: u8, width: usize, height: usize);
    cuMemsetD2D8Async(to: DevicePtr, pitch: usize, value: u8, width: usize, height: usize,
        stream: Handle);
    cuStreamCreate(stream: *mut Handle, flags: u32);
    cuStreamCreateWithPriority(stream: *mut Handle, flags: u32, priority: i32);
    cuStreamDestroy_v2(stream: Handle);
    cuStreamSynchronize(stream: Handle);
    cuStreamQuery(stream: Handle);
    cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32);
    cuStreamGetFlags(stream: Handle, flags: *mut u32);
    cuStreamGetPriority(stream: Handle, priority: *mut i32);
    cuStreamGetId(stream: Handle, id: *mut u64);
    cuStreamAddCallback(stream: Handle, callback: StreamCallback, argument: *mut c_void,
        flags: u32);
    cuLaunchHostFunc(stream: Handle, function: HostFunction, argument: *mut c_void);
    cuEventCreate(event: *mut Handle, flags: u32);
    cuEventRecord(event: Handle, stream: Handle);
    cuEventRecordWithFlags(event: Handle, stream: Handle, flags: u32);
    cuEventSynchronize(event: Handle);
    cuEventQuery(event: Handle);
    cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle);
    cuEventDestroy_v2(event: Handle);
    cuLinkCreate_v2(count: u32, names: usize, values: usize, link: *mut Handle);
    cuLinkAddData_v2(link: Handle, kind: u32, data: usize, bytes: usize, name: usize, count: u32,
        names: usize, values: usize);
    cuLinkComplete(link: Handle, image: *mut usize, bytes: *mut usize);
    cuLinkDestroy(link: Handle);
    cuLibraryLoadData(library: *mut Handle, code: usize, jit_names: usize, jit_values: usize,
        jit_count: u32, names: usize, values: usize, count: u32);
    cuLibraryLoadFromFile(library: *mut Handle, path: *const c_char, jit_names: usize,
        jit_values: usize, jit_count: u32, names: usize, values: usize, count: u32);
    cuLibraryUnload(library: Handle);
    cuLibraryGetModule(module: *mut Handle, library: Handle);
    cuLibraryGetKernel(kernel: *mut Handle, library: Handle, name: *const c_char);
    cuLibraryGetKernelCount(count: *mut u32, library: Handle);
    cuLibraryEnumerateKernels(kernels: *mut Handle, count: u32, library: Handle);
    cuLibraryGetGlobal(pointer: *mut DevicePtr, bytes: *mut usize, library: Handle,
        name: *const c_char);
    cuLibraryGetManaged(pointer: *mut DevicePtr, bytes: *mut usize, library: Handle,
        name: *const c_char);
    cuKernelGetFunction(function: *mut Handle, kernel: Handle);
    cuKernelGetAttribute(value: *mut i32, attribute: u32, kernel: Handle, device: i32);
    cuKernelSetAttribute(attribute: u32, value: i32, kernel: Handle, device: i32);
    cuKernelGetName(name: *mut *const c_char, kernel: Handle);
    cuKernelGetParamInfo(kernel: Handle, index: usize, offset: *mut usize, size: *mut usize);
    cuLaunchKernel(kernel: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32,
        block_y: u32, block_z: u32, shared: u32, stream: Handle, arguments: usize, extra: usize);
    cuLaunchKernelEx(config: *const Config, kernel: Handle, arguments: usize, extra: usize);
    cuLaunchCooperativeKernel(kernel: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32,
        block_y: u32, block_z: u32, shared: u32, stream: Handle, arguments: usize);
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks: *mut i32, kernel: Handle,
        threads: i32, shared: usize, flags: u32);
    cuOccupancyAvailableDynamicSMemPerBlock(bytes: *mut usize, kernel: Handle, blocks: i32,
        threads: i32);
    cuMemcpyAsync(to: DevicePtr, from: DevicePtr, bytes: usize, stream: Handle);
    cuStreamBeginCapture_v2(stream: Handle, mode: u32);
    cuStreamBeginCaptureToGraph(stream: Handle, graph: Handle, nodes: usize, edges: usize,
        count: usize, mode: u32);
    cuStreamEndCapture(stream: Handle, graph: usize);
    cuStreamIsCapturing(stream: Handle, status: usize);
    cuStreamGetCaptureInfo_v3(stream: Handle, status: *mut u32, id: usize, graph: usize,
        nodes: usize, edges: usize, count: usize);
    cuStreamUpdateCaptureDependencies_v2(stream: Handle, nodes: usize, edges: usize, count: usize,
        flags: u32);
    cuThreadExchangeStreamCaptureMode(mode: usize);
    cuGraphInstantiate_v2(exec: usize, graph: Handle, node: usize, log: usize, size: usize);
    cuGraphInstantiateWithParams(exec: usize, graph: Handle, parameters: usize);
    cuGraphExecUpdate(exec: Handle, graph: Handle, node: usize, result: usize);
    cuGraphExecUpdate_v2(exec: Handle, graph: Handle, info: usize);
    cuGraphUpload(exec: Handle, stream: Handle);
    cuGraphLaunch(exec: Handle, stream: Handle);
    cuDeviceGetGraphMemAttribute(device: i32, attribute: u32, value: usize);
    cuDeviceSetGraphMemAttribute(device: i32, attribute: u32, value: usize);
    cuDeviceGraphMemTrim(device: i32);
    cuGraphAddNode_v2(out: usize, graph: Handle, nodes: usize, edges: usize, count: usize,
        parameters: *mut AnyNode);
    cuGraphConditionalHandleCreate(out: usize, graph: Handle, context: Handle, default: u32,
        flags: u32);
    cuGraphNodeSetParams(node: Handle, parameters: *mut AnyNode);
    cuGraphExecNodeSetParams(exec: Handle, node: Handle, parameters: *mut AnyNode);
    cuGraphAddKernelNode_v2(out: usize, graph: Handle, nodes: usize, count: usize,
        parameters: *const KernelNode);
    cuGraphKernelNodeGetParams_v2(node: Handle, parameters: *mut KernelNode);
    cuGraphKernelNodeSetParams_v2(node: Handle, parameters: *const KernelNode);
    cuGraphExecKernelNodeSetParams_v2(exec: Handle, node: Handle, parameters: *const KernelNode);
    cuGraphAddMemcpyNode(out: usize, graph: Handle, nodes: usize, count: usize,
        copy: *const Copy3d, context: Handle);
    cuGraphMemcpyNodeGetParams(node: Handle, copy: *mut Copy3d);
    cuGraphMemcpyNodeSetParams(node: Handle, copy: *const Copy3d);
    cuGraphExecMemcpyNodeSetParams(exec: Handle, node: Handle, copy: *const Copy3d,
        context: Handle);
    cuGraphAddMemsetNode(out: usize, graph: Handle, nodes: usize, count: usize, parameters: usize,
        context: Handle);
    cuGraphExecMemsetNodeSetParams(exec: Handle, node: Handle, parameters: usize,
        context: Handle);
    cuGraphCreate(graph: usize, flags: u32);
    cuGraphDestroy(graph: Handle);
    cuGraphClone(clone: usize, graph: Handle);
    cuGraphNodeFindInClone(found: usize, node: Handle, clone: Handle);
    cuGraphNodeGetType(node: Handle, kind: usize);
    cuGraphGetNodes(graph: Handle, nodes: usize, count: usize);
    cuGraphGetRootNodes(graph: Handle, nodes: usize, count: usize);
    cuGraphGetEdges_v2(graph: Handle, from: usize, to: usize, edges: usize, count: usize);
    cuGraphNodeGetDependencies_v2(node: Handle, nodes: usize, edges: usize, count: usize);
    cuGraphNodeGetDependentNodes_v2(node: Handle, nodes: usize, edges: usize, count: usize);
    cuGraphAddDependencies_v2(graph: Handle, from: usize, to: usize, edges: usize, count: usize);
    cuGraphRemoveDependencies_v2(graph: Handle, from: usize, to: usize, edges: usize, count: usize);
    cuGraphDestroyNode(node: Handle);
    cuGraphDebugDotPrint(graph: Handle, path: usize, flags: u32);
    cuGraphInstantiateWithFlags(exec: usize, graph: Handle, flags: u64);
    cuGraphExecGetFlags(exec: Handle, flags: usize);
    cuGraphExecDestroy(exec: Handle);
    cuGraphNodeSetEnabled(exec: Handle, node: Handle, enabled: u32);
    cuGraphNodeGetEnabled(exec: Handle, node: Handle, enabled: usize);
    cuUserObjectCreate(object: usize, data: usize, end: usize, count: u32, flags: u32);
    cuUserObjectRetain(object: Handle, count: u32);
    cuUserObjectRelease(object: Handle, count: u32);
    cuGraphRetainUserObject(graph: Handle, object: Handle, count: u32, flags: u32);
    cuGraphReleaseUserObject(graph: Handle, object: Handle, count: u32);
    cuGraphHostNodeGetParams(node: Handle, parameters: usize);
    cuGraphHostNodeSetParams(node: Handle, parameters: usize);
    cuGraphAddHostNode(out: usize, graph: Handle, nodes: usize, count: usize, parameters: usize);
    cuGraphExecHostNodeSetParams(exec: Handle, node: Handle, parameters: usize);
    cuGraphMemsetNodeGetParams(node: Handle, parameters: usize);
    cuGraphMemsetNodeSetParams(node: Handle, parameters: usize);
    cuGraphAddChildGraphNode(out: usize, graph: Handle, nodes: usize, count: usize, child: Handle);
    cuGraphChildGraphNodeGetGraph(node: Handle, graph: usize);
    cuGraphExecChildGraphNodeSetParams(exec: Handle, node: Handle, child: Handle);
    cuGraphAddEmptyNode(out: usize, graph: Handle, nodes: usize, count: usize);
    cuGraphAddEventRecordNode(out: usize, graph: Handle, nodes: usize, count: usize, event: Handle);
    cuGraphEventRecordNodeGetEvent(node: Handle, event: usize);
    cuGraphEventRecordNodeSetEvent(node: Handle, event: Handle);
    cuGraphExecEventRecordNodeSetEvent(exec: Handle, node: Handle, event: Handle);
    cuGraphAddEventWaitNode(out: usize, graph: Handle, nodes: usize, count: usize, event: Handle);
    cuGraphEventWaitNodeGetEvent(node: Handle, event: usize);
    cuGraphEventWaitNodeSetEvent(node: Handle, event: Handle);
    cuGraphExecEventWaitNodeSetEvent(exec: Handle, node: Handle, event: Handle);
    cuGraphAddMemAllocNode(out: usize, graph: Handle, nodes: usize, count: usize,
        parameters: usize);
    cuGraphMemAllocNodeGetParams(node: Handle, parameters: usize);
    cuGraphAddMemFreeNode(out: usize, graph: Handle, nodes: usize, count: usize, pointer: usize);
    cuGraphMemFreeNodeGetParams(node: Handle, pointer: usize);
    cuGraphKernelNodeCopyAttributes(to: Handle, from: Handle);
    cuGraphKernelNodeGetAttribute(node: Handle, number: u32, value: usize);
    cuGraphKernelNodeSetAttribute(node: Handle, number: u32, value: usize);
    cuProfilerStart();
    cuProfilerStop();
}

/// Turns the driver's status into a result: the numbers are those of the runtime API.
fn status(code: u32) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(Error(code)) }
}

/// Returns the driver, loaded and initialized at the first call.
///
/// # Errors
/// Returns `cudaErrorInsufficientDriver` if the process finds no `libcuda.so.1`, else the error of
/// `cuInit`.
pub(super) fn driver() -> Result<&'static Driver> {
    static DRIVER: OnceLock<Result<Driver>> = OnceLock::new();
    DRIVER.get_or_init(load).as_ref().map_err(|&error| error)
}

fn load() -> Result<Driver> {
    // SAFETY: the name ends in a zero byte; the library is never closed.
    let library = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW) };
    if library.is_null() {
        super::missing::warn(
            "simt-sim: found no libcuda.so.1; start the program with `simt-sim exec`",
        );
        return Err(Error::INSUFFICIENT_DRIVER);
    }
    let driver = Driver::of(library);
    driver.cuInit(0)?;
    Ok(Driver { wants_reports: driver.simtServesRuntime() == Err(Error(1)), ..driver })
}
