//! The state of each plugin that is in force in a virtual machine.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};

/// The states that plugins made of their last configurations, by the names of the plugins. A plugin for which Envoy does not
/// provide its new configuration goes on with the state of the last one: without any, Envoy would answer all
/// requests of the worker with an error.
#[derive(Debug)]
pub struct InForce<T>(RefCell<BTreeMap<String, Option<Weak<T>>>>);

impl<T> Default for InForce<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T> InForce<T> {
    /// Notes what a plugin made of its configuration, if it needs any state.
    pub fn put(&self, plugin: &str, state: Option<&Rc<T>>) {
        self.0.borrow_mut().insert(plugin.to_owned(), state.map(Rc::downgrade));
    }

    /// The state of the plugin's last configuration, if it needs any; `None` without such a configuration.
    pub fn get(&self, plugin: &str) -> Option<Option<Rc<T>>> {
        match self.0.borrow().get(plugin)? {
            Some(state) => state.upgrade().map(Some),
            None => Some(None),
        }
    }

    /// The name of the virtual machine's plugin, in case Envoy refuses it; `None` without a plugin, and if there are several.
    pub fn only_plugin(&self) -> Option<String> {
        let states = self.0.borrow();
        states.keys().next().filter(|_| states.len() == 1).cloned()
    }
}
