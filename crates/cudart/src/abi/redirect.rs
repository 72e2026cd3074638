//! Redirects the functions of NVIDIA's runtime in other files to those of this library.
//!
//! nvcc links that runtime into programs and libraries by default. A library of the name [`NAME`],
//! loaded before all others (`LD_PRELOAD`), writes a jump over the first bytes of each such
//! function: at the start in the files that are loaded by then, later in those that the program
//! loads. It learns of these as a debugger does: the loader calls an empty function (`r_brk` of
//! `link.h`) after it has mapped files and before it runs their constructors.

use super::missing::warn;
use super::{context, own};
use crate::image::REDIRECTING as NAME;
use crate::linked::{self, Entry, Runtime};
use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_char, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Mutex;

/// Bytes of a jump to any address: `jmp [rip]`, then the address.
const JUMP: usize = 14;

/// `struct link_map`, as far as it is public: a loaded file.
#[repr(C)]
struct LinkMap {
    address: usize,
    name: *const c_char,
    dynamic: usize,
    next: *const LinkMap,
}

/// `struct r_debug`: what the loader tells debuggers.
#[repr(C)]
struct Debug {
    version: i32,
    first: *const LinkMap,
    /// Function that the loader calls before and after a change.
    called: usize,
    /// 0 while the list of files is complete.
    state: i32,
}

/// Files that were redirected, and what that needs.
struct Redirected {
    /// The loader's word to debuggers.
    debug: usize,
    /// Files at the last look: address of their record, and address at which they are loaded.
    seen: Vec<(usize, usize)>,
    /// Addresses of our functions by their names, once they are needed.
    ours: BTreeMap<String, usize>,
}

static REDIRECTED: Mutex<Redirected> =
    Mutex::new(Redirected { debug: 0, seen: Vec::new(), ours: BTreeMap::new() });

/// The system calls it when it has loaded the library.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    if !own::path().ends_with(NAME) {
        return;
    }
    // SAFETY: the name ends in a zero byte.
    let debug = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_r_debug".as_ptr()) };
    if debug.is_null() {
        return warn("simt-sim: warning: this system's loader does not tell which files it loads");
    }
    context::lock(&REDIRECTED).debug = debug.addr();
    at_change();
    // SAFETY: it is the loader's structure.
    hook(unsafe { (*debug.cast::<Debug>()).called });
}

/// Makes the loader's empty function call [`at_change`].
///
/// Under a debugger there is a breakpoint instead. Files that the program loads later then keep
/// their runtime, and our driver says so when one calls it.
fn hook(function: usize) {
    if function == 0 {
        return;
    }
    // SAFETY: the loader's code is readable, and goes on after this function.
    let code = unsafe { std::slice::from_raw_parts(function as *const u8, JUMP) };
    let code = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code); // endbr64
    // `ret`, then what assemblers fill up to the next function with.
    let is_empty = matches!(code, [0xc3, 0x66 | 0x0f | 0x90 | 0xcc, ..]);
    if is_empty && function.is_multiple_of(16) {
        // What denies it denies the jumps in runtimes, too, and is told then.
        _ = write_jump(function, at_change as extern "C" fn() as usize);
    }
}

/// Redirects the files that were loaded since the last call.
extern "C" fn at_change() {
    // Another thread cannot be here: the loader lets one in at a time.
    let Ok(mut redirected) = REDIRECTED.try_lock() else { return };
    let debug = redirected.debug as *const Debug;
    // SAFETY: it is the loader's structure, which lives as long as the process.
    let (state, mut next) = unsafe { ((*debug).state, (*debug).first) };
    if state != 0 {
        return;
    }
    let mut seen = Vec::new();
    // SAFETY: the loader's list is complete, and stays while it calls.
    while let Some(map) = unsafe { next.as_ref() } {
        let file = (next.addr(), map.address);
        if !redirected.seen.contains(&file) {
            // SAFETY: the loader's text is zero-terminated.
            let name = unsafe { CStr::from_ptr(map.name) };
            redirected.look_into(Path::new(OsStr::from_bytes(name.to_bytes())), map.address);
        }
        seen.push(file);
        next = map.next;
    }
    redirected.seen = seen;
}

impl Redirected {
    /// Redirects the runtime of a file, if it has one.
    fn look_into(&mut self, name: &Path, address: usize) {
        let file = match name.as_os_str().is_empty() {
            true => Path::new("/proc/self/exe"), // the program
            false => name,
        };
        if file.components().count() < 2 {
            return; // the kernel's own library, which is no file
        }
        let Some(runtime) = linked::runtime(file).filter(|runtime| !runtime.is_ours) else {
            return;
        };
        if !context::serve(runtime.version) {
            return warn(&format!(
                "simt-sim: warning: `{}` has another version of CUDA's runtime than files before \
                 it; its calls fail",
                file.display()
            ));
        }
        if self.ours.is_empty() {
            self.ours = own_functions();
        }
        if let Err(error) = self.redirect(&runtime, address) {
            warn(&format!(
                "simt-sim: warning: cannot redirect the CUDA runtime in `{}`: {error}",
                file.display()
            ));
        }
    }

    /// Writes jumps over the functions of a runtime that is loaded at an address.
    fn redirect(&self, runtime: &Runtime, address: usize) -> io::Result<()> {
        for Entry { name, address: offset, room } in &runtime.entries {
            let Some(&ours) = self.ours.get(name) else { continue };
            if *room < JUMP as u64 {
                return Err(io::Error::other(format!("`{name}` has {room} bytes")));
            }
            write_jump(address + *offset as usize, ours)?;
        }
        Ok(())
    }
}

/// Returns the addresses of our functions by their names.
fn own_functions() -> BTreeMap<String, usize> {
    let runtime = linked::runtime(Path::new(&own::path()));
    let entries = runtime.map(|runtime| runtime.entries).unwrap_or_default();
    let start = own::start();
    entries.into_iter().map(|entry| (entry.name, start + entry.address as usize)).collect()
}

/// Writes a jump over the code at an address.
fn write_jump(from: usize, to: usize) -> io::Result<()> {
    let mut jump = [0xff, 0x25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    jump[JUMP - 8..].copy_from_slice(&to.to_le_bytes());
    // SAFETY: a constant of the system.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let start = from / page * page;
    let length = from + JUMP - start;
    let allow = |rights| {
        // SAFETY: the pages hold code of a loaded file.
        match unsafe { libc::mprotect(start as *mut c_void, length, rights) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    allow(libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)?;
    // SAFETY: the bytes are writable and belong to one function, which no thread runs yet.
    unsafe { std::ptr::copy_nonoverlapping(jump.as_ptr(), from as *mut u8, JUMP) };
    allow(libc::PROT_READ | libc::PROT_EXEC)
}
