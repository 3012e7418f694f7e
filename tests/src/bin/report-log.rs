//! `make report-log`: draws an access log, and checks that `crawlpike report` counts in it what was drawn.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use crawlpike_tests::access_log::{of_report, write_configuration, write_log};
use crawlpike_tests::artefacts;

fn main() -> io::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let mut number =
        |name: &str| arguments.next().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{name}"));
    let (lines, seed) = (number("the number of lines"), number("the seed"));
    let folder = PathBuf::from(arguments.next().expect("the folder to write to"));
    std::fs::create_dir_all(&folder)?;
    let config = write_configuration(&folder)?;
    let log = folder.join("access.log");
    let expected = write_log(lines, seed, &mut BufWriter::new(File::create(&log)?))?;
    println!(
        "{}: {lines} lines, {} bytes, {} requests",
        log.display(),
        log.metadata()?.len(),
        expected.requests()
    );

    let begin = Instant::now();
    let done = Command::new(artefacts::cli())
        .args(["report", "--json", "--config"])
        .arg(config)
        .arg(&log)
        .output()?;
    println!("crawlpike report: {:.1} s", begin.elapsed().as_secs_f64());
    let report = serde_json::from_slice(&done.stdout)?;
    let found = of_report(&report);
    if found == expected {
        println!(
            "each of {} numbers is the one that was drawn",
            found.outcomes.len() * 2 + found.hours.len()
        );
        return Ok(ExitCode::SUCCESS);
    }
    let [found, expected] =
        [&found, &expected].map(|one| serde_json::to_string_pretty(one).expect("numbers are JSON"));
    std::fs::write(folder.join("found.json"), found)?;
    std::fs::write(folder.join("expected.json"), expected)?;
    println!("numbers differ: see found.json and expected.json in {}", folder.display());
    Ok(ExitCode::FAILURE)
}
