use super::*;

#[test]
fn programs_that_run_are_known_until_they_end() {
    let waiting = thread::spawn(|| {
        let mut process = Process::start(Command::new("sleep").arg("86400")).unwrap();
        let ignore = |_: &[u8], _| io::Result::Ok(());
        process.finish(Duration::from_secs(600), true, ignore)
    });
    // Programs of other tests of this process are not to be killed, so only this one's group is.
    let own = loop {
        let running = running().clone();
        let is_sleep = |process: &&Pid| {
            let name =
                std::fs::read_to_string(format!("/proc/{}/cmdline", process.as_raw_nonzero()));
            name.is_ok_and(|name| name == "sleep\u{0}86400\u{0}")
        };
        if let Some(own) = running.iter().find(is_sleep) {
            break *own;
        }
        thread::sleep(PAUSE);
    };
    kill_group(own);
    let status = waiting.join().unwrap().unwrap().0.unwrap();
    assert_eq!(status.signal(), Some(9));
    assert_eq!(ending(status), "signal 9");
    assert!(!running().contains(&own));
}
