#[test]
fn it_replies() {
    let request = CompletionRequest { messages: vec![Message::user("hello")], ..CompletionRequest::default() };
    for instance in instances() {
        let Instance::Provider(provider) = instance else { panic!("a provider") };
        let result = provider.complete(&TestHost::new(), &request).unwrap();
        assert!(matches!(result, CompletionResult::Replies(r) if r.replies.len() == 1));
    }
}
