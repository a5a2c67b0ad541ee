//! Every domain and problem of the shared suites is read; what fails is named.

use planforge_diagnostics::{Severity, SourceId};
use planforge_pddl::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[test]
fn look() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.sort();
    let mut by_code: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let diags = if text.to_lowercase().contains("(domain ") {
            let p = parse_domain(&text, SourceId(0));
            let mut d = p.diagnostics;
            d.extend(check_domain(&p.value, SourceId(0)));
            d
        } else {
            let p = parse_problem(&text, SourceId(0));
            let mut d = p.diagnostics;
            let stem = path.file_stem().unwrap().to_str().unwrap().to_string();
            let dir = path.parent().unwrap();
            let cands = [
                dir.join(format!("domain-{stem}.pddl")),
                if stem.ends_with("_template") {
                    dir.join("domain_template.pddl")
                } else {
                    dir.join("domain.pddl")
                },
                dir.with_extension("pddl"),
            ];
            let Some(dom) = cands.iter().find(|c| c.exists()) else {
                println!("no domain for {}", path.display());
                continue;
            };
            let dt = std::fs::read_to_string(dom).unwrap();
            let dom = parse_domain(&dt, SourceId(1)).value;
            d.extend(check_problem(
                &dom,
                &p.value,
                TaskSources { domain: SourceId(1), problem: SourceId(0) },
            ));
            d
        };
        for d in diags {
            let line = text[..d.primary().unwrap().span.start as usize].lines().count();
            let e = by_code.entry(format!("{:?} {}", d.severity, d.code)).or_insert((0, String::new()));
            e.0 += 1;
            if e.0 < if d.severity == Severity::Error { 20 } else { 6 } {
                e.1 +=
                    &format!("\n      {}:{line} {}", path.strip_prefix(&root).unwrap().display(), d.message);
            }
        }
    }
    for (c, n) in by_code {
        println!("{c} {} {}", n.0, n.1);
    }
}

fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, out);
        } else if path.extension().is_some_and(|e| e == "pddl") {
            out.push(path);
        }
    }
}
