//! Texts of the ladder: each is read back, apart from how it was written, and gives the facts, objects and goal of its problem.

use planforge_pipeline::{Suite, load_suite};
use planforge_planning::Unlimited;
use planforge_suites::TemplateRenderer;
use planforge_suites::generate::{Generator, Instance, Limits, Rung};
use planforge_suites::ladder::Axis;
use std::path::Path;

const FAMILIES: [&str; 8] =
    ["blocks", "childsnack", "driverlog", "garden", "grippers", "miconic", "parcels", "tyres"];
const SIZES: [u32; 6] = [10, 20, 40, 80, 160, 300];
/// All axes but tables, which take facts from the others.
const NO_TABLES: &str =
    "order+irrelevant+references+quantities+units+negations+conditions+corrections+synonyms";

fn suite(family: &str) -> Suite {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites").join(family);
    load_suite(&folder).suite.unwrap()
}

fn generator(family: &str) -> Generator {
    Generator::new(&suite(family), TemplateRenderer::in_this_process()).unwrap()
}

fn make(generator: &Generator, seed: u64, size: u32, axes: &str) -> Instance {
    let rung = Rung { size, axes: axes.parse().unwrap(), number: 1 };
    generator.rung(seed, &rung, &Limits::default(), &mut Unlimited).unwrap_or_else(|error| {
        panic!("{axes} {size} {seed}: {:?}", error.diagnostics.iter().map(|d| &d.message).collect::<Vec<_>>())
    })
}

#[test]
fn each_axis_of_each_family_is_read_back() {
    for family in FAMILIES {
        let generator = generator(family);
        for axis in Axis::ALL {
            for seed in 1..=3 {
                for size in [10, 20, 40] {
                    make(&generator, seed, size, axis.name());
                }
            }
        }
    }
}

#[test]
fn all_axes_together_are_read_back_in_each_language() {
    for family in FAMILIES {
        let generator = generator(family);
        for language in ["", "+german", "+chinese", "+spanish"] {
            for (seed, size) in [(1, 10), (2, 40), (3, 80)] {
                make(&generator, seed, size, &format!("{NO_TABLES}{language}"));
                make(&generator, seed, size, &format!("all+gap{language}"));
            }
        }
    }
}

#[test]
fn every_size_has_its_objects_a_plan_and_a_text_within_the_limit() {
    for family in FAMILIES {
        let generator = generator(family);
        for size in SIZES {
            let task = make(&generator, 5, size, "all");
            let parsed = planforge_pddl::parse_problem(&task.problem, planforge_diagnostics::SourceId(0));
            assert_eq!(parsed.value.objects.len(), size as usize, "{family}");
            assert!(task.plan.lines().count() > 1);
            assert!(task.text.chars().count() <= 60_000);
        }
    }
}
