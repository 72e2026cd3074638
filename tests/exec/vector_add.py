"""Adds two vectors through the CUDA driver API, with Python's standard library only."""

import ctypes
import sys

PTX = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c)
{
    .reg .u32 %i, %n, %t;
    .reg .u64 %o, %p;
    .reg .f32 %x, %y;
    mov.u32 %i, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %t, %tid.x;
    mad.lo.u32 %i, %i, %n, %t;
    mul.wide.u32 %o, %i, 4;
    ld.param.u64 %p, [a];
    add.u64 %p, %p, %o;
    ld.global.f32 %x, [%p];
    ld.param.u64 %p, [b];
    add.u64 %p, %p, %o;
    ld.global.f32 %y, [%p];
    add.f32 %x, %x, %y;
    ld.param.u64 %p, [c];
    add.u64 %p, %p, %o;
    st.global.f32 [%p], %x;
    ret;
}
"""

blocks = int(sys.argv[1])
n = 256 * blocks
size = ctypes.c_size_t(4 * n)
cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        cuda.cuGetErrorName(code, ctypes.byref(text))
        sys.exit(f"{name}: {text.value.decode()}")


def handle(name, *arguments):
    made = ctypes.c_void_p()
    call(name, ctypes.byref(made), *arguments)
    return made


call("cuInit", 0)
call("cuCtxSetCurrent", handle("cuDevicePrimaryCtxRetain", 0))
kernel = handle("cuModuleGetFunction", handle("cuModuleLoadData", PTX), b"add")
host = [(ctypes.c_float * n)(*(f * i for i in range(n))) for f in (1, 2, 0)]
device = [handle("cuMemAlloc_v2", size) for _ in host]
for there, here in zip(device, host):
    call("cuMemcpyHtoD_v2", there, here, size)
if "fault" in sys.argv:
    device[2].value += 2 << 20  # beyond its page
places = (ctypes.c_void_p * 3)(*(ctypes.addressof(place) for place in device))
call("cuLaunchKernel", kernel, blocks, 1, 1, 256, 1, 1, 0, None, places, None)
if "leave" in sys.argv:
    sys.exit()
call("cuMemcpyDtoH_v2", host[2], device[2], size)
print("right" if all(host[2][i] == 3 * i for i in range(n)) else "wrong")
