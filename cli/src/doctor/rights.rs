//! Each file can be read by the user of the server. Root can read everything, so it is not root who is asked.

use crawlpike_files::obstacle;

use super::finding::Finding;
use super::situation::Situation;
use crate::nginx_conf::NginxConf;

/// The files of the situation that its user cannot read.
pub(crate) fn check(situation: &Situation) -> Vec<Finding> {
    let user = match &situation.user {
        Some(Ok(user)) => user,
        Some(Err(why)) => {
            let remedy = "--as-user with the user of your server";
            return vec![
                Finding::fault(format!("the rights on files cannot be checked: {why}")).remedy(remedy),
            ];
        }
        None => {
            let what = "the rights on files are not checked: no configuration of nginx uses this document";
            return vec![Finding::note(what).remedy("--as-user with the user of your server, such as envoy")];
        }
    };
    // A document without `crawlpike_refresh` is read by nginx's master, mostly root, and never by its workers.
    let is_needed = situation.is_user_given || situation.nginx.as_ref().is_some_and(NginxConf::refreshes);
    let mut findings: Vec<Finding> = Vec::new();
    for (path, _) in situation.files.present() {
        let place = path.display().to_string();
        let finding = match obstacle(&path, user) {
            Ok(None) => continue,
            Err(error) => Finding::note(format!("the rights on the file cannot be checked: {error}"))
                .remedy(format!("sudo -u {} test -r {place} && echo yes", user.name)),
            Ok(Some(obstacle)) if obstacle.has_acl() => {
                let what = format!(
                    "the mode does not let `{}` through, but there is an access control list: it {obstacle}",
                    user.name
                );
                Finding::note(what).remedy(format!("sudo -u {} test -r {place} && echo yes", user.name))
            }
            Ok(Some(obstacle)) if is_needed => {
                Finding::fault(format!("the user `{}` {obstacle}", user.name)).remedy(obstacle.remedy())
            }
            Ok(Some(obstacle)) => {
                let what = format!(
                    "the user `{}` {obstacle}; nginx's master reads it, but `crawlpike_refresh` cannot",
                    user.name
                );
                Finding::warning(what).remedy(obstacle.remedy())
            }
        };
        // A folder in the way is in the way of many files.
        match findings.iter().any(|one| one.remedy == finding.remedy) {
            true => {}
            false => findings.push(finding.at(place)),
        }
    }
    findings
}
