use crate::fixture::Folder;

#[test]
fn each_command_has_a_manual_page() {
    let folder = Folder::new();
    let help = folder.run(&["--help"]).stdout;
    folder.run(&["man", "."]).ends(0);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.contains(&"explain"), "{help}");
    for command in commands.iter().filter(|command| **command != "help") {
        let page = folder.read(&format!("crawlpike-{command}.1"));
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(folder.path("crawlpike.1").exists());
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    Folder::new().run(&["man", "missing"]).ends(2).says("crawlpike: error: missing: ");
}
