//! Tests of the address space.

use super::*;

#[test]
fn allocations_have_bounds() {
    let mut space = AddressSpace::new(1 << 20);
    let a = space.allocate(100, 1).expect("room");
    let b = space.allocate(8, 1).expect("room");
    assert_eq!(a % BUFFER_ALIGN, 0);
    assert!(b >= a + 100 + GAP);
    space.device_bytes(a + 96, 4).expect("the last word").copy_from_slice(&[1, 2, 3, 4]);
    for (address, bytes) in [(a + 97, 4), (a, 101), (a + 100, 1), (a - 1, 1), (0, 1), (a, !0)] {
        assert_eq!(space.device_bytes(address, bytes).err(), Some(Error::INVALID_VALUE));
    }
    let padded = space.lend(false);
    assert_eq!((padded[0].words[24], padded[0].reach), (0x0403_0201, GRANULE));
    space.take_back(padded);
    let lent = space.lend(true);
    assert_eq!((lent[0].words[24], lent[0].reach), (0x0403_0201, 100));
    space.take_back(lent);
    assert_eq!(space.device_bytes(a + 96, 4), Ok(&mut [1, 2, 3, 4][..]));
    assert_eq!(space.free(a + 4, &[Use::Device]), Err(Error::INVALID_VALUE));
    assert_eq!(space.free(a, &[Use::Managed]), Err(Error::INVALID_VALUE));
    assert_eq!(space.free(a, &[Use::Device]), Ok(()));
    assert_eq!(space.free(a, &[Use::Device]), Err(Error::INVALID_VALUE));
    assert_eq!(space.free_bytes(), (1 << 20) - 8);
    assert!(space.allocate(100, 1).expect("room") > b, "a freed address is not used again");
}

#[test]
#[cfg(target_os = "linux")]
fn managed_variables_keep_their_content_and_address() {
    let mut space = AddressSpace::new(1 << 20);
    let at = 0x0580_0000_0000;
    space.hold((at, 6, vec![0x0403_0201, 0x0605], true), "a, b".into());
    assert_eq!(space.manage(at + 6), Err(Error::INVALID_VALUE), "past the end");
    assert!(!space.find(at).expect("variables").is_managed());
    assert_eq!(space.manage(at + 4), Ok(()));
    assert_eq!(space.manage(at), Ok(()), "a second time");
    assert!(space.find(at).expect("variables").is_managed());
    space.device_bytes(at + 5, 1).expect("a byte")[0] = 9;
    let lent = space.lend(false);
    let words = lent[0].lent.as_ref().expect("memory of the process");
    assert_eq!((lent[0].address, words.copy()), (at, vec![0x0403_0201, 0x0905]));
    words.overwrite(&[5]);
    assert!(space.device_bytes(at, 6).is_err(), "while a launch has it");
    space.take_back(lent);
    assert_eq!(space.device_bytes(at, 6), Ok(&mut [5, 0, 0, 0, 5, 9][..]));
    space.hold((at + 8, 4, vec![1], true), "c".into());
    assert_eq!(space.manage(at + 8), Ok(()), "on the same page");
    let own = space.allocate(8, 1).expect("room");
    assert_eq!(space.manage(own), Err(Error::INVALID_VALUE), "no variable");
}

#[test]
fn kernels_reach_the_end_of_a_large_allocations_page() {
    let mut space = AddressSpace::new(1 << 30);
    let [a, b] = [DEVICE_PAGE + 4, 8].map(|bytes| space.allocate(bytes, 1).expect("room"));
    assert!(b >= a + 2 * DEVICE_PAGE + GAP);
    let mut lent = space.lend(false);
    assert_eq!((lent[0].reach, lent[1].reach), (2 * DEVICE_PAGE, GRANULE));
    *lent[0].words.last_mut().expect("words") = 7;
    space.take_back(lent);
    assert_eq!(space.lend(false)[0].words.last(), Some(&7), "content past the end stays");
    assert!(space.device_bytes(a, DEVICE_PAGE + 5).is_err(), "copies end where it ends");
}

#[test]
fn large_allocations_begin_a_page() {
    let mut space = AddressSpace::new(1 << 30);
    let sizes = [8, DEVICE_PAGE / 2, DEVICE_PAGE / 2 + 512, 100 << 20, 8, 3 << 20];
    let at = sizes.map(|bytes| space.allocate(bytes, 1).expect("room"));
    assert_eq!(at.map(|at| at % DEVICE_PAGE == 0), [true, false, true, true, false, true]);
    assert_eq!(space.free(at[3], &[Use::Device]), Ok(()));
    space.next = DEVICE_END;
    assert_eq!(space.allocate(99 << 20, 1), Ok(at[3]), "the gap");
}

#[test]
fn memory_behind_small_allocations_keeps_its_content() {
    let mut space = AddressSpace::new(1 << 30);
    let [a, b, large] =
        [100, 600, DEVICE_PAGE].map(|bytes| space.allocate(bytes, 1).expect("room"));
    let spare = space.lend_spare();
    let places = |spare: &Spare| -> Vec<(u64, u64)> {
        spare.pieces.iter().map(|&(address, bytes, ..)| (address, bytes)).collect()
    };
    assert_eq!(places(&spare), [(a + 512, b - a - 512), (b + 1024, large - b - 1024)]);
    space.take_spare_back(spare);
    assert_eq!(space.free(large, &[Use::Device]), Ok(()));
    let mut spare = space.lend_spare();
    let end = a.next_multiple_of(DEVICE_PAGE).max(a + DEVICE_PAGE);
    assert_eq!(places(&spare)[1], (b + 1024, end - b - 1024), "to the end of the page");
    spare.pieces[1].2 = vec![7; (end - b - 1024) as usize / 4];
    space.take_spare_back(spare);
    let spare = space.lend_spare();
    assert_eq!((spare.pieces[0].2.len(), spare.pieces[1].2[0]), (0, 7));
}

#[test]
fn a_large_allocation_is_cleared_at_once() {
    let mut space = AddressSpace::new(1 << 30);
    let [large, small] = [DEVICE_PAGE + 4, 64].map(|bytes| space.allocate(bytes, 1).expect("room"));
    for (address, bytes) in [(large, DEVICE_PAGE + 4), (small, 64)] {
        space.device_bytes(address, bytes).expect("content").fill(7);
    }
    assert!(!space.clear(large, DEVICE_PAGE) && !space.clear(large + 4, DEVICE_PAGE));
    assert!(!space.clear(small, 64), "small ones are written");
    assert_eq!(space.device_bytes(large, 4).expect("content"), [7; 4]);
    assert!(space.clear(large, DEVICE_PAGE + 4));
    let content = space.device_bytes(large, DEVICE_PAGE + 4).expect("content");
    assert!(content.iter().all(|byte| *byte == 0));
}

#[test]
fn memory_behind_variables_is_that_of_their_page() {
    let mut space = AddressSpace::new(1 << 30);
    let (fix, var) = (0x300_0000_0000, 0x400_0010_0000);
    space.hold((fix, 12, vec![1, 2, 3], false), "fix".into());
    space.hold((var, 8, vec![4, 5], true), "var".into());
    let spare = space.lend_spare();
    let places: Vec<_> = spare.pieces.iter().map(|piece| (piece.0, piece.1, piece.3)).collect();
    let page = DEVICE_PAGE;
    assert_eq!(places, [(fix + 12, page - 12, false), (var + 8, page / 2 - 8, true)]);
}

#[test]
fn a_full_space_finds_gaps() {
    let mut space = AddressSpace::new(u64::MAX);
    let a = space.allocate(4096, 1).expect("room");
    let b = space.allocate(4096, 1).expect("room");
    assert_eq!(space.free(a, &[Use::Device]), Ok(()));
    space.next = DEVICE_END - 1024;
    assert_eq!(space.allocate(2048, 1), Ok(a), "the gap before {b:x}");
    assert_eq!(space.allocate(0, 1), Err(Error::INVALID_VALUE));
    let mut small = AddressSpace::new(1000);
    assert_eq!(small.allocate(1001, 1), Err(Error::OUT_OF_MEMORY));
}
