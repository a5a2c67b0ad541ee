#[test]
fn it_reads_the_steps_out_of_the_reply() {
    for instance in instances() {
        let Instance::Planner(planner) = instance else { panic!("a planner") };
        let host = TestHost::new().reply("planner", "First:\n(pick a)\n(put a)\n").reply("planner", "I cannot.");
        let request = PlanRequest { k: 1, ..PlanRequest::default() };
        let outcome = planner.plan(&host, &request).unwrap();
        assert_eq!(outcome.best().unwrap().steps, ["(pick a)", "(put a)"]);
        assert_eq!(planner.plan(&host, &request).unwrap().name(), "exhausted");
    }
}
