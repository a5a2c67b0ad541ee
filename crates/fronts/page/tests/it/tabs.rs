//! Many tabs at a time.

use crate::client::TestServer;
use crate::jobs::{answered, demo_request};

#[test]
fn a_hundred_tabs_that_do_not_read_do_not_hold_up_a_job_and_have_its_result_later() {
    let server = TestServer::start();
    let job = server.job("solve", &demo_request());
    let address = format!("/api/jobs/{job}/events");
    let tabs: Vec<_> = (0..100).map(|_| server.events(&address, 0)).collect();
    let result = answered(&server, &job);
    for mut tab in tabs {
        assert_eq!(tab.next_of("result")["result"], result);
    }
}
