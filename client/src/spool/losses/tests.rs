use tempfile::TempDir;

use super::*;

#[test]
fn counts_add_up() {
    let directory = TempDir::new().unwrap();
    let read = || Losses::read(directory.path()).unwrap();
    assert_eq!(read(), Losses::default());
    Losses::add(&directory.path().join(FILE), Losses::default()).unwrap();
    let one = Losses {
        limits: 1,
        room: 20,
        refused: 300,
        damaged: 4000,
    };
    Losses::add(&directory.path().join(FILE), one).unwrap();
    assert_eq!(read(), one);
    Losses::add(&directory.path().join(FILE), one).unwrap();
    assert_eq!(read().damaged, 8000);
    Losses::add(&directory.path().join(FILE), Losses::default()).unwrap();
    assert_eq!(read().limits, 2);
}

#[test]
fn counts_that_were_kept_elsewhere_are_taken_over_once() {
    let directory = TempDir::new().unwrap();
    let [file, spare] = [FILE, "spare"].map(|name| directory.path().join(name));
    let one = Losses {
        room: 1,
        ..Losses::default()
    };
    Losses::take_over(&file, &spare).unwrap();
    assert!(!file.exists() && !spare.exists());
    Losses::add(&spare, one).unwrap();
    Losses::add(&file, one).unwrap();
    for _ in 0..2 {
        Losses::take_over(&file, &spare).unwrap();
        assert_eq!(Losses::read(directory.path()).unwrap().room, 2);
        assert_eq!(Losses::read_file(&spare).unwrap(), Losses::default());
    }
}

#[test]
fn the_file_never_changes_its_size() {
    let directory = TempDir::new().unwrap();
    let size = || {
        std::fs::metadata(directory.path().join(FILE))
            .unwrap()
            .len()
    };
    Losses::add(&directory.path().join(FILE), Losses::default()).unwrap();
    let before = size();
    let many = Losses {
        limits: u64::MAX,
        ..Losses::default()
    };
    Losses::add(&directory.path().join(FILE), many).unwrap();
    assert_eq!(size(), before);
}

#[test]
fn threads_lose_no_count() {
    let directory = TempDir::new().unwrap();
    let one = Losses {
        room: 1,
        ..Losses::default()
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                (0..50).for_each(|_| Losses::add(&directory.path().join(FILE), one).unwrap())
            });
        }
    });
    assert_eq!(Losses::read(directory.path()).unwrap().room, 200);
}

#[test]
fn a_damaged_file_counts_from_zero() {
    let directory = TempDir::new().unwrap();
    std::fs::write(directory.path().join(FILE), b"\xff\xfe limits\n\nroom x\n").unwrap();
    assert_eq!(Losses::read(directory.path()).unwrap(), Losses::default());
}

#[test]
fn a_link_in_the_place_of_the_file_is_not_followed() {
    let directory = TempDir::new().unwrap();
    let target = directory.path().join("target");
    std::fs::write(&target, "text").unwrap();
    std::os::unix::fs::symlink(&target, directory.path().join(FILE)).unwrap();
    assert!(Losses::add(&directory.path().join(FILE), Losses::default()).is_err());
    assert!(Losses::read(directory.path()).is_err());
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "text");
}
