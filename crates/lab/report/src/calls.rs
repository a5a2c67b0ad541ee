//! Every question to a model: its page, its line in the task's list, and what the questions cost together.

use crate::chunks::{Stores, document};
use crate::documents::{Account, CallList, CallPage, ReplyView};
use crate::outline::{CallOutline, TaskOutline, stage_label};
use crate::prices::Prices;
use planforge_contract::{CompletionResult, Failure, FinishReason, Message};
use planforge_record::RunFolder;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The calls of a task, written, and what is needed to find those of a candidate.
#[derive(Default)]
pub(crate) struct Calls {
    pub(crate) list: CallList,
    pub(crate) accounts: Accounts,
    /// `stage/indices` -> the calls made there.
    at: HashMap<String, Vec<CallReceiver>>,
}

/// The part of a call that identifies its receiver.
struct CallReceiver {
    place: u32,
    /// The samples that it was to bring.
    first: u32,
    samples: u32,
    /// The texts of its replies.
    replies: HashSet<u32>,
}

impl Calls {
    /// Writes the pages of a task's calls.
    pub(crate) fn write(
        run: &RunFolder,
        task: &TaskOutline,
        prices: &Prices,
        stores: &mut Stores,
    ) -> Result<Self, Failure> {
        let mut calls = Self::default();
        for call in &task.calls {
            calls.one(run, task, call, prices, stores)?;
        }
        Ok(calls)
    }

    fn one(
        &mut self,
        run: &RunFolder,
        task: &TaskOutline,
        call: &CallOutline,
        prices: &Prices,
        stores: &mut Stores,
    ) -> Result<(), Failure> {
        let page = page(run, task, call, stores)?;
        let samples = page.settings.get("n").and_then(Value::as_u64).unwrap_or(1);
        let failure = match (&page.failure, &page.broken, &page.pending) {
            (Some(failure), ..) => class_name(&failure.class),
            (_, Some(failure), _) => failure.code.clone(),
            (.., Some(_)) => "pending".to_owned(),
            _ if !page.unreadable.is_empty() => "unreadable".to_owned(),
            _ => String::new(),
        };
        let place = u32::try_from(self.list.path.len()).unwrap_or(u32::MAX);
        let own = own_path(task, call);
        if let Some((site, first)) = site(own) {
            let replies = page.replies.iter().map(|reply| reply.text).collect();
            let samples = u32::try_from(samples).unwrap_or(u32::MAX);
            self.at.entry(site.to_owned()).or_default().push(CallReceiver { place, first, samples, replies });
        }
        self.accounts.count(call, own, &page.model, page.replies.len(), prices);
        self.list.path.push(own.to_owned());
        self.list.role.push(page.role.clone());
        self.list.llm.push(page.llm.clone());
        self.list.model.push(page.model.clone());
        self.list.prompt.push(call.record.usage.prompt_tokens);
        self.list.completion.push(call.record.usage.completion_tokens);
        self.list.ms.push(call.record.elapsed_ms);
        self.list.attempts.push(call.record.attempts);
        self.list.replies.push(u32::try_from(page.replies.len()).unwrap_or(u32::MAX));
        self.list.failure.push(failure);
        stores.unreadable += page.unreadable.len();
        self.list.page.push(stores.page(&page)?);
        Ok(())
    }

    /// The calls that wrote the sample of a path `stage/1.2.0`: those made for its parent at its stage whose replies it holds; else those
    /// that were to bring it; else all of them.
    pub(crate) fn that_wrote(&self, own: &str, texts: &HashSet<u32>) -> Vec<u32> {
        let Some((stage, indices)) = own.split_once('/') else { return Vec::new() };
        let (parent, sample) = indices.rsplit_once('.').unwrap_or(("-", indices));
        let Some(asked) = self.at.get(&format!("{stage}/{parent}")) else { return Vec::new() };
        let sample: u32 = sample.parse().unwrap_or(0);
        let holds = |call: &&CallReceiver| call.replies.iter().any(|text| texts.contains(text));
        let covers =
            |call: &&CallReceiver| (call.first..call.first.saturating_add(call.samples)).contains(&sample);
        let places = |of: &dyn Fn(&&CallReceiver) -> bool| -> Vec<u32> {
            asked.iter().filter(of).map(|call| call.place).collect()
        };
        [places(&|call| holds(call) && covers(call)), places(&holds), places(&covers)]
            .into_iter()
            .find(|found| !found.is_empty())
            .unwrap_or_else(|| places(&|_| true))
    }

    /// The calls that were made about the candidate of these indices at stages for which `is_about` holds.
    pub(crate) fn about(&self, indices: &str, sites: &[String]) -> Vec<u32> {
        let mut found: Vec<u32> = sites
            .iter()
            .filter_map(|stage| self.at.get(&format!("{stage}/{indices}")))
            .flatten()
            .map(|call| call.place)
            .collect();
        found.sort_unstable();
        found
    }

    /// The labels of stages, with their rounds, where calls were made.
    pub(crate) fn stages(&self) -> HashSet<&str> {
        self.at.keys().filter_map(|site| site.split('/').next()).collect()
    }
}

/// Use of models by `[llm]` table and by stage.
#[derive(Default)]
pub(crate) struct Accounts {
    pub(crate) by_model: BTreeMap<String, Account>,
    pub(crate) by_stage: BTreeMap<String, Account>,
}

impl Accounts {
    /// Reads of a task's calls what is counted. Unreadable documents are added to `unreadable`.
    pub(crate) fn of_task(
        run: &RunFolder,
        task: &TaskOutline,
        prices: &Prices,
        unreadable: &mut usize,
    ) -> Self {
        #[derive(Deserialize)]
        struct Request {
            #[serde(default)]
            model: Value,
        }
        let mut accounts = Self::default();
        for call in &task.calls {
            let request = call.broken.is_none().then(|| document::<Request>(run, &call.record.request));
            let result = call.record.result.as_ref().map(|result| document::<CompletionResult>(run, result));
            *unreadable += usize::from(matches!(request, Some(Err(_))));
            *unreadable += usize::from(matches!(result, Some(Err(_))));
            let request = request.and_then(Result::ok);
            let model = request.as_ref().and_then(|request| request.model.as_str()).unwrap_or_default();
            let replies = match result {
                Some(Ok(CompletionResult::Replies(replies))) => replies.replies.len(),
                _ => 0,
            };
            accounts.count(call, own_path(task, call), model, replies, prices);
        }
        accounts
    }

    fn count(&mut self, call: &CallOutline, own: &str, model: &str, replies: usize, prices: &Prices) {
        let record = &call.record;
        let llm = if record.llm.is_empty() { &record.role } else { &record.llm };
        let model = match (llm.is_empty(), model.is_empty()) {
            (false, false) => format!("{llm}: {model}"),
            (true, false) => model.to_owned(),
            (false, true) => llm.clone(),
            (true, true) => "not recorded".to_owned(),
        };
        let stage = stage_label(own.split('/').next().unwrap_or_default()).to_owned();
        let price = prices.of(&record.llm, &record.role);
        for account in [self.by_model.entry(model).or_default(), self.by_stage.entry(stage).or_default()] {
            let answered = replies > 0;
            let is_first = account.calls + account.failed == 0;
            account.calls += u64::from(answered);
            account.failed += u64::from(!answered);
            account.replies += replies as u64;
            account.attempts += u64::from(record.attempts);
            account.ms += record.elapsed_ms;
            account.prompt += record.usage.prompt_tokens.unwrap_or(0);
            account.completion += record.usage.completion_tokens.unwrap_or(0);
            account.unmetered += u64::from(answered && !record.usage.is_metered());
            let cost = price.and_then(|price| price.cost(&record.usage, answered));
            account.cost = match (is_first, account.cost, cost) {
                (true, _, cost) => cost,
                (false, Some(sum), Some(cost)) => Some(sum + cost),
                _ => None,
            };
        }
    }
}

/// The path of a call without its task.
fn own_path<'c>(task: &TaskOutline, call: &'c CallOutline) -> &'c str {
    let path = &call.record.path;
    path.strip_prefix(&task.name).and_then(|path| path.strip_prefix('/')).unwrap_or(path)
}

/// The sum of accounts. A cost that is unknown in one of them is unknown in the sum.
pub(crate) fn total<'a>(accounts: impl Iterator<Item = &'a Account>) -> Account {
    let mut sum: Option<Account> = None;
    for account in accounts {
        match &mut sum {
            None => sum = Some(account.clone()),
            Some(sum) => add(sum, account),
        }
    }
    sum.unwrap_or_default()
}

/// Adds an account to another that counts something already.
pub(crate) fn add(sum: &mut Account, account: &Account) {
    if account.calls + account.failed == 0 {
        return;
    }
    if sum.calls + sum.failed == 0 {
        *sum = account.clone();
        return;
    }
    sum.calls += account.calls;
    sum.failed += account.failed;
    sum.replies += account.replies;
    sum.attempts += account.attempts;
    sum.prompt += account.prompt;
    sum.completion += account.completion;
    sum.unmetered += account.unmetered;
    sum.ms += account.ms;
    sum.cost = sum.cost.zip(account.cost).map(|(a, b)| a + b);
}

fn class_name(class: &impl serde::Serialize) -> String {
    match serde_json::to_value(class) {
        Ok(Value::String(name)) => name,
        _ => "failed".to_owned(),
    }
}

/// `stage/indices` of a call's path without the task, and the first sample that it was to bring.
fn site(own: &str) -> Option<(&str, u32)> {
    let (stage, rest) = own.split_once('/')?;
    let (indices, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let first = rest.rsplit('/').next().and_then(|first| first.parse().ok()).unwrap_or(0);
    Some((&own[..stage.len() + 1 + indices.len()], first))
}

fn page(
    run: &RunFolder,
    task: &TaskOutline,
    call: &CallOutline,
    stores: &mut Stores,
) -> Result<CallPage, Failure> {
    let record = &call.record;
    let mut page = CallPage {
        path: record.path.clone(),
        key: record.key.clone(),
        role: record.role.clone(),
        llm: record.llm.clone(),
        usage: record.usage,
        attempts: record.attempts,
        ms: record.elapsed_ms,
        failure: record.failure.clone(),
        retries: task.retries.get(&record.path).cloned().unwrap_or_default(),
        ..CallPage::default()
    };
    if call.broken.is_none() {
        match document::<Map<String, Value>>(run, &record.request) {
            Ok(request) => fill_request(&mut page, request, stores)?,
            Err(why) => page.unreadable.push(why),
        }
    }
    if let Some(result) = &record.result {
        match document::<CompletionResult>(run, result) {
            Ok(result) => fill_reply(&mut page, result, stores)?,
            Err(why) => page.unreadable.push(why),
        }
    }
    if let Some(broken) = &call.broken {
        match document(run, broken) {
            Ok(failure) => page.broken = Some(failure),
            Err(why) => page.unreadable.push(why),
        }
    }
    Ok(page)
}

/// The canonical request: the conversation, the model, and everything else in it.
fn fill_request(
    page: &mut CallPage,
    mut request: Map<String, Value>,
    stores: &mut Stores,
) -> Result<(), Failure> {
    let messages = request.remove("messages").unwrap_or_default();
    match serde_json::from_value::<Vec<Message>>(messages) {
        Ok(messages) => page.messages = stores.turns(&messages)?,
        Err(error) => page.unreadable.push(format!("the messages of the request: {error}")),
    }
    if let Some(Value::String(model)) = request.remove("model") {
        page.model = model;
    }
    for part in ["sampling", "extra"] {
        if let Some(Value::Object(fields)) = request.remove(part) {
            page.settings.extend(fields);
        }
    }
    page.settings.extend(request);
    Ok(())
}

fn fill_reply(page: &mut CallPage, result: CompletionResult, stores: &mut Stores) -> Result<(), Failure> {
    match result {
        CompletionResult::Replies(replies) => {
            page.answered_by = replies.model;
            for reply in &replies.replies {
                page.replies.push(ReplyView {
                    text: stores.text(&reply.content)?,
                    thought: reply.thought.as_deref().map(|thought| stores.text(thought)).transpose()?,
                    finish: match reply.finish {
                        FinishReason::Stop => "stop",
                        FinishReason::Length => "length",
                        FinishReason::ContentFilter => "content filter",
                        FinishReason::Other => "unknown",
                    },
                    log_likelihood: reply.log_likelihood(),
                    tokens: reply.tokens(),
                });
            }
        }
        CompletionResult::Pending { ticket, .. } => page.pending = Some(ticket),
        CompletionResult::ProviderFailure(failure) => page.failure = Some(failure),
    }
    Ok(())
}
