//! What the fuzzer is given to start with, and what it found: every target holds on each.

use std::fs;
use std::path::Path;

#[path = "../support/fuzz/mod.rs"]
mod targets;

#[test]
fn every_target_holds_on_its_seeds() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fuzz");
    for (name, _) in targets::TARGETS {
        let folder = seeds.join(name);
        let files = fs::read_dir(&folder).unwrap_or_else(|_| panic!("{name} has no seeds"));
        let mut count = 0;
        for file in files {
            let path = file.unwrap().path();
            let data = fs::read(&path).unwrap();
            // Whole, and cut off everywhere in its beginning.
            targets::run(name, &data);
            (0..data.len().min(400)).for_each(|end| targets::run(name, &data[..end]));
            count += 1;
        }
        assert!(count > 0, "{name} has no seeds");
    }
}
