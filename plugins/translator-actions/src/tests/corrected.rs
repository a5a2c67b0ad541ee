//! Actions that are written again because of feedback.

use super::*;

fn complained(feedback: &[&str]) -> TranslateRequest {
    let mut request = request(1);
    request.candidate.texts =
        [("action.go", GO), ("action.light", "(:action light :effect (lit ?l))")].into_iter().collect();
    request.feedback = feedback.iter().map(|entry| (*entry).to_owned()).collect();
    request
}

#[test]
fn an_action_is_asked_for_again_where_the_feedback_names_it() {
    let request = complained(&[" action `LIGHT`: the variable ?l is not a parameter.\nlook"]);
    let (patches, questions) = asked(ActionTranslatorOptions::default(), &request, &[LIGHT]);
    assert!(questions[0].contains("not a parameter.\nlook\n"));
    assert!(questions[0].contains("```pddl\n(:action light :effect (lit ?l))\n```\nIt was found wrong:"));
    let domain = patches[0].domain.as_deref().unwrap();
    assert!(domain.contains(GO) && domain.contains(LIGHT));
    assert!(!patches[0].rewrite, "what stays has its likelihood in the candidate");
}

#[test]
fn feedback_about_others_leaves_an_action_alone() {
    let request = complained(&["Action `light`: wrong.", "The plan failed.", "Action `lighten`: what?"]);
    let (_, questions) = asked(ActionTranslatorOptions::default(), &request, &[LIGHT]);
    assert!(!questions[0].contains("The plan failed") && !questions[0].contains("lighten"));
    let earlier = ActionTranslatorOptions { earlier: true, ..Default::default() };
    assert!(asked(earlier, &request, &[LIGHT]).1[0].contains(GO), "those that stay are shown");
}

#[test]
fn feedback_that_names_no_action_is_about_all_of_them() {
    let (patches, questions) =
        asked(ActionTranslatorOptions::default(), &complained(&["The plan failed."]), &[GO, LIGHT]);
    assert!(questions.iter().all(|q| q.contains("It was found wrong:\nThe plan failed.\n")));
    assert!(patches[0].rewrite);
}

#[test]
fn what_is_missing_is_asked_for_whatever_the_feedback_is_about() {
    let mut request = complained(&["Action `light`: wrong."]);
    request.candidate.texts.actions.remove("go");
    let (_, questions) = asked(ActionTranslatorOptions::default(), &request, &[GO, LIGHT]);
    assert!(!questions[0].contains("It was found wrong"));
}

#[test]
fn a_reply_without_an_action_is_shown_and_never_put_into_the_domain() {
    let mut request = complained(&["Action `go`: the reply holds no action."]);
    let reply = "Sorry:\n```\nno\n```";
    request.candidate.texts.actions.insert("go".into(), reply.into());
    let (_, questions) = asked(ActionTranslatorOptions::default(), &request, &[GO]);
    assert!(questions[0].contains(&format!("````pddl\n{reply}\n````\n")), "{}", questions[0]);
    // It is asked for again without feedback too, because it is not an action.
    request.feedback = vec!["Action `light`: wrong.".into()];
    let (patches, questions) = asked(ActionTranslatorOptions::default(), &request, &["still not", LIGHT]);
    assert_eq!(questions.len(), 2);
    assert!(!patches[0].domain.as_deref().unwrap().contains("Sorry"));
    request.candidate.texts.actions.insert("go".into(), " ".into());
    request.feedback = vec!["Action `go`: nothing.".into()];
    assert!(
        asked(ActionTranslatorOptions::default(), &request, &[GO]).1[0].contains("Nothing could be read")
    );
}

#[test]
fn without_feedback_what_is_written_stays_and_nothing_is_asked() {
    let (patches, questions) = asked(ActionTranslatorOptions::default(), &complained(&[]), &[]);
    assert!(questions.is_empty());
    let patch = &patches[0];
    assert!(patch.domain.as_deref().unwrap().contains(GO) && patch.raw_reply.is_empty());
    assert_eq!((patch.rewrite, patch.log_likelihood), (false, None), "the likelihood is the candidate's");
    assert!(asked(ActionTranslatorOptions::default(), &complained(&[" "]), &[]).1.is_empty());
}
