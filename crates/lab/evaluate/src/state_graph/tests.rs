use super::place;
use super::*;
use planforge_plugin_common::judging::reports::{StateGraphEdge, StateGraphPlan};

fn state(after: &[u32], distance: u32, from: Option<u32>, added: &[&str]) -> StateGraphState {
    StateGraphState {
        after_steps: after.to_vec(),
        distance,
        from,
        added: added.iter().map(|a| (*a).to_owned()).collect(),
        ..StateGraphState::default()
    }
}

fn edge(from: u32, to: u32, action: &str, steps: &[u32]) -> StateGraphEdge {
    StateGraphEdge { from, to, action: action.to_owned(), steps: steps.to_vec() }
}

fn graph() -> StateGraphReport {
    let mut states = vec![
        state(&[0, 2], 0, None, &[]),
        state(&[1], 0, Some(0), &["(near \"b\" <&>)"]),
        state(&[], 1, Some(0), &["(lit a)", "(x)"]),
        state(&[], 1, Some(0), &[]),
        state(&[], 2, Some(2), &["(near b)"]),
    ];
    states[2].goal = true;
    states[4].left_out = 3;
    StateGraphReport {
        plan: Some(StateGraphPlan {
            steps: 3,
            executed: 2,
            valid: false,
            failing_step:
                "step 3 (go <b>\u{1b}[2J \"c\") is not applicable: there is no way from here to there".into(),
        }),
        states,
        edges: vec![
            edge(0, 1, "(go a b)", &[1]),
            edge(0, 2, "(switch a)", &[]),
            edge(0, 3, "(wait)", &[]),
            edge(0, 0, "(idle)", &[]),
            edge(1, 0, "(go b a)", &[2]),
            edge(2, 4, "(go \\a b)", &[]),
        ],
        distance: 2,
        max_states: 5,
        left_out: 3,
    }
}

#[test]
fn boxes_do_not_overlap_and_the_plan_is_one_column() {
    let graph = graph();
    let layout = place(&graph, 50);
    for (i, a) in layout.places.iter().enumerate() {
        for b in &layout.places[i + 1..] {
            let apart = a.right() < b.x || b.right() < a.x || a.bottom() < b.y || b.bottom() < a.y;
            assert!(apart, "{a:?}\n{b:?}");
        }
        assert!(a.right() < layout.width && a.bottom() <= layout.bottom);
    }
    assert_eq!(layout.places[0].x, layout.places[1].x);
    assert_eq!(layout.places[2].y, layout.places[0].y, "the first neighbour stands beside its state");
}

#[test]
fn the_figure_escapes_every_text_and_names_omissions() {
    let drawn = svg(&graph());
    assert_eq!(drawn, svg(&graph()));
    for part in [
        "(near &quot;b&quot; &lt;&amp;&gt;)",
        "initial state, after step 2",
        "3 more actions, not shown",
        "5 states and 6 actions, cut at 5 states: 3 actions within 2 actions of the plan's states lead to states that are not shown",
        "The plan of 3 steps breaks after 2 steps",
        "step 1: (go a b)",
        "class=\"state goal\"",
        "class=\"broken\"",
    ] {
        assert!(drawn.contains(part), "{part}\n{drawn}");
    }
    assert!(!drawn.contains("<b>") && !drawn.contains('\u{1b}'), "{drawn}");
    let opened = drawn.matches("<g ").count();
    assert_eq!((opened, drawn.matches("</g>").count()), (6, 6));
    assert_eq!(drawn.matches("<path class=").count(), 6);
}

/// Every edge to a neighbour turns left of every label of its column.
#[test]
fn no_edge_runs_through_a_label() {
    let drawn = svg(&graph());
    let turns = |text: &str| -> Vec<i64> {
        let after = text.split("class=\"edge\"").skip(1).filter_map(|t| t.split_once('H'));
        after.filter_map(|(_, t)| t.split('V').next()?.parse().ok()).collect()
    };
    let labels: Vec<i64> = drawn
        .lines()
        .filter(|l| l.contains("class=\"edge-label\""))
        .filter_map(|l| l.split('"').nth(1)?.parse().ok())
        .collect();
    let turns = turns(&drawn);
    assert_eq!((turns.len(), labels.len()), (3, 3), "{drawn}");
    assert_eq!(turns[0], turns[1], "one turn a column");
    assert!(turns.iter().zip(&labels).all(|(turn, label)| turn < label), "{turns:?} {labels:?}");
}

#[test]
fn the_graphviz_file_quotes_every_text() {
    let written = dot(&graph());
    for part in [
        "label=\"+ (near \\\"b\\\" <&>)",
        "s2 -> s4 [label=\"(go \\\\a b)\"];",
        "s0 -> s1 [label=\"(go a b)\", color=\"#0072b2\", penwidth=3];",
        "s0 -> broken [style=dashed];",
        "peripheries=2",
    ] {
        let found = written.contains(part) || written.contains(&part.replace("label=\"+", "\\l+"));
        assert!(found, "{part}\n{written}");
    }
    assert!(!written.contains('\u{1b}'));
}

#[test]
fn captions_state_the_result_of_the_plan() {
    let mut graph = graph();
    graph.left_out = 0;
    let second = |graph: &StateGraphReport| captions(graph).get(1).cloned().unwrap_or_default();
    graph.plan = Some(StateGraphPlan { steps: 1, executed: 1, valid: true, failing_step: String::new() });
    assert_eq!(second(&graph), "The plan of 1 step is valid");
    graph.plan = Some(StateGraphPlan { steps: 0, executed: 0, valid: false, failing_step: String::new() });
    assert_eq!(second(&graph), "The plan of 0 steps is executed and misses the goal");
    graph.plan = None;
    assert_eq!(captions(&graph), ["5 states and 6 actions: all within 2 actions of the initial state"]);
}
