"""A line fitted by gradient descent in PyTorch, with the error and its derivative in Triton.

    simt-sim exec --timing off -- python torch_fit.py

Sums, products and the optimizer are PyTorch's own kernels, machine code for sm_90.
"""

import torch
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def squares(prediction, target, error, slope, count, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < count
    difference = tl.load(prediction + place, inside) - tl.load(target + place, inside)
    tl.store(error + place, difference * difference / count, inside)
    tl.store(slope + place, 2 * difference / count, inside)


class MeanSquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, prediction, target):
        error, slope = torch.empty_like(prediction), torch.empty_like(prediction)
        count = prediction.numel()
        squares[(triton.cdiv(count, BLOCK),)](prediction, target, error, slope, count, BLOCK)
        ctx.save_for_backward(slope)
        return error.sum()

    @staticmethod
    def backward(ctx, gradient):
        (slope,) = ctx.saved_tensors
        return gradient * slope, None


x = torch.linspace(-1, 1, 1000, device="cuda")
target = 3 * x - 0.5
weights = torch.zeros(2, device="cuda", requires_grad=True)
optimizer = torch.optim.SGD([weights], lr=0.4)
for step in range(21):
    optimizer.zero_grad()
    error = MeanSquare.apply(weights[0] * x + weights[1], target)
    error.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step:2}: error {error.item():.5f}")
slope, start = weights.tolist()
print(f"{slope:.2f} x {start:+.2f}, 3.00 x -0.50 expected")
