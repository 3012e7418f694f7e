//! The policies of a site: robots.txt, automation-preferences.txt and Robots-Tag.

pub(crate) mod answer;
pub(crate) mod automation_preferences;
pub(crate) mod lines;
pub(crate) mod robots;
pub(crate) mod robots_tag;
