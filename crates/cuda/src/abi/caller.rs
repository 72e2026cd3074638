//! The library that calls a function of the driver.

use std::ffi::c_void;

/// Frames of the stack that are looked at.
const FRAMES: usize = 32;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
unsafe extern "C" {
    /// Return addresses of the frames of the thread, innermost first (`execinfo.h`).
    fn backtrace(buffer: *mut *mut c_void, size: std::ffi::c_int) -> std::ffi::c_int;
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn frames() -> Vec<usize> {
    let mut buffer = [std::ptr::null_mut(); FRAMES];
    // SAFETY: the buffer has as many places as stated.
    let count = unsafe { backtrace(buffer.as_mut_ptr(), FRAMES as std::ffi::c_int) };
    buffer.iter().take(usize::try_from(count).unwrap_or(0)).map(|frame| frame.addr()).collect()
}

/// Returns nothing: the C library of the system does not tell.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn frames() -> Vec<usize> {
    let _: [*mut c_void; FRAMES] = [std::ptr::null_mut(); FRAMES];
    Vec::new()
}

/// Returns the file whose code called this library.
pub(super) fn file() -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    of(&frames(), (file as fn() -> Option<String>) as usize, &maps)
}

/// Returns the file of the first frame that is not in the file of the address `own`.
///
/// `maps` is the system's list of mappings.
fn of(frames: &[usize], own: usize, maps: &str) -> Option<String> {
    let own = mapped(own, maps)?;
    let files = frames.iter().map(|frame| mapped(*frame, maps));
    files.skip_while(|file| *file == Some(own)).flatten().next().map(str::to_owned)
}

/// Returns the file that is mapped at an address.
fn mapped(address: usize, maps: &str) -> Option<&str> {
    maps.lines().find_map(|line| {
        let (range, _) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let bound = |text| usize::from_str_radix(text, 16).ok();
        let is_there = (bound(from)?..bound(to)?).contains(&address);
        is_there.then(|| line.find('/').map(|at| &line[at..])).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_frame_of_another_file_is_the_caller() {
        let maps = "1000-2000 r-xp 00000000 08:01 1 /lib/own.so\n\
                    2000-3000 r-xp 00000000 08:01 2 /lib/a b.so\n\
                    3000-4000 rw-p 00000000 00:00 0 \n\
                    4000-5000 r-xp 00000000 08:01 3 /bin/program\n";
        let of = |frames: &[usize]| of(frames, 0x1800, maps);
        assert_eq!(of(&[0x1900, 0x1100, 0x2004, 0x4004]).as_deref(), Some("/lib/a b.so"));
        assert_eq!(of(&[0x1900, 0x3004, 0x4004]).as_deref(), Some("/bin/program"));
        assert_eq!(of(&[0x1900]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn a_stack_has_frames_of_this_program() {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("mappings");
        let program = std::env::current_exe().expect("a program").display().to_string();
        assert!(frames().iter().any(|frame| mapped(*frame, &maps) == Some(&program)));
    }
}
