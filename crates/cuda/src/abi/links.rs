//! Links of several images to one.

use super::entry_points;
use super::module::{Logs, file, image};
use super::pointer::{In, Out};
use crate::error::Error;
use crate::link::Link;
use crate::state::driver;
use crate::table::Handle;

fn create(count: u32, options: In<u32>, values: In<usize>, out: Out<Handle>) -> Result<(), Error> {
    let logs = Logs::read(count, options, values)?;
    let mut driver = driver()?;
    let device = driver.current_device()?;
    out.check()?;
    let arch = driver.devices[device].arch;
    let link = driver.links.add(Link::new(logs, arch));
    out.set(link)
}

fn add(link: Handle, kind: u32, data: Vec<u8>, name: In<u8>) -> Result<(), Error> {
    let name = if name.is_null() { String::new() } else { name.text()? };
    driver()?.links.get_mut(link)?.add(kind, data, name)
}

fn add_data(link: Handle, kind: u32, data: usize, size: usize, name: In<u8>) -> Result<(), Error> {
    driver()?.links.get(link)?;
    let bytes = if size == 0 { image(data)? } else { In::<u8>::at_address(data).bytes(size)? };
    add(link, kind, bytes, name)
}

entry_points! {
    fn cuLinkCreate(count: u32, options: In<u32>, values: In<usize>, out: Out<Handle>) {
        create(count, options, values, out)
    }

    fn cuLinkCreate_v2(count: u32, options: In<u32>, values: In<usize>, out: Out<Handle>) {
        create(count, options, values, out)
    }

    fn cuLinkAddData(
        link: Handle, kind: u32, data: usize, size: usize, name: In<u8>,
        _count: u32, _options: usize, _values: usize,
    ) {
        add_data(link, kind, data, size, name)
    }

    fn cuLinkAddData_v2(
        link: Handle, kind: u32, data: usize, size: usize, name: In<u8>,
        _count: u32, _options: usize, _values: usize,
    ) {
        add_data(link, kind, data, size, name)
    }

    fn cuLinkAddFile(
        link: Handle, kind: u32, path: In<u8>, _count: u32, _options: usize, _values: usize,
    ) {
        driver()?.links.get(link)?;
        add(link, kind, file(path)?, path)
    }

    fn cuLinkAddFile_v2(
        link: Handle, kind: u32, path: In<u8>, _count: u32, _options: usize, _values: usize,
    ) {
        driver()?.links.get(link)?;
        add(link, kind, file(path)?, path)
    }

    fn cuLinkComplete(link: Handle, image: Out<usize>, size: Out<usize>) {
        let mut driver = driver()?;
        let link = driver.links.get_mut(link)?;
        image.check()?;
        let logs = link.logs;
        match link.complete() {
            Ok(linked) => {
                size.set_if(linked.len())?;
                image.set(linked.as_ptr().expose_provenance())
            }
            Err((error, message)) => {
                logs.tell(&message)?;
                Err(error)
            }
        }
    }

    fn cuLinkDestroy(link: Handle) {
        driver()?.links.remove(link).map(|_| ())
    }
}
