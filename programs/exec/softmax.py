"""Softmax of the rows of a matrix, as a Triton kernel, without PyTorch.

    simt-sim exec --metrics warp_execution_efficiency -- python softmax.py

Triton asks a tensor for its address and type only; `Tensor` has them, on memory of the driver.
"""

import ctypes

import numpy as np
import triton
import triton.language as tl

driver = ctypes.CDLL("libcuda.so.1")


def check(code):
    if code != 0:
        raise RuntimeError(f"CUDA error {code}")


class Tensor:
    """An array in device memory."""

    def __init__(self, host):
        self.host = np.ascontiguousarray(host)
        self.dtype = str(self.host.dtype)
        self.address = ctypes.c_uint64()
        check(driver.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(self.host.nbytes)))
        data = self.host.ctypes.data_as(ctypes.c_void_p)
        check(driver.cuMemcpyHtoD_v2(self.address, data, ctypes.c_size_t(self.host.nbytes)))

    def data_ptr(self):
        return self.address.value

    def numpy(self):
        out = np.empty_like(self.host)
        data = out.ctypes.data_as(ctypes.c_void_p)
        check(driver.cuMemcpyDtoH_v2(data, self.address, ctypes.c_size_t(out.nbytes)))
        return out


@triton.jit
def softmax(source, target, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    x = tl.load(source + row * stride + offsets, mask=mask, other=-float("inf"))
    x = tl.exp(x - tl.max(x, axis=0))
    tl.store(target + row * stride + offsets, x / tl.sum(x, axis=0), mask=mask)


def main():
    # Triton's launcher wants a context.
    check(driver.cuInit(0))
    context = ctypes.c_void_p()
    check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(driver.cuCtxSetCurrent(context))
    rows, columns = 6, 200
    x = np.sin(np.arange(rows * columns, dtype=np.float32)).reshape(rows, columns)
    source, target = Tensor(x), Tensor(np.zeros_like(x))
    softmax[(rows,)](source, target, columns, columns, BLOCK=256)
    expected = np.exp(x - x.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    worst = np.abs(target.numpy() - expected).max()
    print(f"{rows} rows of {columns}: {'right' if worst < 1e-6 else 'WRONG'}")


if __name__ == "__main__":
    main()
