//! Programs end with planforge when it is killed with signal 9 and cannot end them itself.
#![cfg(target_os = "linux")]

use super::support::{example, noisy_oracle, planforge, signal, wait_for_condition, wait_until};
use planforge_testkit::{stage, table};
use std::fs;
use std::process::Child;

/// The processes whose environment marks them as started by this process, or as started by those.
fn programs_of(process: u32) -> Vec<String> {
    let mark = format!("PLANFORGE_CHILD={process}-");
    let folders = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let marked = folders.filter(|folder| {
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(mark.as_bytes()))
    });
    marked.map(|folder| folder.display().to_string()).collect()
}

/// Kills planforge once it has started so many programs, and waits until they are gone.
fn kill_with_programs(mut child: Child, count: usize) {
    let id = child.id();
    wait_until(&mut child, "programs", |_| programs_of(id).len() >= count);
    signal(&child, "KILL");
    child.wait().unwrap();
    wait_for_condition("the end of the programs", || programs_of(id).is_empty());
}

#[test]
fn an_external_planner_ends_with_a_killed_planforge() {
    const TRANSLATE: &str = stage!(translate "problem" use = "translator-direct" roles = { writer = "main" } options = { mode = "problem" });
    // The planner, a program that it started, and one that has left its process group.
    const PLAN: &str = stage!(plan "plan" use = "planner-external" options = { command = ["/bin/sh", "-c", "sleep 3600 & setsid sleep 3600 & wait"], arguments = ["{plan}"], time_limit_s = 3600 });
    let folder = tempfile::tempdir().unwrap();
    let pipeline = folder.path().join("pipeline.toml");
    let text = noisy_oracle(0, table!("given" domain = true), &[TRANSLATE, PLAN].concat());
    fs::write(&pipeline, text).unwrap();
    let mut command = planforge();
    command.args(["run", "--allow-commands"]).arg(&pipeline).arg("--runs").arg(folder.path().join("runs"));
    command.arg("--task").arg(example("parcels", "p01"));
    kill_with_programs(command.spawn().unwrap(), 3);
}

#[test]
fn the_reasoner_ends_with_a_killed_planforge() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let domain = "(define (domain shelves) (:requirements :strips :typing) (:types shelf)
        (:predicates (free ?s - shelf))
        (:action fill :parameters (?s - shelf) :precondition (free ?s) :effect (not (free ?s))))";
    let endless = "count(0).\ncount(X+1) :- count(X), X < 2000000000.\ninit(free(s)) :- count(-1).\n";
    let mut command = planforge();
    command.args(["pddl", "infer", "--time-limit", "3600", "--memory-limit", "2048"]);
    command.arg("--domain").arg(write("domain.pddl", domain));
    command.arg("--knowledge").arg(write("knowledge.lp", endless));
    command.arg(write("ir.lp", "cardinality(shelf, 3).\ninit(free(shelf2)).\ngoal(free(shelf1)).\n"));
    kill_with_programs(command.spawn().unwrap(), 1);
}
