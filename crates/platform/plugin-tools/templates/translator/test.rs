#[test]
fn it_reads_the_problem_out_of_the_reply() {
    let reply = "Here it is:\n```\n(define (problem p) (:domain d) (:init (a)) (:goal (b)))\n```";
    for instance in instances() {
        let Instance::Translator(translator) = instance else { panic!("a translator") };
        let host = TestHost::new().reply("writer", reply).reply("writer", "I cannot.");
        let request = TranslateRequest { n: 2, ..TranslateRequest::default() };
        let mut samples = translator.translate(&host, &request).unwrap().samples.into_iter();
        let patch = samples.next().unwrap().into_result().unwrap();
        assert!(patch.problem.unwrap().starts_with("(define (problem p)"));
        assert_eq!(samples.next().unwrap().into_result().unwrap_err().code, "reply.no-pddl");
    }
}
