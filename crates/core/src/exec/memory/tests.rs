//! Segments and parameter blocks.

use super::*;
use std::sync::Arc;

#[test]
fn segments_keep_their_content() {
    let memory =
        GlobalMemory::new(vec![(0x2000, 6, vec![5, 6], true), (0x1000, 8, vec![1, 2], false)]);
    assert_eq!(memory.words(0x1000).unwrap().collect::<Vec<_>>(), [1, 2]);
    assert!(memory.words(0x1004).is_none());
    let mut words = [9; 4];
    memory.read(0xffc, &mut words);
    assert_eq!(words, [9, 1, 2, 9]);
    memory.write(0x1004, &[3, 4]);
    memory.read(0x1000, &mut words);
    assert_eq!(words, [1, 3, 2, 9], "unmapped words stay");
    memory.write(0x1004, &[2]);
    let at = |a| memory.segment(a).filter(|s| s.holds(a, 4)).map(|s| s.address);
    assert_eq!(
        [0, 0xfff, 0x1000, 0x1004, 0x1005, 0x2002, 0x2003, u64::MAX].map(at),
        [None, None, Some(0x1000), Some(0x1000), None, Some(0x2000), None, None]
    );
    assert_eq!(
        memory.into_segments(),
        [(0x1000, 8, vec![1, 2], false), (0x2000, 6, vec![5, 6], true)]
    );
}

#[test]
fn the_owner_of_lent_words_sees_stores() {
    let owner: Arc<Vec<AtomicU32>> = Arc::new([1, 2].map(AtomicU32::new).into());
    let lent = Lent::new(Arc::clone(&owner) as Arc<_>);
    let memory = GlobalMemory::new(vec![(0x2000, 4, vec![5], true)])
        .with_lent([(0x1000, 6, lent.clone(), true)].into_iter());
    let at = |a, bytes| memory.segment(a).is_some_and(|s| s.holds(a, bytes));
    assert_eq!([at(0x1004, 2), at(0x1004, 4)], [true, false]);
    memory.write(0x1004, &[3]);
    owner[0].store(7, Relaxed);
    let mut words = [0; 2];
    memory.read(0x1000, &mut words);
    assert_eq!((words, lent.copy()), ([7, 3], vec![7, 3]));
    assert_eq!(memory.into_segments(), [(0x2000, 4, vec![5], true)]);
}

#[test]
fn spare_memory_is_found_where_no_segment_is() {
    let segments = vec![(0x1000, 8, vec![1, 2], true), (0x2000, 8, vec![5, 6], true)];
    let spare = vec![(0x2008, 24, vec![], true), (0x1008, 16, vec![7], true)];
    let mut memory = GlobalMemory::new(segments).with_spare(spare);
    let at = |a| memory.segment(a).filter(|s| s.holds(a, 4)).map(|s| s.address);
    assert_eq!([0xfff, 0x1004, 0x2004, 0x1018].map(at), [None, Some(0x1000), Some(0x2000), None]);
    assert_eq!(memory.accessed.load(Relaxed), 0, "nothing yet");
    assert_eq!([0x2010, 0x100c, 0x2008].map(at), [Some(0x2008), Some(0x1008), Some(0x2008)]);
    let mut words = [9; 8];
    memory.read(0x1004, &mut words);
    assert_eq!(words, [2, 7, 0, 0, 0, 9, 9, 9]);
    memory.write(0x100c, &[8]);
    let (pieces, lowest) = memory.take_spare();
    assert_eq!((&pieces[0].2[..], lowest), (&[7, 8, 0, 0][..], Some(0x100c)));
    assert_eq!(
        (memory.segment(0x100c).map(|s| s.address), memory.take_spare().0),
        (Some(0x1000), vec![])
    );
}

#[test]
#[should_panic(expected = "overlap")]
fn overlapping_segments_are_refused() {
    GlobalMemory::new(vec![(0x1000, 8, vec![0; 2], true), (0x1004, 4, vec![0], true)]);
}

#[test]
fn a_parameter_block_may_end_within_a_word() {
    let block = ParamBlock(&[1, 2, 3, 4, 5, 6]);
    assert_eq!((block.load(0, 2), block.load(0, 4)), (0x0403_0201, 0x0605));
}
