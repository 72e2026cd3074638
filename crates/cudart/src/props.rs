//! Layout of `cudaDeviceProp`, which differs between versions of CUDA.
//!
//! One list of fields serves all versions; each field says in which it stands and where its value
//! comes from.

/// Version of the runtime API that a program was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// CUDA 11: `libcudart.so.11.0`.
    V11,
    /// CUDA 12: `libcudart.so.12`.
    V12,
    /// CUDA 13: `libcudart.so.13`.
    V13,
}

impl Version {
    /// Returns the version of a library by the end of its path, CUDA 13 for other names.
    pub fn of_path(path: &str) -> Version {
        let file = path.rsplit('/').next().unwrap_or(path);
        match file.strip_prefix("libcudart.so.").and_then(|rest| rest.split('.').next()) {
            Some("11") => Version::V11,
            Some("12") => Version::V12,
            _ => Version::V13,
        }
    }

    /// Number that `cudaRuntimeGetVersion` returns: 1000 times the major version plus 10 times the
    /// minor one.
    pub fn number(self) -> i32 {
        match self {
            Version::V11 => 11_080,
            Version::V12 => 12_080,
            Version::V13 => 13_000,
        }
    }

    /// Bytes of `cudaDeviceProp`.
    pub fn prop_bytes(self) -> usize {
        match self {
            Version::V11 => 728,
            Version::V12 => 1032,
            Version::V13 => 1008,
        }
    }

    /// Bytes of `cudaFuncAttributes`.
    pub fn func_bytes(self) -> usize {
        if self == Version::V11 { 56 } else { 144 }
    }

    /// Bytes of `cudaPointerAttributes`.
    pub fn pointer_bytes(self) -> usize {
        if self == Version::V13 { 88 } else { 24 }
    }
}

/// A value of a device, as the driver gives it.
pub trait Device {
    /// Name, without a zero byte.
    fn name(&self) -> Vec<u8>;
    /// Universally unique identifier.
    fn uuid(&self) -> [u8; 16];
    /// Bytes of global memory.
    fn memory(&self) -> u64;
    /// Attribute by its number (`cudaDeviceAttr`), 0 if the driver does not know it.
    fn attribute(&self, number: i32) -> i32;
}

/// Type and source of a field.
#[derive(Clone, Copy, Debug)]
enum Field {
    /// 256 bytes.
    Name,
    /// 16 bytes.
    Uuid,
    /// Locally unique identifier and its node mask, which only Windows has: 12 bytes.
    Luid,
    /// Bytes of global memory, as `size_t`.
    Memory,
    /// Attributes, each as `int`.
    Int(&'static [i32]),
    /// An attribute as `size_t`.
    Size(i32),
}

use Field::{Int, Luid, Memory, Name, Size, Uuid};
use Version::{V11, V12, V13};

/// Fields in order, with the first and the last version that has them.
const FIELDS: &[(Field, Version, Version)] = &[
    (Name, V11, V13),
    (Uuid, V11, V13),
    (Luid, V11, V13),
    (Memory, V11, V13),
    (Size(8), V11, V13),                        // sharedMemPerBlock
    (Int(&[12, 10]), V11, V13),                 // regsPerBlock warpSize
    (Size(11), V11, V13),                       // memPitch
    (Int(&[1]), V11, V13),                      // maxThreadsPerBlock
    (Int(&[2, 3, 4, 5, 6, 7]), V11, V13),       // maxThreadsDim maxGridSize
    (Int(&[13]), V11, V12),                     // clockRate
    (Size(9), V11, V13),                        // totalConstMem
    (Int(&[75, 76]), V11, V13),                 // major minor
    (Size(14), V11, V13),                       // textureAlignment
    (Size(51), V11, V13),                       // texturePitchAlignment
    (Int(&[15]), V11, V12),                     // deviceOverlap
    (Int(&[16]), V11, V13),                     // multiProcessorCount
    (Int(&[17]), V11, V12),                     // kernelExecTimeoutEnabled
    (Int(&[18, 19]), V11, V13),                 // integrated canMapHostMemory
    (Int(&[20]), V11, V12),                     // computeMode
    (Int(&[21, 77]), V11, V13),                 // maxTexture1D maxTexture1DMipmap
    (Int(&[69]), V11, V12),                     // maxTexture1DLinear
    (Int(&[22, 23, 73, 74]), V11, V13),         // maxTexture2D maxTexture2DMipmap
    (Int(&[70, 71, 72]), V11, V13),             // maxTexture2DLinear
    (Int(&[45, 46]), V11, V13),                 // maxTexture2DGather
    (Int(&[24, 25, 26]), V11, V13),             // maxTexture3D
    (Int(&[47, 48, 49]), V11, V13),             // maxTexture3DAlt
    (Int(&[52, 42, 43]), V11, V13),             // maxTextureCubemap maxTexture1DLayered
    (Int(&[27, 28, 29]), V11, V13),             // maxTexture2DLayered
    (Int(&[53, 54]), V11, V13),                 // maxTextureCubemapLayered
    (Int(&[55, 56, 57]), V11, V13),             // maxSurface1D maxSurface2D
    (Int(&[58, 59, 60]), V11, V13),             // maxSurface3D
    (Int(&[61, 62]), V11, V13),                 // maxSurface1DLayered
    (Int(&[63, 64, 65]), V11, V13),             // maxSurface2DLayered
    (Int(&[66, 67, 68]), V11, V13),             // maxSurfaceCubemap maxSurfaceCubemapLayered
    (Size(30), V11, V13),                       // surfaceAlignment
    (Int(&[31, 32, 33, 34, 50]), V11, V13), // concurrentKernels ECCEnabled pci{Bus,Device,Domain}ID
    (Int(&[35, 40, 41]), V11, V13),         // tccDriver asyncEngineCount unifiedAddressing
    (Int(&[36]), V11, V12),                 // memoryClockRate
    (Int(&[37, 38, 108]), V11, V13),        // memoryBusWidth l2CacheSize persistingL2CacheMaxSize
    (Int(&[39, 78, 79, 80]), V11, V13),     // maxThreadsPerMultiProcessor .. localL1CacheSupported
    (Size(81), V11, V13),                   // sharedMemPerMultiprocessor
    (Int(&[82, 83, 84, 85, 86]), V11, V13), // regsPerMultiprocessor .. hostNativeAtomicSupported
    (Int(&[87]), V11, V12),                 // singleToDoublePrecisionPerfRatio
    (Int(&[88, 89, 90, 91, 95]), V11, V13), // pageableMemoryAccess .. cooperativeLaunch
    (Int(&[96]), V11, V12),                 // cooperativeMultiDeviceLaunch
    (Size(97), V11, V13),                   // sharedMemPerBlockOptin
    (Int(&[100, 101, 106, 109]), V11, V13), // pageableMemoryAccessUsesHostPageTables ..
    (Size(111), V11, V13),                  // reservedSharedMemPerBlock
    (Int(&[99, 112, 113, 114, 115]), V12, V13), // hostRegisterSupported .. memoryPoolsSupported
    (Int(&[116, 117, 118, 119]), V12, V13), // gpuDirectRDMASupported ..
    (Int(&[121, 125, 120, 129]), V12, V13), // deferredMapping .. unifiedFunctionPointers
    (Int(&[130, 131, 133, 134]), V13, V13), // deviceNumaConfig .. hostNumaId
    (Int(&[139, 140, 143]), V13, V13),      // gpuPciDeviceID ..
];

/// Bytes of a structure, each value at its natural alignment.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn push<const N: usize>(&mut self, value: [u8; N]) {
        self.0.resize(self.0.len().next_multiple_of(N), 0);
        self.0.extend(value);
    }
}

/// Returns `cudaDeviceProp` of a device in the layout of a version.
pub fn properties(device: &dyn Device, version: Version) -> Vec<u8> {
    let mut bytes = Bytes::default();
    for (field, first, last) in FIELDS {
        if !(*first..=*last).contains(&version) {
            continue;
        }
        match field {
            Name => {
                let mut name = device.name();
                name.truncate(255);
                name.resize(256, 0);
                bytes.0.extend(name);
            }
            Uuid => bytes.0.extend(device.uuid()),
            Luid => bytes.0.extend([0; 12]),
            Memory => bytes.push(device.memory().to_ne_bytes()),
            Int(numbers) => {
                for &number in *numbers {
                    bytes.push(device.attribute(number).to_ne_bytes());
                }
            }
            Size(number) => {
                bytes.push(i64::from(device.attribute(*number)).to_ne_bytes());
            }
        }
    }
    bytes.0.resize(version.prop_bytes(), 0);
    bytes.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device whose attributes equal their numbers.
    struct Numbered;

    impl Device for Numbered {
        fn name(&self) -> Vec<u8> {
            b"numbered".to_vec()
        }
        fn uuid(&self) -> [u8; 16] {
            [7; 16]
        }
        fn memory(&self) -> u64 {
            1 << 33
        }
        fn attribute(&self, number: i32) -> i32 {
            number
        }
    }

    fn int(bytes: &[u8], at: usize) -> i32 {
        i32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
    }

    /// Offsets that a C compiler gives for the headers of CUDA 11.8, 12.8 and 13.0.
    #[test]
    fn fields_stand_where_the_headers_put_them() {
        let of = |version| properties(&Numbered, version);
        for (version, offsets) in [
            (V13, [360, 368, 384, 396, 552, 592, 624, 672, 696]),
            (V12, [360, 368, 388, 408, 568, 612, 640, 696, 720]),
            (V11, [360, 368, 388, 408, 568, 612, 640, 696, 720]),
        ] {
            let bytes = of(version);
            assert_eq!(bytes[288..296], (1u64 << 33).to_ne_bytes());
            for (at, number) in offsets.into_iter().zip([75, 14, 16, 21, 30, 37, 81, 97, 111]) {
                assert_eq!(int(&bytes, at), number, "{version:?} at {at}");
            }
        }
        assert_eq!(int(&of(V13), 748), 120, "clusterLaunch");
        assert_eq!(int(&of(V12), 772), 120, "clusterLaunch");
        assert_eq!((int(&of(V12), 348), int(&of(V12), 404), int(&of(V12), 608)), (13, 20, 36));
    }

    #[test]
    fn a_version_is_told_by_the_file_name() {
        assert_eq!(Version::of_path("/a/b/libcudart.so.11.0"), V11);
        assert_eq!(Version::of_path("libcudart.so.12"), V12);
        assert_eq!(Version::of_path("/a/libcudart.so.13"), V13);
    }
}
