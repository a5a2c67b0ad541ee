//! The tutorial: its files are written and its commands run, in order, in an empty folder.

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

#[test]
fn every_command_of_the_tutorial_succeeds_and_prints_the_figures_that_it_names() {
    let page = std::fs::read_to_string(root().join("docs/tutorial/your-own-domain.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_planforge")).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", binary.display());
    let lines: Vec<&str> = page.lines().collect();
    let (mut rest, mut files, mut commands, mut printed) = (&lines[..], 0, 0, String::new());
    while let Some((line, behind)) = rest.split_first() {
        rest = behind;
        if let Some(name) = line.strip_prefix("File `").and_then(|name| name.strip_suffix("`:")) {
            let (text, behind) = block(rest);
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
            rest = behind;
            files += 1;
        } else if let Some(command) = line.strip_prefix("    ").filter(|line| line.starts_with("planforge "))
        {
            let ran = std::process::Command::new("sh")
                .args(["-c", command])
                .current_dir(folder.path())
                .env("PATH", &path)
                .envs(planforge().get_envs().filter_map(|(name, value)| Some((name, value?))))
                .output()
                .unwrap();
            let (stdout, stderr) =
                (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
            // A run whose tasks are not solved ends with 0 too: every task has a verdict.
            assert!(ran.status.success(), "{command}\n{stdout}\n{stderr}");
            assert!(!stderr.contains("warning"), "{command}\n{stderr}");
            printed += &stdout;
            commands += 1;
        }
    }
    assert_eq!((files, commands), (8, 9), "files and commands of the page");
    assert!(folder.path().join("report.html").exists());
    for figure in [
        "plan valid (6 steps, cost 6)",
        "6 steps",
        "8 steps",
        "3 of 10",
        "7 of 10",
        "45.0 %",
        "85.0 %",
        "3.693",
        "p = 0.5000",
    ] {
        assert!(printed.contains(figure), "`{figure}` is not printed\n{printed}");
    }
}
