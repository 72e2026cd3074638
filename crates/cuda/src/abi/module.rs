//! Modules: images of callers, kernels and variables by name.

use super::pointer::{In, Out};
use super::{entry_points, refuse};
use crate::error::Error;
use crate::fatbin;
use crate::module::Refusal;
use crate::state::{at_once, driver};
use crate::table::Handle;

/// Size of the header of an ELF file, and of an entry of its tables, in bytes.
const ELF_HEADER: usize = 64;
const SECTION: usize = 64;
const SEGMENT: usize = 56;
/// Type of a section without bytes in the file.
const NOBITS: u32 = 8;

/// Options of the compiler that are read: `CU_JIT_..`.
const INFO_LOG_BYTES: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_BYTES: u32 = 6;

/// Reads an image. Its size stands in its own header; text ends with zero.
pub(super) fn image(data: usize) -> Result<Vec<u8>, Error> {
    let bytes = |count| In::<u8>::at_address(data).bytes(count);
    let magic = u32::from_le_bytes(In::at_address(data).get()?);
    match magic {
        fatbin::WRAPPER => {
            let inner: u64 = In::at_address(data + 8).get()?;
            let magic: u32 = In::at_address(inner as usize).get()?;
            if magic == fatbin::MAGIC { image(inner as usize) } else { Err(Error::INVALID_IMAGE) }
        }
        fatbin::MAGIC => {
            let size = fatbin::size(&bytes(fatbin::HEADER)?).map_err(|_| Error::INVALID_IMAGE)?;
            bytes(size as usize)
        }
        _ if simt_cubin::is_elf(&magic.to_le_bytes()) => bytes(elf_size(data)?),
        _ => In::<u8>::at_address(data).until_zero(),
    }
}

/// Returns the size of an ELF file in memory: the end of its tables and sections.
fn elf_size(data: usize) -> Result<usize, Error> {
    let header = In::<u8>::at_address(data).bytes(ELF_HEADER)?;
    let number = |bytes: &[u8], at: usize, size: usize| {
        let field = bytes.get(at..at + size).unwrap_or_default();
        field.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte))
    };
    let table = |offset: usize, entry: usize, count: usize, size: usize| {
        let (offset, found) = (number(&header, offset, 8), number(&header, entry, 2));
        let count = number(&header, count, 2);
        let sane = count == 0 || found == size as u64 && offset < simt_cubin::MAX_BYTES;
        if sane { Ok((offset as usize, count as usize)) } else { Err(Error::INVALID_IMAGE) }
    };
    let (sections, count) = table(40, 58, 60, SECTION)?;
    let (segments, segment_count) = table(32, 54, 56, SEGMENT)?;
    let mut end =
        ELF_HEADER.max(sections + count * SECTION).max(segments + segment_count * SEGMENT);
    for i in 0..count {
        let section = In::<u8>::at_address(data + sections + i * SECTION).bytes(SECTION)?;
        if number(&section, 4, 4) as u32 != NOBITS {
            let last = number(&section, 24, 8).checked_add(number(&section, 32, 8));
            let last = last.filter(|last| *last <= simt_cubin::MAX_BYTES);
            end = end.max(last.ok_or(Error::INVALID_IMAGE)? as usize);
        }
    }
    Ok(end)
}

/// Logs that a caller offers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Logs {
    /// Address and size of the place for errors.
    errors: Option<(usize, usize)>,
    /// Place of the size of errors, which is overwritten with the bytes used.
    error_size: Option<In<usize>>,
    info_size: Option<In<usize>>,
}

impl Logs {
    /// Reads the options of a load or a link.
    pub(super) fn read(count: u32, options: In<u32>, values: In<usize>) -> Result<Logs, Error> {
        let mut logs = Logs::default();
        let (mut place, mut size) = (0, 0);
        for i in 0..count as usize {
            let slot = || values.slot(i);
            match options.at(i)? {
                ERROR_LOG => place = values.at(i)?,
                ERROR_LOG_BYTES => {
                    size = values.at(i)? & u32::MAX as usize;
                    logs.error_size = Some(slot());
                }
                INFO_LOG_BYTES => logs.info_size = Some(slot()),
                0..=34 => {}
                _ => return Err(Error::INVALID_VALUE),
            }
        }
        logs.errors = (place != 0 && size > 0).then_some((place, size));
        Ok(logs)
    }

    /// Hands a message to the caller, and shows it on standard error: few programs print the log.
    pub(super) fn tell(&self, message: &str) -> Result<(), Error> {
        crate::say(message);
        if let Some(place) = self.info_size {
            place.overwrite(0)?;
        }
        let written = match self.errors {
            None => 0,
            Some((place, size)) => {
                Out::<u8>::at_address(place).set_text(message.as_bytes(), size)?;
                message.len().min(size - 1) + 1
            }
        };
        self.error_size.map_or(Ok(()), |place| place.overwrite(written))
    }
}

fn load(out: Out<Handle>, data: usize, logs: &Logs) -> Result<(), Error> {
    let mut driver = driver()?;
    let (context, _) = driver.context()?;
    out.check()?;
    let image = image(data)?;
    match driver.load(&image, context) {
        Ok(module) => out.set(module),
        Err(Refusal { error, message }) => {
            logs.tell(&message)?;
            Err(error)
        }
    }
}

/// Reads the image of a file.
pub(super) fn file(name: In<u8>) -> Result<Vec<u8>, Error> {
    let mut image = std::fs::read(name.text()?).map_err(|_| Error::FILE_NOT_FOUND)?;
    image.push(0);
    Ok(image)
}

entry_points! {
    fn cuModuleLoadData(module: Out<Handle>, image: usize) {
        load(module, image, &Logs::default())
    }

    fn cuModuleLoadDataEx(
        module: Out<Handle>, image: usize, count: u32, options: In<u32>, values: In<usize>,
    ) {
        load(module, image, &Logs::read(count, options, values)?)
    }

    fn cuModuleLoadFatBinary(module: Out<Handle>, image: usize) {
        load(module, image, &Logs::default())
    }

    fn cuModuleLoad(module: Out<Handle>, name: In<u8>) {
        let mut driver = driver()?;
        let (context, _) = driver.context()?;
        module.check()?;
        let loaded = driver.load(&file(name)?, context).map_err(refuse)?;
        module.set(loaded)
    }

    fn cuModuleUnload(module: Handle) {
        let mut driver = driver()?;
        driver.context()?;
        driver.unload(module)
    }

    fn cuModuleGetLoadingMode(mode: Out<u32>) {
        drop(at_once()?);
        mode.set(2) // lazy
    }

    fn cuModuleGetFunction(function: Out<Handle>, module: Handle, name: In<u8>) {
        let mut driver = at_once()?;
        driver.context()?;
        function.check()?;
        let name = name.text()?;
        if name.is_empty() {
            return Err(Error::INVALID_VALUE);
        }
        let found = driver.function(module, &name).map_err(refuse)?;
        function.set(found)
    }

    fn cuModuleGetFunctionCount(count: Out<u32>, module: Handle) {
        let kernels = at_once()?.modules.get(module)?.count();
        count.set(kernels as u32)
    }

    fn cuModuleEnumerateFunctions(functions: Out<Handle>, count: u32, module: Handle) {
        let mut driver = driver()?;
        let kernels = driver.modules.get(module)?.count();
        for i in 0..kernels.min(count as usize) {
            let handle = driver.function_at(module, i).map_err(refuse)?;
            functions.set_at(i, handle)?;
        }
        Ok(())
    }

    fn cuModuleGetGlobal_v2(address: Out<u64>, bytes: Out<usize>, module: Handle, name: In<u8>) {
        let mut driver = at_once()?;
        driver.context()?;
        let (at, size) = driver.variable(module, &name.text()?)?;
        if address.is_null() && bytes.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        address.set_if(at)?;
        bytes.set_if(size as usize)
    }
}
