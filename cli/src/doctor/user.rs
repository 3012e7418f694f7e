//! Users by their names.

use std::process::Command;

use crawlpike_files::User;

/// The user with a name or a number, and all groups of the user, as the system knows them. If a group is given, it is the primary
/// one.
///
/// # Errors
///
/// If there is no such user or group.
pub(crate) fn user(name: &str, group: Option<&str>) -> Result<User, String> {
    let unknown = || format!("no user is named `{name}` on this machine");
    // `id` would take it as an option.
    if name.is_empty() || name.starts_with('-') {
        return Err(unknown());
    }
    // Users can come from other places than /etc/passwd, which only the C library knows.
    let id = |option: &str| output_of("id", &[option, name])?.ok_or_else(unknown);
    let uid = id("-u")?.trim().parse().map_err(|_| unknown())?;
    // The primary group comes first.
    let mut gids: Vec<u32> = id("-G")?.split_whitespace().filter_map(|gid| gid.parse().ok()).collect();
    if let (Some(group), Some(primary)) = (group, gids.first_mut()) {
        let entry = output_of("getent", &["group", group])?;
        let gid = entry.as_deref().and_then(|entry| entry.split(':').nth(2)?.parse().ok());
        *primary = gid.ok_or_else(|| format!("no group is named `{group}` on this machine"))?;
    }
    Ok(User { name: name.into(), uid, gids })
}

/// The output of a program; `None` if it failed.
fn output_of(program: &str, arguments: &[&str]) -> Result<Option<String>, String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("cannot run `{program}`: {error}"))?;
    Ok(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
}
