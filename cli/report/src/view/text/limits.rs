//! The effect that limits would have had, for terminals.

use std::io::{self, Write};

use super::Page;
use crate::model::{LimitRow, Limits, NetworkRow};
use crate::numbers::{count, share, shown_time};
use crate::view::table::{Align, Table};
use crate::view::words::addresses;

impl<W: Write> Page<'_, W> {
    pub(super) fn limits(&mut self, limits: &Limits) -> io::Result<()> {
        let mut table = Table::new([
            ("limit", Align::Left),
            ("requests", Align::Right),
            ("refused", Align::Right),
            ("share", Align::Right),
            ("addresses refused", Align::Right),
            ("worst minute", Align::Left),
        ]);
        limits.limits.iter().for_each(|limit| table.push(limit_cells(limit)));
        self.table("Limits", table, 0)?;
        for limit in &limits.limits {
            self.kinds(limit)?;
            let systems = &limit.systems;
            self.top(&format!("Refused by autonomous system: {}", limit.limit), "AS", systems, "")?;
        }
        self.networks(limits)
    }

    fn kinds(&mut self, limit: &LimitRow) -> io::Result<()> {
        let mut table = Table::new([
            ("clients", Align::Left),
            ("requests", Align::Right),
            ("refused", Align::Right),
            ("share", Align::Right),
            ("addresses", Align::Right),
            ("addresses refused", Align::Right),
        ]);
        for row in &limit.kinds {
            table.push([
                row.name().into(),
                count(row.requests),
                count(row.refused),
                share(row.refused, row.requests),
                addresses(row.addresses),
                addresses(row.refused_addresses),
            ]);
        }
        self.table(&format!("Refused by {}", limit.limit), table, 0)
    }

    fn networks(&mut self, limits: &Limits) -> io::Result<()> {
        let mut table = Table::new([
            ("network", Align::Left),
            ("system", Align::Left),
            ("requests", Align::Right),
            ("addresses", Align::Right),
            ("most in a minute", Align::Right),
            ("refused", Align::Right),
            ("most frequent folder", Align::Left),
            ("most frequent User-Agent", Align::Left),
        ]);
        limits.networks.networks.iter().for_each(|row| table.push(network_cells(row)));
        self.table("Busiest networks that the limits count", table, limits.networks.missing)
    }
}

fn limit_cells(limit: &LimitRow) -> [String; 6] {
    let worst = limit.worst_minute.as_ref().filter(|worst| worst.refused > 0);
    let worst = worst.map(|worst| {
        format!("{}: {} of {}", shown_time(&worst.start), count(worst.refused), count(worst.requests))
    });
    [
        limit.limit.clone(),
        count(limit.requests),
        count(limit.refused),
        share(limit.refused, limit.requests),
        addresses(limit.refused_addresses),
        worst.unwrap_or_default(),
    ]
}

fn network_cells(row: &NetworkRow) -> [String; 8] {
    let first =
        |top: &crate::model::Top| top.items.first().map(|item| item.value.clone()).unwrap_or_default();
    [
        row.network.clone(),
        row.system(),
        count(row.requests),
        addresses(row.addresses),
        row.worst_minute.as_ref().map(|worst| count(worst.requests)).unwrap_or_default(),
        row.refused(),
        first(&row.paths),
        first(&row.user_agents),
    ]
}
