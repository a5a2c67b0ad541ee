//! Functions and limits of generator templates.

use super::*;

fn wrong(source: &str) -> String {
    match render(source, 1, 0, "t-01", Random::new(1)) {
        Err(NoRendering::Wrong { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

fn text(body: &str, seed: u64) -> String {
    let source = format!("%% problem\nx\n%% text\n{body}");
    render(&source, 3, 0, "t-03", Random::new(seed)).unwrap().text
}

#[test]
fn sections_are_taken_apart_and_blanks_made_one() {
    let source = "{% set a = 1 %}\n\n%% problem\n  (define\n\n   (x {{ index }}))\n%% text\n{{ name }}   is\n\n  it.\n";
    let rendered = render(source, 4, 0, "t-04", Random::new(0)).unwrap();
    assert_eq!(rendered.problem, "(define\n(x 4))\n");
    assert_eq!(rendered.text, "t-04 is\nit.\n");
    assert_eq!(rendered.plan, None);
    let with_plan = format!("{source}%% plan\n0.5:  (go)  [2]\n");
    let rendered = render(&with_plan, 4, 0, "t-04", Random::new(0)).unwrap();
    assert_eq!(rendered.plan.as_deref(), Some("0.5: (go) [2]\n"));
}

#[test]
fn functions_draw_from_the_seed_alone() {
    let body = "{{ integer(1, 9) }} {{ pick(['a', 'b', 'c']) }} {{ sample(range(20), 5) | join(' ') }} \
        {{ shuffle(range(9)) | join(' ') }} {{ tree(names('n', 6)) }} {{ connected(names('n', 6), 3) | length }} {{ chance(0.5) }}";
    assert_eq!(text(body, 5), text(body, 5));
    assert_ne!(text(body, 5), text(body, 6));
    for seed in 0..200 {
        let drawn = text(
            "{{ integer(-2, 2) }} {{ connected(names('n', 5), 99) | length }} {{ tree(names('n', 5)) | length }}",
            seed,
        );
        let mut words = drawn.split_whitespace().map(|w| w.parse::<i64>().unwrap());
        assert!((-2..=2).contains(&words.next().unwrap()), "{drawn}");
        assert_eq!(words.collect::<Vec<_>>(), [10, 4]);
    }
}

#[test]
fn a_tree_joins_everything() {
    for seed in 0..50 {
        let drawn = text("{% for p in tree(range(8)) %}{{ p[0] }} {{ p[1] }}\n{% endfor %}", seed);
        let mut group: Vec<usize> = (0..8).collect();
        for line in drawn.lines() {
            let pair: Vec<usize> = line.split(' ').map(|w| w.parse().unwrap()).collect();
            let (from, to) = (group[pair[0]], group[pair[1]]);
            group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
        }
        assert!(group.iter().all(|g| *g == group[0]), "{drawn}");
    }
}

#[test]
fn lists_and_numbers_become_words() {
    let body = "{{ ['a'] | listed }}; {{ ['a', 'b'] | listed }}; {{ ['a', 'b', 'c'] | listed('or') }}; {{ 3 | word }}; {{ 40 | word }}";
    assert_eq!(text(body, 1), "a; a and b; a, b or c; three; 40\n");
}

#[test]
fn mistakes_and_limits_are_told() {
    assert!(wrong("{{ missing }}").contains("undefined"));
    assert!(wrong("{% for %}").contains("syntax error"));
    assert!(wrong("%% text\nonly").contains("%% problem"));
    assert!(wrong("%% problem\nonly").contains("%% text"));
    assert!(wrong("early\n%% problem\nx").contains("`early`"));
    assert!(wrong("{{ pick([]) }}").contains("empty list"));
    assert!(wrong("{{ sample([1], 2) }}").contains("2 items"));
    assert!(wrong("{{ integer(2, 1) }}").contains("the range from 2 to 1 is empty"));
    assert!(wrong("{{ names('a', 100000) }}").contains("names"));
    assert!(wrong("{% include 'suite.toml' %}").contains("template not found"));
    let endless = "{% for a in range(10000) %}{% for b in range(10000) %}{% for c in range(10000) %}{% endfor %}{% endfor %}{% endfor %}";
    assert!(wrong(endless).contains("more than 2000000 steps"), "{}", wrong(endless));
    let flood = "%% problem\n{% for a in range(2000) %}{{ 'x' * 1000 }}{% endfor %}\n%% text\nx";
    assert!(wrong(flood).contains("1048576 bytes"), "{}", wrong(flood));
    assert!(
        matches!(render("{{ redraw('no') }}", 1, 0, "t", Random::new(1)), Err(NoRendering::Redraw(why)) if why == "no")
    );
}
