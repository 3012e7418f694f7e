//! Edits of header lists.

use std::ptr::{self, NonNull};

use ngx::ffi::{ngx_list_part_t, ngx_list_push, ngx_list_t, ngx_palloc, ngx_pool_t, ngx_table_elt_t};

use super::conf::bytes;

/// A run of neighbouring headers that stay.
#[derive(Clone, Copy)]
struct Run {
    first: *mut ngx_table_elt_t,
    length: usize,
}

/// The headers of a list, in their order.
pub(super) struct Headers<'l> {
    part: std::slice::Iter<'l, ngx_table_elt_t>,
    next: *const ngx_list_part_t,
}

/// The headers of a list, in their order.
pub(super) fn iterate(list: &ngx_list_t) -> Headers<'_> {
    Headers { part: [].iter(), next: &raw const list.part }
}

impl<'l> Iterator for Headers<'l> {
    type Item = &'l ngx_table_elt_t;

    // Every request has its headers looked through, some of them several times: a loop of few instructions.
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(header) = self.part.next() {
                return Some(header);
            }
            // SAFETY: the parts of a list are chained by valid pointers and end with null.
            let part = unsafe { self.next.as_ref() }?;
            self.next = part.next;
            if part.nelts > 0 {
                // SAFETY: a part holds `nelts` initialised headers at `elts`, which is not null where there are any.
                self.part = unsafe { std::slice::from_raw_parts(part.elts.cast(), part.nelts) }.iter();
            }
        }
    }
}

/// Whether a header has this name, which is in lower case.
pub(super) fn is_named(header: &ngx_table_elt_t, name: &str) -> bool {
    if header.key.len != name.len() {
        return false;
    }
    // nginx keeps the name in lower case, too; what a module added may lack it.
    if header.lowcase_key.is_null() {
        return bytes(&header.key).eq_ignore_ascii_case(name.as_bytes());
    }
    // SAFETY: where there is one, it is as long as the key.
    unsafe { std::slice::from_raw_parts(header.lowcase_key, name.len()) == name.as_bytes() }
}

/// Takes headers out of a list. Those that stay do not move, because nginx points at them (`headers_in.user_agent`).
///
/// nginx's loops over a list read the first header of every part but the first without looking, so no part may be
/// left empty: the list is put together anew from the runs of headers that stay.
pub(super) fn remove(list: &mut ngx_list_t, is_unwanted: impl Fn(&[u8]) -> bool) -> Result<(), ()> {
    if !iterate(list).any(|header| is_unwanted(bytes(&header.key))) {
        return Ok(());
    }
    let runs = runs_that_stay(list, is_unwanted);
    let mut runs = runs.into_iter();
    let Some(first) = runs.next() else {
        // Nothing stays: an empty first part is what a new list has, with the room that `nalloc` promises.
        list.part.elts = allocate(list.pool, list.nalloc * list.size)?.as_ptr();
        list.part.nelts = 0;
        list.part.next = ptr::null_mut();
        list.last = &raw mut list.part;
        return Ok(());
    };
    let mut last = part_of(first);
    // Built from the end of the chain's head on: each new part is linked when it exists.
    let mut chain: Vec<NonNull<ngx_list_part_t>> = Vec::new();
    for run in runs {
        let part = allocate(list.pool, size_of::<ngx_list_part_t>())?.cast::<ngx_list_part_t>();
        last = part_of(run);
        // SAFETY: the pool gave memory for one part, aligned for any type.
        unsafe { part.write(last) };
        chain.push(part);
    }
    for pair in chain.windows(2) {
        if let [part, next] = pair {
            // SAFETY: both were written above.
            unsafe { (*part.as_ptr()).next = next.as_ptr() };
        }
    }
    list.part = part_of(first);
    list.part.next = chain.first().map_or(ptr::null_mut(), |part| part.as_ptr());
    list.last = chain.last().map_or(&raw mut list.part, |part| part.as_ptr());
    // The last part is full, wherever it was cut: the next push begins a new one.
    list.nalloc = last.nelts;
    Ok(())
}

fn runs_that_stay(list: &ngx_list_t, is_unwanted: impl Fn(&[u8]) -> bool) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for header in iterate(list) {
        if is_unwanted(bytes(&header.key)) {
            continue;
        }
        let here = ptr::from_ref(header).cast_mut();
        match runs.last_mut() {
            Some(run) if run.first.wrapping_add(run.length) == here => run.length += 1,
            _ => runs.push(Run { first: here, length: 1 }),
        }
    }
    runs
}

fn part_of(run: Run) -> ngx_list_part_t {
    ngx_list_part_t { elts: run.first.cast(), nelts: run.length, next: ptr::null_mut() }
}

fn allocate(pool: *mut ngx_pool_t, size: usize) -> Result<NonNull<std::ffi::c_void>, ()> {
    // SAFETY: the pool of a list is that of its request.
    NonNull::new(unsafe { ngx_palloc(pool, size) }).ok_or(())
}

/// Adds a header to the end of a list, and gives its place. `name` and `lowercase` are static; `value` is copied into the pool.
pub(super) fn push(
    list: &mut ngx_list_t,
    name: &'static str,
    lowercase: &'static str,
    value: &[u8],
) -> Result<NonNull<ngx_table_elt_t>, ()> {
    // nginx makes the list when it has read a request line. A bad one can still get to a location, by `error_page 400`.
    if list.pool.is_null() {
        return Err(());
    }
    let copy = copy(list.pool, value)?;
    // SAFETY: the list is initialised; a push gives room for one element of its type.
    let header = NonNull::new(unsafe { ngx_list_push(list) }).ok_or(())?.cast::<ngx_table_elt_t>();
    // SAFETY: all-zero is a valid header, and sets the fields that newer versions of nginx add (`next`).
    let mut element: ngx_table_elt_t = unsafe { std::mem::zeroed() };
    element.hash = hash(lowercase);
    // nginx reads keys and never writes them.
    element.key = string(name.as_bytes());
    element.lowcase_key = lowercase.as_ptr().cast_mut();
    element.value = copy;
    // SAFETY: `header` is room for one header.
    unsafe { header.write(element) };
    Ok(header)
}

/// The headers of a response that are sent: nginx leaves out those whose hash is zero.
pub(super) fn sent(list: &ngx_list_t) -> impl Iterator<Item = &ngx_table_elt_t> {
    iterate(list).filter(|header| header.hash != 0)
}

/// Puts lines of a response's header in the place of all there are. `name` is as for [`push`].
pub(super) fn replace(
    list: &mut ngx_list_t,
    name: &'static str,
    lowercase: &'static str,
    values: &[Box<[u8]>],
) -> Result<(), ()> {
    let old = elements(list);
    for value in values {
        push(list, name, lowercase, value)?;
    }
    leave_out(old, &[name]);
    Ok(())
}

/// Takes headers out of a response, by their names.
pub(super) fn withdraw(list: &mut ngx_list_t, names: &[&str]) {
    leave_out(elements(list), names);
}

fn leave_out(elements: Vec<*mut ngx_table_elt_t>, names: &[&str]) {
    for header in elements {
        // SAFETY: an initialised element, which a push does not move, and to which no reference is alive.
        let header = unsafe { &mut *header };
        if names.iter().any(|name| bytes(&header.key).eq_ignore_ascii_case(name.as_bytes())) {
            header.hash = 0;
        }
    }
}

/// The elements of a list that are there now, to be written to.
fn elements(list: &ngx_list_t) -> Vec<*mut ngx_table_elt_t> {
    let mut elements = Vec::new();
    let mut part: *const ngx_list_part_t = &raw const list.part;
    // SAFETY: the parts of a list are chained by valid pointers and end with null.
    while let Some(here) = unsafe { part.as_ref() } {
        let first = here.elts.cast::<ngx_table_elt_t>();
        elements.extend((0..here.nelts).map(|index| first.wrapping_add(index)));
        part = here.next;
    }
    elements
}

/// Copies bytes into a pool.
pub(super) fn copy(pool: *mut ngx_pool_t, value: &[u8]) -> Result<ngx::ffi::ngx_str_t, ()> {
    if value.is_empty() {
        return Ok(string(b""));
    }
    let data = allocate(pool, value.len())?.cast::<u8>();
    // SAFETY: `data` is fresh memory of the value's length.
    unsafe { ptr::copy_nonoverlapping(value.as_ptr(), data.as_ptr(), value.len()) };
    Ok(ngx::ffi::ngx_str_t { len: value.len(), data: data.as_ptr() })
}

/// An nginx string over bytes that live as long as the request.
pub(super) fn string(value: &[u8]) -> ngx::ffi::ngx_str_t {
    ngx::ffi::ngx_str_t { len: value.len(), data: value.as_ptr().cast_mut() }
}

/// `ngx_hash_key` of a lower-case name: proxy_pass looks headers up by it.
fn hash(lowercase: &str) -> usize {
    lowercase.bytes().fold(0_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(byte)))
}
