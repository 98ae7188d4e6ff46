use super::*;
use crate::domain::Secret;

fn ring() -> Arc<LineRing> {
    Arc::new(LineRing::default())
}

fn cursor(value: &str) -> Cursor {
    Cursor::from(value)
}

fn texts(ring: &LineRing, change: u64) -> Vec<String> {
    let lines = ring.since(change).into_iter();
    lines.map(|line| line.text.to_string()).collect()
}

#[test]
fn the_ring_is_bounded_in_lines_and_bytes() {
    let ring = ring();
    for number in 0..MAX_LINES + 10 {
        ring.push(LineKind::Stderr, number.to_string().as_bytes());
    }
    let lines = ring.since(0);
    assert_eq!(lines.len(), MAX_LINES);
    assert_eq!(&*lines[0].text, "10");
    assert_eq!(ring.last_seq(), (MAX_LINES + 10) as u64);
    for _ in 0..100 {
        ring.push(LineKind::Stderr, &vec![b'x'; 100_000]);
    }
    let bytes: usize = ring.since(0).iter().map(|line| line.text.len()).sum();
    assert!(bytes <= MAX_BYTES, "{bytes}");
}

#[test]
fn a_tail_is_of_stderr_after_a_number() {
    let ring = ring();
    ring.push(LineKind::Stderr, b"old");
    let start = ring.last_seq();
    ring.push(LineKind::Noise, b"noise");
    ring.push(LineKind::Stderr, b"one");
    ring.push(LineKind::Stderr, b"  ");
    ring.push(LineKind::Stderr, b"two");
    assert_eq!(
        ring.stderr_tail(start, 5),
        [Arc::from("one"), Arc::from("two")]
    );
    assert_eq!(ring.stderr_tail(start, 1), [Arc::from("two")]);
}

/// Pushes the chunks and expects lines to be told after each.
fn check_chunks(mask: Mask, chunks: &[(&str, &[&str])]) {
    let ring = ring();
    ring.set_mask(mask);
    let mut stream = LineStream::new(Arc::clone(&ring), LineKind::Stderr);
    for (chunk, expected) in chunks {
        let before = ring.lock().last_change();
        stream.push(chunk.as_bytes());
        assert_eq!(texts(&ring, before), *expected, "{chunk:?}");
    }
}

#[test]
fn a_chunk_is_cut_at_line_breaks_and_what_has_none_is_a_line_that_grows() {
    check_chunks(
        Mask::default(),
        &[
            ("one\ntwo\r\nthr", &["one", "two", "thr"]),
            ("", &["thr"]),
            ("ee\n\n", &["three", ""]),
            ("  ", &[]),
            ("Password: ", &["  Password:"]),
        ],
    );
    let ring = ring();
    let mut stream = LineStream::new(Arc::clone(&ring), LineKind::Stderr);
    stream.push(b"Pass");
    ring.push(LineKind::Log, b"between");
    stream.push(b"word: ");
    assert_eq!(texts(&ring, 0), ["Password:", "between"]);
    assert_eq!(ring.stderr_tail(0, 5), [Arc::from("Password:")]);
    drop(stream);
    ring.push(LineKind::Stderr, b"of another");
    let numbers: Vec<u64> = ring.since(0).iter().map(|line| line.seq).collect();
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn a_line_without_an_end_is_taken_as_several() {
    let ring = ring();
    let mut stream = LineStream::new(Arc::clone(&ring), LineKind::Stderr);
    let flood = "word ".repeat(10 * MAX_LINE);
    for chunk in flood.as_bytes().chunks(60_001) {
        stream.push(chunk);
    }
    let lines = ring.lock();
    let kept: Vec<Line> = lines
        .after(0, LineKind::Stderr, &Cursors::default())
        .collect();
    assert_eq!(kept.len(), MAX_BYTES / MAX_LINE);
    for line in kept.iter().skip(1) {
        assert!(line.text.starts_with("word word"), "{}", line.text);
    }
    drop(lines);
}

#[test]
fn nothing_is_torn_apart_where_a_line_is_cut() {
    let check = |before: &str, whole: &str, mask: Mask, expected: &str| {
        for shift in 0..whole.len() {
            let ring = ring();
            ring.set_mask(mask.clone());
            let mut stream = LineStream::new(Arc::clone(&ring), LineKind::Stderr);
            let padding = before.repeat(MAX_LINE / before.len() - shift);
            stream.push(format!("{padding}{whole}!\n").as_bytes());
            let lines = ring.lock();
            let raw = lines.raw();
            let texts: Vec<String> = texts_of(&lines);
            assert!(raw.len() <= 3, "{}", raw.len());
            let end = texts.last().cloned().unwrap_or_default();
            assert!(end.ends_with(expected), "{end} after {shift}");
        }
    };
    let mask = || Mask::new(&[Secret::new("hunter two 22")]);
    check("x", "😀", Mask::default(), "😀!");
    check("x", "\u{1b}[31;1mred", Mask::default(), "red!");
    check("x", "hunter two 22", mask(), "***!");
    check(" ", "hunter two 22", mask(), "***!");
}

/// What people would see, were nothing cut for its length.
fn texts_of(lines: &Ring) -> Vec<String> {
    lines
        .raw()
        .into_iter()
        .map(|(bytes, mask)| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            mask.apply(crate::domain::text::without_sequences(&text))
        })
        .collect()
}

#[test]
fn what_is_cut_off_by_a_chunk_is_not_shown() {
    let mask = Mask::new(&[Secret::new("hunter-two-22")]);
    check_chunks(
        mask,
        &[
            ("key hunter-tw", &["key ***"]),
            ("o-2", &["key ***"]),
            ("2 red\u{1b}[31", &["key *** red"]),
            ("mfox\n", &["key *** redfox"]),
        ],
    );
    let ring = ring();
    let mut stream = LineStream::new(Arc::clone(&ring), LineKind::Stderr);
    stream.push(&"é".as_bytes()[..1]);
    stream.push(&"é: ä".as_bytes()[1..5]);
    assert_eq!(texts(&ring, 0), ["é: "]);
}

#[test]
fn a_line_keeps_the_mask_with_which_it_came_and_is_never_in_debug_output() {
    let secret = |text: &str| Mask::new(&[Secret::new(text)]);
    let ring = ring();
    ring.set_mask(secret("first-secret"));
    ring.push(LineKind::Stderr, b"token first-secret");
    ring.set_mask(secret("other-secret"));
    let mut stream = LineStream::new(Arc::clone(&ring), LineKind::Stderr);
    stream.push(b"token other-secret");
    assert_eq!(
        ring.stderr_tail(0, 5),
        [Arc::from("token ***"), Arc::from("token ***")]
    );
    assert!(!format!("{ring:?} {stream:?}").contains("secret"));
}

#[test]
fn a_secret_that_is_cut_with_its_line_is_not_shown() {
    let ring = ring();
    ring.set_mask(Mask::new(&[Secret::new("hunter-two-22")]));
    let line = format!("{}hunter-two-22", "x".repeat(text_max() - 6));
    ring.push(LineKind::Log, line.as_bytes());
    let shown = texts(&ring, 0).remove(0);
    assert!(!shown.contains("hunter"), "{}", &shown[text_max() - 10..]);
}

const fn text_max() -> usize {
    crate::domain::text::MAX_CHARS
}

#[test]
fn cursors_of_the_last_walk_are_hidden_whenever_they_became_known() {
    let ring = ring();
    ring.push(LineKind::Stderr, b"next is abc");
    let walk = Walk::begin(&ring, ListMethod::Resources);
    let told = ring.lock().last_change();
    walk.meet(&cursor("abc"));
    assert_eq!(texts(&ring, told), ["next is ***"], "told again");
    ring.push(LineKind::Log, b"got abc, and abcd");
    drop(walk);
    ring.push(LineKind::Stderr, b"done with \"abc\"");
    let hidden = ["next is ***", "got ***, and abcd", "done with \"***\""];
    assert_eq!(texts(&ring, 0), hidden);
    // Another listing has cursors of its own; the next walk over this one forgets them.
    drop(Walk::begin(&ring, ListMethod::Tools));
    drop(Walk::begin(&ring, ListMethod::Resources));
    ring.push(LineKind::Stderr, b"abc");
    assert_eq!(texts(&ring, 0), [hidden[0], hidden[1], hidden[2], "abc"]);
    assert!(!format!("{ring:?}").contains("abc"));
}

#[tokio::test(start_paused = true)]
async fn what_is_said_during_a_walk_waits_a_moment_for_its_end() {
    let ring = ring();
    let walk = Walk::begin(&ring, ListMethod::Resources);
    ring.push(LineKind::Stderr, b"next is abc");
    let start = tokio::time::Instant::now();
    let lines = tokio::spawn({
        let ring = Arc::clone(&ring);
        async move { ring.lines_after(0).await }
    });
    tokio::time::sleep(HELD_AT_MOST / 2).await;
    walk.meet(&cursor("abc"));
    drop(walk);
    let lines = lines.await.unwrap();
    assert_eq!(start.elapsed(), HELD_AT_MOST / 2);
    assert_eq!(&*lines[0].text, "next is ***");
    // A long walk holds nothing back for long.
    let _walk = Walk::begin(&ring, ListMethod::Resources);
    let start = tokio::time::Instant::now();
    assert_eq!(ring.lines_after(0).await.len(), 1);
    assert_eq!(start.elapsed(), HELD_AT_MOST);
}
