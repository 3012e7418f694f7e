//! Users by their names.

use std::process::Command;

use crawlpike_files::User;

/// The user with a name or a number, and all groups of the user, as the system knows them.
///
/// # Errors
///
/// If there is no such user.
pub(crate) fn user(name: &str) -> Result<User, String> {
    let unknown = || format!("no user is named `{name}` on this machine");
    // `id` would take it as an option.
    if name.is_empty() || name.starts_with('-') {
        return Err(unknown());
    }
    // Users can come from other places than /etc/passwd, which only the C library knows.
    let id = |option: &str| {
        let output = Command::new("id").args([option, name]).output();
        let output = output.map_err(|error| format!("cannot run `id`: {error}"))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        } else {
            Err(unknown())
        }
    };
    let uid = id("-u")?.parse().map_err(|_| unknown())?;
    let gids = id("-G")?.split_whitespace().filter_map(|gid| gid.parse().ok()).collect();
    Ok(User { name: name.into(), uid, gids })
}
