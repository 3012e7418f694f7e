//! Instructions that nginx takes for a request, counted by valgrind: the same in every run, however busy the machine.

use std::fs;
use std::path::Path;

use crawlward_tests::http::Connection;
use crawlward_tests::nginx::{Folder, Nginx, Setup, local};
use crawlward_tests::process::wait_for;
use rustix::process::Signal;

use crate::world::Client;

/// What a request takes, on average over the clients, in an nginx that listens on `port`.
///
/// # Panics
///
/// Where valgrind is not there.
pub(crate) fn instructions(setup: Setup, http: &str, port: u16, clients: &[Client]) -> f64 {
    let folder = Folder::new();
    let profile = folder.path().join("callgrind");
    let setup = Setup {
        main: format!("master_process off;\n{}", setup.main),
        // SIGUSR1 makes nginx open its logs again, and callgrind end one profile and begin the next.
        under: ["valgrind", "--quiet", "--tool=callgrind", "--dump-before=ngx_reopen_files"]
            .map(str::to_owned)
            .into_iter()
            .chain([format!("--callgrind-out-file={}", profile.display())])
            .collect(),
        ..setup
    };
    let nginx = Nginx::set_up(folder, http, setup);
    // What happens once happens before.
    let mut connection = Connection::open(local(port)).expect("nginx listens");
    send_all(&mut connection, clients);
    end_profile(&nginx, port, &profile, 1);
    send_all(&mut connection, clients);
    let all = end_profile(&nginx, port, &profile, 2);
    all / clients.len() as f64
}

fn send_all(connection: &mut Connection, clients: &[Client]) {
    for client in clients {
        connection.send_text(&client.request()).expect("an answer");
    }
}

/// Ends the profile of this number, and gives its instructions.
fn end_profile(nginx: &Nginx, port: u16, profile: &Path, number: usize) -> f64 {
    /// About a second of asking.
    const LONG: usize = 200;
    nginx.server().signal(Signal::USR1);
    let mut name = profile.as_os_str().to_owned();
    name.push(format!(".{number}"));
    let mut asked = 0;
    wait_for("callgrind's profile", || {
        asked += 1;
        // A signal that came just before nginx began to wait for events is seen with the next event.
        if asked % LONG == 0 {
            drop(Connection::open(local(port)));
        }
        let text = fs::read_to_string(&name).ok()?;
        text.lines().rev().find_map(|line| line.strip_prefix("totals: "))?.trim().parse().ok()
    })
}
