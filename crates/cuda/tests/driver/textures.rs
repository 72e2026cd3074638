//! Arrays, texture and surface objects, references.

use crate::api::{Driver, address, text};

const PTX: &str = "
.version 7.5
.target sm_75
.address_size 64

.global .texref image;

.visible .entry fetch(.param .u64 texture, .param .u64 out)
{
    .reg .u32 %r<8>;
    .reg .f32 %f<8>;
    .reg .u64 %rd<4>;
    ld.param.u64 %rd1, [texture];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    cvt.rn.f32.u32 %f1, %r1;
    cvt.rn.f32.u32 %f2, %r2;
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r3, %r2, %r3, %r1;
    mad.wide.u32 %rd2, %r3, 4, %rd2;
    st.global.f32 [%rd2], %f3;
    ret;
}

.visible .entry refer(.param .u64 out)
{
    .reg .u32 %r<8>;
    .reg .u64 %rd<4>;
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd2, %r1, 4, %rd2;
    tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [image, {%r1}];
    st.global.u32 [%rd2], %r3;
    ret;
}

.visible .entry double(.param .u64 surface)
{
    .reg .u32 %r<8>;
    .reg .u64 %rd<4>;
    ld.param.u64 %rd1, [surface];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    shl.b32 %r1, %r1, 2;
    suld.b.2d.b32.trap {%r3}, [%rd1, {%r1, %r2}];
    add.u32 %r3, %r3, %r3;
    sust.b.2d.b32.trap [%rd1, {%r1, %r2}], {%r3};
    ret;
}
";

const INVALID_VALUE: u32 = 1;
const INVALID_HANDLE: u32 = 400;
const NOT_SUPPORTED: u32 = 801;
/// Kind of a resource, and flag of a texture.
const MIPMAPPED: u64 = 1;
const SRGB: u32 = 16;
const WIDTH: usize = 21;
const HEIGHT: usize = 10;
/// Formats of `CUarray_format`.
const U32: u64 = 3;
const U8: u64 = 1;
const F32: u64 = 32;

/// Words of `CUDA_RESOURCE_DESC` of an array.
fn of_array(array: u64) -> [u64; 18] {
    let mut words = [0; 18];
    words[1] = array;
    words
}

/// Words of `CUDA_TEXTURE_DESC`: address mode, filter, flags.
fn sampler(mode: u32, filter: u32, flags: u32) -> [u32; 26] {
    let mut words = [0; 26];
    words[..5].copy_from_slice(&[mode, mode, mode, filter, flags]);
    words
}

/// Copies rows of the program to an array, or back.
fn copy(cuda: &Driver, array: u64, data: &mut [u32], to_array: bool) {
    let row = 4 * WIDTH as u64;
    let memory = [0, 0, 1, data.as_mut_ptr() as u64, 0, 0, row];
    let place = [0, 0, 3, 0, 0, array, 0];
    let (from, to) = if to_array { (memory, place) } else { (place, memory) };
    let mut plane = [&from[..], &to[..], &[row, HEIGHT as u64][..]].concat();
    assert_eq!(cuda.call("cuMemcpy2D_v2", &[plane.as_mut_ptr() as u64]), 0);
}

fn array(cuda: &Driver, format: u64) -> u64 {
    let mut descriptor = [WIDTH as u64, HEIGHT as u64, 1 << 32 | format];
    cuda.make("cuArrayCreate_v2", &[address(&mut descriptor)])
}

#[test]
fn a_texture_reads_an_array_and_a_destroyed_one_faults() {
    let cuda = Driver::load();
    cuda.context();
    let fetch = cuda.kernel(PTX, "fetch");
    let array = array(&cuda, F32);
    let value = |x: usize, y: usize| (x * x + 37 * y) as f32;
    let mut data: Vec<u32> =
        (0..WIDTH * HEIGHT).map(|i| value(i % WIDTH, i / WIDTH).to_bits()).collect();
    copy(&cuda, array, &mut data, true);
    let mut back = vec![0; WIDTH * HEIGHT];
    copy(&cuda, array, &mut back, false);
    assert_eq!(back, data);
    let (mut resource, mut point, mut linear) =
        (of_array(array), sampler(1, 0, 0), sampler(1, 1, 0));
    let make = |resource: &mut [u64; 18], sampler: &mut [u32; 26]| {
        cuda.make("cuTexObjectCreate", &[address(resource), address(sampler), 0])
    };
    let (points, filtered) = (make(&mut resource, &mut point), make(&mut resource, &mut linear));
    let out = cuda.upload(&vec![0; (WIDTH + 4) * HEIGHT]);
    let run = |texture: u64| {
        let block = [1, 1, 1, WIDTH as u64 + 4, HEIGHT as u64, 1];
        let (mut a, mut b) = (texture, out);
        let mut places = [address(&mut a), address(&mut b)];
        let mut all = vec![fetch];
        all.extend(block);
        all.extend([0, 0, address(&mut places), 0]);
        assert_eq!(cuda.call("cuLaunchKernel", &all), 0);
        cuda.download(out, (WIDTH + 4) * HEIGHT)
    };
    let clamped = |i: usize| (i % (WIDTH + 4), i / (WIDTH + 4));
    let nearest: Vec<u32> = (0..(WIDTH + 4) * HEIGHT)
        .map(clamped)
        .map(|(x, y)| value(x.min(WIDTH - 1), y).to_bits())
        .collect();
    assert_eq!(run(points), nearest);
    // At a corner of texels the filter averages four of them.
    let mean: Vec<u32> = (0..(WIDTH + 4) * HEIGHT)
        .map(clamped)
        .map(|(x, y)| {
            let near = |n: usize, most: usize| [n.saturating_sub(1).min(most - 1), n.min(most - 1)];
            let sum =
                near(x, WIDTH).map(|x| near(y, HEIGHT).map(|y| value(x, y)).iter().sum::<f32>());
            (sum.iter().sum::<f32>() / 4.0).to_bits()
        })
        .collect();
    assert_eq!(run(filtered), mean);
    let mut found = [0_u64; 18];
    assert_eq!(cuda.call("cuTexObjectGetResourceDesc", &[address(&mut found), points]), 0);
    assert_eq!(found, resource);
    assert_eq!(cuda.call("cuTexObjectDestroy", &[points]), 0);
    assert_eq!(cuda.call("cuTexObjectDestroy", &[points]), INVALID_VALUE);
    assert_eq!(cuda.call("cuArrayDestroy", &[array]), 0);
    assert_eq!(cuda.call("cuArrayDestroy", &[array]), INVALID_HANDLE);
    assert_ne!(cuda.run(fetch, 1, 32, &[points, out]), 0, "a destroyed texture");
}

#[test]
fn a_surface_is_written_in_place() {
    let cuda = Driver::load();
    cuda.context();
    let double = cuda.kernel(PTX, "double");
    let array = array(&cuda, U32);
    let mut data: Vec<u32> = (0..(WIDTH * HEIGHT) as u32).map(|i| i * 7 + 1).collect();
    copy(&cuda, array, &mut data, true);
    let mut resource = of_array(array);
    let mut surface = cuda.make("cuSurfObjectCreate", &[address(&mut resource)]);
    let mut places = [address(&mut surface)];
    let shape = [double, 1, 1, 1, WIDTH as u64, HEIGHT as u64, 1, 0, 0, address(&mut places), 0];
    assert_eq!(cuda.call("cuLaunchKernel", &shape), 0);
    let mut after = vec![0; WIDTH * HEIGHT];
    copy(&cuda, array, &mut after, false);
    assert_eq!(after, data.iter().map(|v| 2 * v).collect::<Vec<u32>>());
    assert_ne!(cuda.run(double, 1, 32, &[surface]), 0, "columns past the edge trap");
}

#[test]
fn a_reference_is_bound_to_linear_memory() {
    let cuda = Driver::load();
    cuda.context();
    let mut module = cuda.make("cuModuleLoadData", &[text(PTX).as_ptr() as u64]);
    let refer = cuda.make("cuModuleGetFunction", &[module, text("refer").as_ptr() as u64]);
    let reference = cuda.make("cuModuleGetTexRef", &[module, text("image").as_ptr() as u64]);
    module = cuda.upload(&[0x0403_0201, 0x8706_05ff]);
    let out = cuda.upload(&[9; 4]);
    assert_eq!(cuda.call("cuTexRefSetFormat", &[reference, U8, 2]), 0);
    assert_eq!(cuda.call("cuTexRefSetFlags", &[reference, 1]), 0);
    assert_eq!(cuda.call("cuTexRefSetAddress_v2", &[0, reference, module, 8]), 0);
    assert_eq!(cuda.run(refer, 1, 4, &[out]), 0);
    // The second channel of each texel.
    assert_eq!(cuda.download(out, 4), [2, 4, 5, 0x87]);
}

#[test]
fn what_is_not_simulated_is_refused() {
    let cuda = Driver::load();
    cuda.context();
    let array = array(&cuda, U8);
    let mut object = 0_u64;
    let mut make = |resource: &mut [u64; 18], flags: u32, view: u64| {
        let mut sampler = sampler(1, 0, flags);
        let arguments = [address(&mut object), address(resource), address(&mut sampler), view];
        cuda.call("cuTexObjectCreate", &arguments)
    };
    let mut resource = of_array(array);
    let mut view = [0_u64; 16];
    assert_eq!(make(&mut resource, 0, 0), 0);
    assert_eq!(make(&mut resource, SRGB, 0), NOT_SUPPORTED);
    assert_eq!(make(&mut resource, 0, address(&mut view)), NOT_SUPPORTED);
    resource[0] = MIPMAPPED;
    assert_eq!(make(&mut resource, 0, 0), NOT_SUPPORTED);
    resource[0] = 77;
    assert_eq!(make(&mut resource, 0, 0), INVALID_VALUE);
    assert_eq!(cuda.call("cuMipmappedArrayCreate", &[0, 0, 3]), NOT_SUPPORTED);
}
