#[test]
fn walks_are_executable_and_a_plan_is_judged() {
    let (host, task) = (TestHost::new(), EnvironmentOpen::default());
    for instance in instances() {
        let Instance::Environment(lamp) = instance else { panic!("an environment") };
        let spec = WalkSpec { lengths: vec![1, 3], seed: 1, ..WalkSpec::default() };
        let walks = lamp.walks(&host, &task, &spec).unwrap().walks;
        assert_eq!(walks[1], ["(switch-on)", "(switch-off)", "(switch-on)"]);
        let plan = EnvironmentPlan { steps: vec!["(switch-on)".to_owned()] };
        assert!(lamp.validate(&host, &task, &plan).unwrap().valid);
        assert!(!lamp.validate(&host, &task, &EnvironmentPlan::default()).unwrap().valid);
    }
}
