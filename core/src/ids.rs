//! The numbers of a ruleset's parts: each kind is a type of its own, and is a place in one list.
//!
//! A number comes from the [`List`] whose place it is, so that it can neither be mistaken for another kind's nor be
//! made up. Numbers mean nothing beyond their ruleset.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::{Deserialize, Serialize};
use zerocopy::{FromBytes, Immutable, KnownLayout};

use crate::sort::sort_by_key;

/// The number of a part of a ruleset.
pub(crate) trait Id: Copy + PartialEq {
    /// The place in its list; `None` where the list may not be that long.
    fn from_index(index: usize) -> Option<Self>;

    /// The place in its list.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$meta:meta])* $visible:vis $name:ident($number:ty);)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(FromBytes, Immutable, KnownLayout, Serialize, Deserialize)]
        #[serde(transparent)]
        #[repr(transparent)]
        $visible struct $name($number);

        impl Id for $name {
            fn from_index(index: usize) -> Option<Self> {
                <$number>::try_from(index).ok().map(Self)
            }

            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// An agent of a ruleset.
    pub(crate) AgentId(u16);
    /// A product token of a ruleset's agents, by which policy files name them. Agents can share one.
    pub(crate) ProductId(u16);
    /// A feed of a ruleset.
    pub FeedId(u16);
    /// A site of a ruleset: see [`crate::Ruleset::site`].
    pub SiteId(u16);
    /// The statement of a ruleset's feeds about a prefix, as a number: equal values have one.
    pub ValueId(u32);
}

/// Numbers that a prefix table holds.
macro_rules! stored_as_number {
    ($($name:ident($number:ty))*) => {$(
        impl $name {
            /// For tables that are made without a ruleset.
            pub const fn new(number: $number) -> Self {
                Self(number)
            }

            /// The number itself.
            #[inline]
            pub const fn number(self) -> $number {
                self.0
            }
        }
    )*};
}

stored_as_number! { FeedId(u16) ValueId(u32) }

/// A list whose places have numbers of a type of their own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent, bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
pub(crate) struct List<I, T> {
    items: Vec<T>,
    ids: PhantomData<I>,
}

/// The list has an item for each number of its type already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    pub(crate) most: usize,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {}", self.most)
    }
}

impl<I: Id, T> List<I, T> {
    pub(crate) const fn new() -> Self {
        Self { items: Vec::new(), ids: PhantomData }
    }

    /// Appends an item.
    pub(crate) fn push(&mut self, item: T) -> Result<I, Full> {
        let id = I::from_index(self.items.len()).ok_or(Full { most: self.items.len() })?;
        self.items.push(item);
        Ok(id)
    }

    #[inline]
    pub(crate) fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// The number of the item at this place.
    pub(crate) fn id_at(&self, index: usize) -> Option<I> {
        I::from_index(index).filter(|_| index < self.items.len())
    }

    /// The number of the first item that is wanted.
    pub(crate) fn find(&self, is_wanted: impl FnMut(&T) -> bool) -> Option<I> {
        self.items.iter().position(is_wanted).and_then(I::from_index)
    }

    /// The items with their numbers.
    pub(crate) fn enumerate(&self) -> impl Iterator<Item = (I, &T)> {
        self.items.iter().enumerate().filter_map(|(index, item)| Some((I::from_index(index)?, item)))
    }

    pub(crate) fn iter_mut(&mut self) -> core::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    pub(crate) fn iter(&self) -> core::slice::Iter<'_, T> {
        self.items.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<I: Id, T> Default for List<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Something for each product that a policy file names, and something for every other client.
///
/// It has the size of the file, whatever the number of agents: a thousand sites and a thousand agents do not make a million.
#[derive(Clone, Debug)]
pub(crate) struct ByProduct<T> {
    /// Sorted.
    named: Box<[(ProductId, T)]>,
    others: T,
}

impl<T: Copy> ByProduct<T> {
    pub(crate) fn new(named: impl IntoIterator<Item = (ProductId, T)>, others: T) -> Self {
        let mut named: Vec<(ProductId, T)> = named.into_iter().collect();
        sort_by_key(&mut named, |(product, _)| *product);
        Self { named: named.into(), others }
    }

    /// The value for this product; `None` is any other client.
    pub(crate) fn get(&self, product: Option<ProductId>) -> T {
        let find = |wanted| self.named.binary_search_by_key(&wanted, |(product, _)| *product).ok();
        product.and_then(find).and_then(|place| self.named.get(place)).map_or(self.others, |(_, what)| *what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_never_longer_than_its_numbers() {
        let mut list: List<SiteId, ()> = List::new();
        for number in 0..=u16::MAX {
            assert_eq!(list.push(()), Ok(SiteId(number)));
        }
        assert_eq!(list.push(()), Err(Full { most: 65_536 }));
        assert_eq!(list.id_at(65_535), Some(SiteId(u16::MAX)));
        assert_eq!((list.id_at(65_536), list.len()), (None, 65_536));
    }

    #[test]
    fn each_product_has_its_own_and_the_others_have_theirs() {
        let by_product = ByProduct::new([(ProductId(7), 'b'), (ProductId(2), 'a')], '*');
        let found = [Some(ProductId(2)), Some(ProductId(7)), None, Some(ProductId(3))];
        assert_eq!(found.map(|product| by_product.get(product)), ['a', 'b', '*', '*']);
    }
}
