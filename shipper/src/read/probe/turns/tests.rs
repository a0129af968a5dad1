use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

#[test]
fn a_directory_that_hangs_is_not_probed_again_and_keeps_no_other_waiting() {
    static HANGS: Mutex<()> = Mutex::new(());
    static BEGUN: AtomicU32 = AtomicU32::new(0);
    let work = |index: usize, steps: Steps| {
        if index == 0 {
            BEGUN.fetch_add(1, Ordering::SeqCst);
            steps.lock().unwrap().push(Duration::from_millis(1));
            drop(HANGS.lock().unwrap());
        }
        Ok(())
    };
    let mut turns = Turns::new(2, Duration::from_millis(20));
    let hang = HANGS.lock().unwrap();
    let mut elapsed = Duration::ZERO;
    for _ in 0..3 {
        let mut outcomes = turns.round(work);
        // The other one ends, however busy the machine is.
        while outcomes[1].fault.is_some() {
            outcomes = turns.round(work);
        }
        let hung = &outcomes[0];
        assert_eq!(hung.fault.as_ref().unwrap().reason, TIMEOUT);
        assert!(hung.elapsed > elapsed.max(Duration::from_millis(20)));
        elapsed = hung.elapsed;
        assert!(BEGUN.load(Ordering::SeqCst) <= 1);
    }
    drop(hang);
    while turns.round(work)[0].fault.is_some() {}
    assert!(BEGUN.load(Ordering::SeqCst) <= 2);
}
