//! Feeds that are missing, broken, suspicious or old, and rulesets in their compiled form.

mod fixture;

mod agents;
mod ages;
mod compiled;
mod exempt;
mod shapes;
mod special;
mod versions;
