//! The units of systemd that run `crawlpike update` each hour: those of the examples, for a folder and a user of their own. And a
//! line for cron, which does the same.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::{env, fs, io};

use crawlpike_core::Argument;

const SERVICE: &str = include_str!("../../../examples/update/crawlpike-update.service");

/// The timer, which names nothing of the service.
pub(super) const TIMER: &str = include_str!("../../../examples/update/crawlpike-update.timer");

/// The service, which runs as the owner of the folder, and writes to nothing else.
///
/// # Errors
///
/// If the folder cannot be looked at, or if a path cannot be written in a unit.
pub(super) fn service(folder: &Path, config: &Path) -> io::Result<String> {
    let program = quoted(&env::current_exe()?)?;
    let (folder_text, config) = (quoted(folder)?, quoted(config)?);
    let mut unit = String::new();
    for line in SERVICE.lines() {
        match line.split_once('=') {
            Some(("ExecStart", _)) => unit += &format!("ExecStart={program} update --config {config}"),
            Some(("User", _)) => match fs::metadata(folder)?.uid() {
                0 => continue,
                uid => unit += &format!("User={uid}"),
            },
            Some(("StateDirectory", _)) => unit += &format!("ReadWritePaths={folder_text}"),
            Some(("StateDirectoryMode", _)) => continue,
            // The folder may be in a home, or the program.
            Some(("ProtectHome", _)) => unit += "ProtectHome=read-only",
            _ if line.starts_with('#') && line.contains("DynamicUser") => continue,
            _ => unit += line,
        }
        unit.push('\n');
    }
    Ok(unit)
}

/// The line of a crontab. cron looks for programs in few folders, starts in another one, and takes `%` for the end of a line.
pub(crate) fn cron_line(config: &Path, state: Option<&Path>) -> String {
    let program = env::current_exe().unwrap_or_else(|_| "crawlpike".into());
    let config = std::path::absolute(config).unwrap_or_else(|_| config.to_path_buf());
    let [program, config] = [program, config].map(|path| path.display().to_string());
    let mut command = format!("{} update --config {}", Argument(&program), Argument(&config));
    if let Some(state) = state {
        command += &format!(" --state {}", Argument(&state.display().to_string()));
    }
    format!("17 * * * *  {}", command.replace('%', "\\%"))
}

/// A path as a unit has it: in quotes, without what systemd would replace.
fn quoted(path: &Path) -> io::Result<String> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let text = text.ok_or_else(|| io::Error::other("the path cannot be written in a unit of systemd"))?;
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '%' | '$' => quoted.extend([character, character]),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    Ok(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_crontab_has_whole_paths_as_cron_and_the_shell_take_them() {
        let program = env::current_exe().unwrap().display().to_string();
        let line = cron_line(Path::new("/100% my sites/c.json"), Some(Path::new("/s")));
        assert_eq!(
            line,
            format!("17 * * * *  {program} update --config '/100\\% my sites/c.json' --state /s")
        );
        let here = env::current_dir().unwrap().display().to_string();
        assert_eq!(
            cron_line(Path::new("c.json"), None),
            format!("17 * * * *  {program} update --config {here}/c.json")
        );
    }
}
