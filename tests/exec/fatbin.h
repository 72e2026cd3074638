/* Registers one text of PTX as a program of nvcc does: a fat binary with one entry. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns the module of `bytes` of PTX for sm_75, of which more can be registered by name until
 * `__cudaRegisterFatBinaryEnd`. */
static void **register_ptx(void *library, const char *ptx, size_t bytes) {
    static struct { uint32_t magic; uint16_t version, header; uint64_t bytes; } *fat;
    static struct { uint32_t magic, version; void *data, *unused; } wrapper;
    size_t entry = 64;
    uint64_t text = (bytes + 7) & ~7ul;
    fat = calloc(1, sizeof *fat + entry + text);
    fat->magic = 0xba55ed50, fat->version = 1, fat->header = 16, fat->bytes = entry + text;
    unsigned char *at = (unsigned char *)(fat + 1);
    uint16_t kind = 1, one = 257;
    uint32_t header = 64, arch = 75;
    memcpy(at, &kind, 2), memcpy(at + 2, &one, 2), memcpy(at + 4, &header, 4);
    memcpy(at + 8, &text, 8), memcpy(at + 28, &arch, 4), memcpy(at + 64, ptx, bytes);
    wrapper.magic = 0x466243b1, wrapper.version = 1, wrapper.data = fat;
    return ((void **(*)(void *))dlsym(library, "__cudaRegisterFatBinary"))(&wrapper);
}
