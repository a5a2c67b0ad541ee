//! `planforge pddl fmt`: files, standard input, `--check`, and what is refused.

use super::support::{Ran, planforge, ran};
use std::io::Write;
use std::process::Stdio;

const MESSY: &str = "(define (domain d)(:predicates (p) ; a comment\n (q)))\n";
const NEAT: &str = "(define (domain d)\n  (:predicates\n    (p) ; a comment\n    (q)))\n";

fn format_stdin(input: &[u8], more: &[&str]) -> Ran {
    let mut child = planforge().args(["pddl", "fmt", "-"]).args(more).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    Ran::wait(child)
}

#[test]
fn files_are_formatted_in_place_and_check_lists_those_that_would_change() {
    let folder = tempfile::tempdir().unwrap();
    let (messy, neat) = (folder.path().join("messy.pddl"), folder.path().join("neat.pddl"));
    std::fs::write(&messy, MESSY).unwrap();
    std::fs::write(&neat, NEAT).unwrap();
    let args = |check: &[&str]| {
        let mut args = vec!["fmt".to_owned(), messy.display().to_string(), neat.display().to_string()];
        args.extend(check.iter().map(|word| (*word).to_owned()));
        ran(args)
    };
    let check = args(&["--check"]);
    check.expect(10);
    assert_eq!(check.stdout, format!("{}\n", messy.display()));
    assert_eq!(check.stderr.trim(), "1 of 2 files would change");
    assert_eq!(std::fs::read_to_string(&messy).unwrap(), MESSY);
    let formatted = args(&[]);
    formatted.expect(0);
    assert_eq!((formatted.stdout.as_str(), formatted.stderr.trim()), ("", "1 of 2 files changed"));
    assert_eq!(std::fs::read_to_string(&messy).unwrap(), NEAT);
    args(&["--check"]).expect(0);
}

#[cfg(unix)]
#[test]
fn a_formatted_file_keeps_its_permissions_and_a_link_stays_a_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("d.pddl"), folder.path().join("link.pddl"));
    std::fs::write(&file, MESSY).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&file, &link).unwrap();
    ran(["pddl", "fmt", link.to_str().unwrap()]).expect(0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), NEAT);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(link.is_symlink());
}

#[test]
fn standard_input_is_formatted_to_standard_output() {
    let formatted = format_stdin(MESSY.as_bytes(), &[]);
    formatted.expect(0);
    assert_eq!((formatted.stdout.as_str(), formatted.stderr.as_str()), (NEAT, ""));
    format_stdin(MESSY.as_bytes(), &["--check"]).expect(10);
    format_stdin(NEAT.as_bytes(), &["--check"]).expect(0);
    ran(["pddl", "fmt", "-", "x.pddl"]).expect(30);
}

#[test]
fn files_with_errors_are_refused_and_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (broken, latin, fine) = (
        folder.path().join("broken.pddl"),
        folder.path().join("latin.pddl"),
        folder.path().join("fine.pddl"),
    );
    let latin_bytes = b"(define (domain d)) ; caf\xe9\n";
    std::fs::write(&broken, "(define (domain d) (:predicates (p)").unwrap();
    std::fs::write(&latin, latin_bytes).unwrap();
    std::fs::write(&fine, MESSY).unwrap();
    let refused = ran(["pddl", "fmt", broken.to_str().unwrap(), fine.to_str().unwrap()]);
    refused.expect(10);
    assert!(refused.stderr.contains("pddl.unclosed"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(&broken).unwrap(), "(define (domain d) (:predicates (p)");
    assert_eq!(std::fs::read_to_string(&fine).unwrap(), NEAT, "the other file is formatted");
    let refused = ran(["pddl", "fmt", latin.to_str().unwrap()]);
    refused.expect(31);
    assert!(refused.stderr.contains("pddl.invalid-utf8"), "{}", refused.stderr);
    assert_eq!(std::fs::read(&latin).unwrap(), latin_bytes);
    ran(["pddl", "fmt", folder.path().join("missing.pddl").to_str().unwrap()]).expect(31);
}
