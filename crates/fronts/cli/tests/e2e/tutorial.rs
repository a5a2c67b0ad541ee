//! The tutorials and the how-to pages with whole examples: their files are written and their commands run, in order, in an empty folder.

use super::support::{planforge, root};
use std::path::Path;

/// The first indented block, without its indentation, and the lines behind it.
fn block<'a>(lines: &'a [&'a str]) -> (String, &'a [&'a str]) {
    let start = lines.iter().position(|line| line.starts_with("    ")).unwrap_or(lines.len());
    let length = lines[start..].iter().take_while(|line| line.is_empty() || line.starts_with("    ")).count();
    let text: Vec<&str> =
        lines[start..start + length].iter().map(|line| line.get(4..).unwrap_or("")).collect();
    (format!("{}\n", text.join("\n").trim_end()), &lines[start + length..])
}

/// A page whose files are written and whose commands are run.
struct Followed {
    folder: tempfile::TempDir,
    files: usize,
    commands: usize,
    /// Standard output of all commands.
    printed: String,
}

/// Follows a page of docs in an empty folder.
fn follow(page: &str, programs: &[&str]) -> Followed {
    follow_in(tempfile::tempdir().unwrap(), page, programs)
}

/// Follows a page of docs: writes each block behind "File `NAME`:", and runs each line that begins with one of the programs. Commands
/// that ask a real model are not run.
fn follow_in(folder: tempfile::TempDir, page: &str, programs: &[&str]) -> Followed {
    let page = std::fs::read_to_string(root().join("docs").join(page)).unwrap();
    let mut followed = Followed { folder, files: 0, commands: 0, printed: String::new() };
    let binary = Path::new(env!("CARGO_BIN_EXE_planforge")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", binary.display());
    #[allow(clippy::disallowed_methods, reason = "the tutorial's python3 is that of the machine")]
    let path = std::env::var("PATH").map_or(path.clone(), |rest| format!("{path}:{rest}"));
    let lines: Vec<&str> = page.lines().collect();
    let mut rest = &lines[..];
    let is_command = |line: &&str| {
        let program = line.split_once(' ').map(|(program, _)| program);
        program.is_some_and(|program| programs.contains(&program)) && !line.contains(" --model ")
    };
    while let Some((line, behind)) = rest.split_first() {
        rest = behind;
        let name = line.split_once("File `").and_then(|(_, name)| name.strip_suffix("`:"));
        if let Some(name) = name {
            let (text, behind) = block(rest);
            let file = followed.folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
            rest = behind;
            followed.files += 1;
        } else if let Some(command) = line.strip_prefix("    ").filter(is_command) {
            let ran = std::process::Command::new("sh")
                .args(["-c", command])
                .current_dir(followed.folder.path())
                .env("PATH", &path)
                .envs(planforge().get_envs().filter_map(|(name, value)| Some((name, value?))))
                .output()
                .unwrap();
            let (stdout, stderr) =
                (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
            // A run whose tasks are not solved ends with 0 too: every task has a verdict.
            assert!(ran.status.success(), "{command}\n{stdout}\n{stderr}");
            assert!(!stderr.contains("warning"), "{command}\n{stderr}");
            followed.printed += &stdout;
            followed.commands += 1;
        }
    }
    followed
}

fn assert_printed(followed: &Followed, figures: &[&str]) {
    for figure in figures {
        assert!(followed.printed.contains(figure), "`{figure}` is not printed\n{}", followed.printed);
    }
}

#[test]
fn every_command_of_the_tutorial_succeeds_and_prints_the_figures_that_it_names() {
    let followed = follow("tutorial/your-own-domain.md", &["planforge"]);
    assert_eq!((followed.files, followed.commands), (8, 10), "files and commands of the page");
    assert!(followed.folder.path().join("report.html").exists());
    assert_printed(
        &followed,
        &[
            "planned: 12 steps. 3 of 3 readings by 1 model agree after 2 answers, ",
            "plan valid (6 steps, cost 6)",
            "6 steps",
            "8 steps",
            "3 of 10",
            "7 of 10",
            "45.0 %",
            "85.0 %",
            "3.693",
            "p = 0.5000",
        ],
    );
}

#[test]
fn a_first_verifier_in_python_changes_the_comparison_as_its_page_says() {
    // The page begins with the files of the first tutorial.
    let suite = follow("tutorial/your-own-domain.md", &[]);
    let followed = follow_in(suite.folder, "tutorial/first-verifier.md", &["planforge", "python3", "sed"]);
    assert_eq!((followed.files, followed.commands), (3, 11), "files and commands of the page");
    assert_printed(
        &followed,
        &[
            "Tasks solved: one 9 of 20, shortest 15 of 20, checked 20 of 20.",
            "75.0 %",
            "100.0 %",
            "`laundry-order` passes.",
        ],
    );
}

#[test]
fn the_examples_of_the_pages_for_authors_pass_their_tests_and_those_of_the_host() {
    for (page, id) in [
        ("write-a-translator.md", "my-writer"),
        ("write-a-planner.md", "my-planner"),
        ("write-an-environment.md", "two-jugs"),
        ("write-a-provider.md", "my-server"),
    ] {
        let followed = follow(&format!("how-to/{page}"), &["planforge", "python3"]);
        assert_eq!((followed.files, followed.commands), (2, 3), "files and commands of {page}");
        assert_printed(&followed, &[&format!("`{id}` passes.")]);
    }
}
