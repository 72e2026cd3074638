//! Results of the driver API: numbers, names and texts.

/// Failure of a call, a number of `CUresult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error(pub(crate) u32);

macro_rules! errors {
    ($($name:ident = $number:literal),* $(,)?) => {
        impl Error {
            $(pub(crate) const $name: Error = Error($number);)*
        }
    };
}

errors! {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    UNSUPPORTED_LIMIT = 215,
    PEER_ACCESS_UNSUPPORTED = 217,
    INVALID_PTX = 218,
    FILE_NOT_FOUND = 301,
    OPERATING_SYSTEM = 304,
    INVALID_HANDLE = 400,
    ILLEGAL_STATE = 401,
    LOSSY_QUERY = 402,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
    LAUNCH_TIMEOUT = 702,
    PEER_ACCESS_NOT_ENABLED = 705,
    CONTEXT_IS_DESTROYED = 709,
    ASSERT = 710,
    HOST_MEMORY_ALREADY_REGISTERED = 712,
    HOST_MEMORY_NOT_REGISTERED = 713,
    HARDWARE_STACK_ERROR = 714,
    ILLEGAL_INSTRUCTION = 715,
    MISALIGNED_ADDRESS = 716,
    INVALID_PC = 718,
    LAUNCH_FAILED = 719,
    COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    NOT_PERMITTED = 800,
    NOT_SUPPORTED = 801,
    STREAM_CAPTURE_UNSUPPORTED = 900,
    STREAM_CAPTURE_INVALIDATED = 901,
    STREAM_CAPTURE_MERGE = 902,
    STREAM_CAPTURE_UNMATCHED = 903,
    STREAM_CAPTURE_UNJOINED = 904,
    STREAM_CAPTURE_ISOLATION = 905,
    STREAM_CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    STREAM_CAPTURE_WRONG_THREAD = 908,
    GRAPH_EXEC_UPDATE_FAILURE = 910,
    UNKNOWN = 999,
}

/// A row of `data/errors.txt`: number, name, text.
type Row = (u32, &'static str, &'static str);

/// Table of all results.
const TABLE: &str = include_str!("../data/errors.txt");

fn row(number: u32) -> Option<Row> {
    TABLE.lines().find_map(|line| {
        let mut words = line.splitn(3, ' ');
        let found: u32 = words.next()?.parse().ok()?;
        (found == number).then_some((found, words.next()?, words.next()?))
    })
}

/// Returns the name of a result in `cuda.h`.
pub(crate) fn name(number: u32) -> Option<&'static str> {
    row(number).map(|(_, name, _)| name)
}

/// Returns the description of a result.
pub(crate) fn text(number: u32) -> Option<&'static str> {
    row(number).map(|(.., text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_name_and_a_text() {
        let rows: Vec<&str> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(rows.len() > 90);
        for line in rows {
            let number = line.split(' ').next().and_then(|n| n.parse().ok()).expect(line);
            assert!(name(number).is_some_and(|name| name.starts_with("CUDA_")), "{line}");
            assert!(text(number).is_some_and(|text| !text.is_empty()), "{line}");
        }
        assert_eq!(name(700), Some("CUDA_ERROR_ILLEGAL_ADDRESS"));
        assert_eq!(name(Error::NOT_SUPPORTED.0), Some("CUDA_ERROR_NOT_SUPPORTED"));
        assert_eq!(name(12345), None);
    }
}
