//! Against the definition: every renaming tried, on small random problems.

use super::*;
use planforge_pddl::random::Random;
use std::collections::BTreeSet;

/// A fact: its text with `{}` for objects' numbers, and the objects.
type Fact = (&'static str, Vec<usize>);

/// Predicates of the problems, with the types of their arguments: 0 a box, 1 a place.
const KINDS: [(&str, &[usize]); 11] = [
    ("init (on {} {})", &[0, 0]),
    ("init (clear {})", &[0]),
    ("init (at {} {})", &[0, 1]),
    ("init (at {} dock)", &[0]),
    ("init (near {} {})", &[1, 1]),
    ("init (= (weight {}) 2)", &[0]),
    ("init (= (weight {}) 3)", &[0]),
    ("goal (on {} {})", &[0, 0]),
    ("goal (at {} {})", &[0, 1]),
    ("goal (not (clear {}))", &[0]),
    ("goal (near {} {})", &[1, 1]),
];

/// Objects by type, and facts over them.
#[derive(Clone)]
struct Small {
    count: [usize; 2],
    facts: BTreeSet<Fact>,
}

impl Small {
    fn random(random: &mut Random) -> Self {
        let count = [1 + random.below(4) as usize, 1 + random.below(3) as usize];
        let mut small = Self { count, facts: BTreeSet::new() };
        for _ in 0..random.below(9) {
            let fact = small.fact(random);
            small.facts.insert(fact);
        }
        small
    }

    fn fact(&self, random: &mut Random) -> Fact {
        let (text, types) = KINDS[random.below(KINDS.len() as u64) as usize];
        (text, types.iter().map(|&t| random.below(self.count[t] as u64) as usize).collect())
    }

    fn rename(&self, renaming: &[Vec<usize>; 2]) -> BTreeSet<Fact> {
        let types = |text: &str| KINDS.iter().find(|k| k.0 == text).unwrap().1;
        self.facts
            .iter()
            .map(|(text, objects)| {
                (*text, objects.iter().zip(types(text)).map(|(&o, &t)| renaming[t][o]).collect())
            })
            .collect()
    }

    fn text(&self, prefixes: [&str; 2]) -> String {
        let names = |t: usize| (0..self.count[t]).map(|i| format!("{}{i} ", prefixes[t])).collect::<String>();
        let section = |kind: &str| -> String {
            let of_kind = self.facts.iter().filter(|f| f.0.starts_with(kind));
            of_kind.map(|fact| format_fact(fact, prefixes)[kind.len()..].to_owned()).collect()
        };
        let objects = format!("{} - box {} - place", names(0), names(1));
        problem(&objects, &section("init"), &format!("(and {})", section("goal")))
    }
}

fn format_fact((text, objects): &Fact, prefixes: [&str; 2]) -> String {
    let types = KINDS.iter().find(|k| k.0 == *text).unwrap().1;
    objects.iter().zip(types).fold((*text).to_owned(), |text, (object, &t)| {
        text.replacen("{}", &format!("{}{object}", prefixes[t]), 1)
    })
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let smaller = permutations(n - 1);
    let insert = |p: &Vec<usize>, at: usize| {
        let mut p = p.clone();
        p.insert(at, n - 1);
        p
    };
    smaller.iter().flat_map(|p| (0..n).map(move |at| insert(p, at))).collect()
}

/// The fewest facts that any renaming leaves over.
fn fewest(a: &Small, b: &Small) -> usize {
    let places = permutations(a.count[1]);
    permutations(a.count[0])
        .iter()
        .flat_map(|boxes| places.iter().map(move |places| [boxes.clone(), places.clone()]))
        .map(|renaming| a.rename(&renaming).symmetric_difference(&b.facts).count())
        .min()
        .unwrap()
}

fn shuffle(n: usize, random: &mut Random) -> Vec<usize> {
    let mut all = permutations(n);
    all.swap_remove(random.below(all.len() as u64) as usize)
}

/// Counts the facts that a renaming leaves over.
fn left_over(a: &Small, b: &Small, renaming: &[(String, String)]) -> usize {
    let mut by_type = [vec![usize::MAX; a.count[0]], vec![usize::MAX; a.count[1]]];
    for (from, to) in renaming {
        let t = usize::from(from.starts_with('p'));
        by_type[t][from[1..].parse::<usize>().unwrap()] = to[1..].parse().unwrap();
    }
    a.rename(&by_type).symmetric_difference(&b.facts).count()
}

#[test]
fn the_answer_equals_that_of_all_renamings() {
    let mut random = Random::stream(20_25, 0);
    let (mut equal, mut minimal, mut unshown) = (0, 0, 0);
    for _ in 0..1500 {
        let a = Small::random(&mut random);
        let renaming = [shuffle(a.count[0], &mut random), shuffle(a.count[1], &mut random)];
        let mut b = Small { count: a.count, facts: a.rename(&renaming) };
        for _ in 0..random.below(3) {
            let fact = b.fact(&mut random);
            if !b.facts.remove(&fact) {
                b.facts.insert(fact);
            }
        }
        let fewest = fewest(&a, &b);
        match compare(&a.text(["b", "p"]), &b.text(["x", "y"])) {
            ProblemEquivalence::Equal { renaming } => {
                assert_eq!(fewest, 0);
                assert_eq!(left_over(&a, &b, &renaming), 0, "the renaming is one");
                equal += 1;
            }
            ProblemEquivalence::Different(found) => {
                let told = found.missing_facts.len() + found.extra_facts.len();
                assert!(fewest > 0 && told >= fewest);
                assert_eq!(told, left_over(&a, &b, &found.renaming), "what is told is what is left over");
                if found.minimal {
                    assert_eq!(told, fewest, "{} {}", a.text(["b", "p"]), b.text(["x", "y"]));
                }
                minimal += usize::from(found.minimal);
                unshown += usize::from(!found.minimal && told == fewest);
            }
            ProblemEquivalence::Undecided { .. } => panic!("no limit was set"),
        }
    }
    assert!(
        equal > 300 && minimal > 300,
        "{equal} equal, {minimal} minimal, {unshown} minimal and not shown"
    );
}

#[test]
fn another_number_of_objects_is_a_difference() {
    let mut random = Random::stream(7, 0);
    for _ in 0..50 {
        let a = Small::random(&mut random);
        let b = Small { count: [a.count[0] + 1, a.count[1]], ..a.clone() };
        let difference = different(compare(&a.text(["b", "p"]), &b.text(["b", "p"])));
        assert_eq!((difference.missing_objects.len(), difference.extra_objects.len()), (0, 1));
        assert_eq!((difference.missing_facts.len(), difference.extra_facts.len()), (0, 0));
        assert!(difference.minimal);
    }
}
