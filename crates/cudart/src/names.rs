//! Names of the runtime API's entry points, and the words for those that are missing.

/// Entry points of CUDA 11.8, 12.8, 13.0 and 13.2, one a line, with their per-thread variants.
pub const ENTRY_POINTS: &str = include_str!("entry_points.txt");

/// Parts of names with what they belong to, the first that fits.
const FAMILIES: &[(&str, &str)] = &[
    ("Graphics", "graphics interoperability"),
    ("EGL", "graphics interoperability"),
    ("cudaGL", "graphics interoperability"),
    ("VDPAU", "graphics interoperability"),
    ("External", "memory and semaphores of other programs"),
    ("ExecutionCtx", "green contexts"),
    ("GreenCtx", "green contexts"),
    ("DevResource", "green contexts"),
    ("DevSmResource", "green contexts"),
    ("Mipmapped", "mipmapped arrays"),
    ("Cluster", "clusters of blocks"),
    ("Texture", "textures"),
    ("Surface", "surfaces"),
    ("Array", "CUDA arrays"),
    ("ChannelDesc", "CUDA arrays"),
    ("MemPool", "memory pools of other kinds"),
    ("Batch", "batched copies"),
    ("Peer", "copies between devices"),
    ("ExportTable", "the driver's private tables"),
];

/// Returns the line that tells the user of a call that is missing.
pub fn missing(name: &str) -> String {
    match FAMILIES.iter().find(|(part, _)| name.contains(part)) {
        Some((_, family)) => {
            format!("simt-sim: {name} returns cudaErrorNotSupported: {family} are not simulated")
        }
        None => format!("simt-sim: {name} returns cudaErrorNotSupported: not simulated"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_call_names_what_it_belongs_to() {
        assert!(missing("cudaGraphicsEGLRegisterImage").contains("graphics"));
        assert!(missing("cudaGraphicsMapResources").contains("interoperability"));
        let mipmapped = missing("cudaMallocMipmappedArray");
        assert!(mipmapped.ends_with("mipmapped arrays are not simulated"), "{mipmapped}");
        assert!(missing("cudaGetTextureObjectResourceViewDesc").contains("textures"));
        assert!(missing("cudaDeviceGetDevResource").contains("green contexts"));
        assert!(missing("cudaFoo").ends_with("not simulated"));
    }
}
