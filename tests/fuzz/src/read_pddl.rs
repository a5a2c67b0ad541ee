//! PDDL, as a file or as a model's reply.

use super::show;
use planforge_diagnostics::{SourceId, SourceMap};
use planforge_pddl::extract::BlockKind;
use planforge_pddl::{
    StripSpans, TaskSources, check_domain, check_problem, diff_domains, diff_problems, find_pddl, fix_all,
    parse_domain, parse_problem, print_domain, print_problem, read_pddl_bytes,
};

/// Reads, checks, extracts, fixes, prints and compares. What was read without a diagnostic is printed so that it reads the
/// same; what was put together from a faulty text is printed and read again, and may come out tidier.
pub fn read_pddl(data: &[u8]) {
    let Ok(read) = read_pddl_bytes("fuzz.pddl", data) else { return };
    let text = read.text;
    let sources = SourceMap::single("fuzz.pddl", text.as_str());
    let at = SourceId(0);
    let domain = parse_domain(&text, at);
    let problem = parse_problem(&text, at);
    show(&domain.diagnostics, &sources);
    show(&problem.diagnostics, &sources);
    show(&check_domain(&domain.value, at), &sources);
    show(&check_problem(&domain.value, &problem.value, TaskSources { domain: at, problem: at }), &sources);

    let printed = print_domain(&domain.value);
    let again = parse_domain(&printed, at);
    let reprinted = print_domain(&again.value);
    if domain.diagnostics.is_empty() {
        assert_eq!(reprinted, printed, "printing a domain is not stable");
        assert!(
            again.value.eq_ignoring_spans(&domain.value),
            "a printed domain reads differently:\n{printed}"
        );
        assert!(diff_domains(&domain.value, &again.value).is_empty(), "{printed}");
    }
    let printed = print_problem(&problem.value);
    let again = parse_problem(&printed, at);
    let reprinted = print_problem(&again.value);
    if problem.diagnostics.is_empty() {
        assert_eq!(reprinted, printed, "printing a problem is not stable");
        assert!(
            again.value.eq_ignoring_spans(&problem.value),
            "a printed problem reads differently:\n{printed}"
        );
        assert!(diff_problems(&problem.value, &again.value).is_empty(), "{printed}");
    }

    for kind in [BlockKind::Domain, BlockKind::Problem] {
        let fixed = fix_all(&text, kind);
        assert_eq!(fixed.fixes.len(), fixed.answered.len());
        assert_eq!(
            fixed.fixes.is_empty(),
            fixed.text == text,
            "a fix that changes nothing, or none that does"
        );
    }

    let found = find_pddl(&text, at);
    show(&found.diagnostics, &sources);
    for block in found.domains.iter().chain(&found.problems).chain(&found.others) {
        assert_eq!(text.get(block.span.range()), Some(block.text.as_str()), "a block is not its slice");
    }
}
