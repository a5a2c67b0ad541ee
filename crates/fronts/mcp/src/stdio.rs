//! The server over standard input and output.

use crate::runtime::runtime;
use crate::server::McpServer;
use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use std::io;

/// Longest line of the protocol: the ceiling of a call's texts, escaped.
const MAX_LINE: usize = 160 << 20;

/// Serves standard input and output until the client closes them.
///
/// # Errors
/// A runtime that cannot be started, or a client that does not speak the protocol.
pub fn serve_stdio(server: McpServer) -> io::Result<()> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let (input, output) = stdio_pipes();
        let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(MAX_LINE);
        let running = server.serve(transport).await.map_err(io::Error::other)?;
        running.waiting().await.map_err(io::Error::other)?;
        Ok(())
    });
    // A call that is cancelled now ends by itself.
    runtime.shutdown_timeout(std::time::Duration::from_secs(5));
    served
}
