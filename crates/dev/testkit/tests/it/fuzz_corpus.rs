//! The fuzz targets on every file of `tests/fuzz/corpus`, with the stable compiler.
//!
//! The crate of the targets is outside the workspace, so its library is compiled here as a module.

use std::path::Path;

#[allow(unreachable_pub, clippy::expect_used, reason = "a library of its own, where a panic is the finding")]
#[path = "../../../../../tests/fuzz/src/lib.rs"]
mod bodies;

/// Fewer files than that mean that the corpus was lost, not that all is well.
const FEWEST: usize = 10;

/// In how many places a file is damaged.
const PLACES: usize = 3;

/// The bytes, and simple mutations of them: prefixes, suffixes, and one byte replaced.
fn variants(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![bytes.to_vec()];
    for at in (0..PLACES).map(|i| bytes.len() * i / PLACES) {
        all.extend([bytes[..at].to_vec(), bytes[at..].to_vec()]);
        for byte in *b"()\"\n-\x80" {
            let mut damaged = bytes.to_vec();
            if let Some(place) = damaged.get_mut(at) {
                *place = byte;
                all.push(damaged);
            }
        }
    }
    all
}

fn replay(target: &str, body: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/fuzz/corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= FEWEST, "{} has {} files", folder.display(), files.len());
    let failed: Vec<_> = files
        .iter()
        .filter(|file| {
            let bytes = std::fs::read(file).unwrap();
            variants(&bytes).iter().any(|variant| {
                let failed = std::panic::catch_unwind(|| body(variant)).is_err();
                if failed {
                    println!("input: {}", String::from_utf8_lossy(variant));
                }
                failed
            })
        })
        .collect();
    assert!(failed.is_empty(), "the body of {target} panicked (see above) on {failed:#?}");
}

#[test]
fn read_pddl() {
    replay("read_pddl", bodies::read_pddl);
}

#[test]
fn plan_file() {
    replay("plan_file", bodies::plan_file);
}

#[test]
fn pipeline_toml() {
    replay("pipeline_toml", bodies::pipeline_toml);
}

#[test]
fn contract_json() {
    replay("contract_json", bodies::contract_json);
}

#[test]
fn asp_reader() {
    replay("asp_reader", bodies::asp_reader);
}
