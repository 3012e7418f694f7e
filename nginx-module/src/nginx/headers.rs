//! The lists of headers in a request.

use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::slice;

use ngx::allocator::allocate;
use ngx::core::Pool;
use ngx::ffi::{ngx_list_part_t, ngx_list_push, ngx_list_t, ngx_str_t, ngx_table_elt_t};

/// A list has no room for a header: memory is exhausted, or nginx has not made the list because it refused the request line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoRoom;

/// The name of a header that is added to a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeaderName {
    name: &'static str,
    lowercase: &'static str,
    hash: usize,
}

impl HeaderName {
    /// A name, and the same in lower case.
    pub(crate) const fn new(name: &'static str, lowercase: &'static str) -> Self {
        assert!(name.len() == lowercase.len(), "the lower case is that of another name");
        // As `ngx_hash_key`. proxy_pass looks headers up by it.
        let mut hash = 0_usize;
        let (mut upper, mut lower) = (name.as_bytes(), lowercase.as_bytes());
        while let ([first, upper_rest @ ..], [byte, lower_rest @ ..]) = (upper, lower) {
            assert!(first.to_ascii_lowercase() == *byte, "the lower case is that of another name");
            hash = hash.wrapping_mul(31).wrapping_add(*byte as usize);
            (upper, lower) = (upper_rest, lower_rest);
        }
        Self { name, lowercase, hash }
    }

    pub(super) const fn name(self) -> &'static str {
        self.name
    }

    /// Returns true if this is the name, in lower case.
    pub(crate) fn is(self, lowercase: &str) -> bool {
        self.lowercase == lowercase
    }

    pub(super) const fn lowercase(self) -> &'static str {
        self.lowercase
    }
}

/// A header.
#[derive(Clone, Copy)]
pub(crate) struct Header<'l>(&'l ngx_table_elt_t);

impl<'l> Header<'l> {
    pub(crate) fn name(self) -> &'l [u8] {
        self.0.key.as_bytes()
    }

    #[inline]
    pub(super) fn value(self) -> &'l [u8] {
        self.0.value.as_bytes()
    }

    /// Returns true if it has this name, which is in lower case.
    #[inline]
    pub(crate) fn is_named(self, name: &str) -> bool {
        let Self(header) = self;
        if header.key.len != name.len() {
            return false;
        }
        // nginx keeps the name in lower case, too. What a module added may lack it.
        if header.lowcase_key.is_null() {
            return self.name().eq_ignore_ascii_case(name.as_bytes());
        }
        // SAFETY: if there is one, it is as long as the name.
        unsafe { slice::from_raw_parts(header.lowcase_key, name.len()) == name.as_bytes() }
    }

    /// Returns true if it is sent. nginx skips headers of a response whose hash is zero.
    pub(super) fn is_sent(self) -> bool {
        self.0.hash != 0
    }
}

/// The headers of a list, in their order.
pub(super) struct Headers<'l> {
    part: slice::Iter<'l, ngx_table_elt_t>,
    next: *const ngx_list_part_t,
}

impl Headers<'_> {
    /// # Safety
    ///
    /// `list` is a list of headers in a live request, and does not change as long as this iterator or a header of it is in
    /// use.
    pub(super) unsafe fn of(list: *const ngx_list_t) -> Self {
        // SAFETY: the caller's promise.
        Self { part: [].iter(), next: unsafe { &raw const (*list).part } }
    }
}

impl<'l> Iterator for Headers<'l> {
    type Item = Header<'l>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(header) = self.part.next() {
                return Some(Header(header));
            }
            // SAFETY: the parts of a list are chained by valid pointers and end with null.
            let part = unsafe { self.next.as_ref() }?;
            self.next = part.next;
            if part.nelts > 0 {
                // SAFETY: a part has `nelts` initialised headers at `elts`, which is not null if there are any.
                self.part = unsafe { slice::from_raw_parts(part.elts.cast(), part.nelts) }.iter();
            }
        }
    }

    // Filters look for the next header with this function, which would otherwise call `next` for each.
    #[inline]
    fn find<P: FnMut(&Self::Item) -> bool>(&mut self, mut is_wanted: P) -> Option<Self::Item> {
        loop {
            if let Some(header) = self.part.find(|header| is_wanted(&Header(header))) {
                return Some(Header(header));
            }
            let next = self.next()?;
            if is_wanted(&next) {
                return Some(next);
            }
        }
    }
}

/// A list of headers that is to be changed.
pub(super) struct HeaderList<'l> {
    raw: NonNull<ngx_list_t>,
    list: PhantomData<&'l mut ngx_list_t>,
}

/// A run of neighbouring headers that stay.
#[derive(Clone, Copy)]
struct Run {
    first: NonNull<ngx_table_elt_t>,
    length: usize,
}

impl HeaderList<'_> {
    /// # Safety
    ///
    /// `list` is a list of headers in a live request, whose pool it allocates from if it has one. Nobody else uses the list or
    /// a header of it as long as this value is in use.
    pub(super) unsafe fn of(list: NonNull<ngx_list_t>) -> Self {
        Self { raw: list, list: PhantomData }
    }

    fn iter(&self) -> Headers<'_> {
        // SAFETY: see `of`. What changes the list borrows it exclusively.
        unsafe { Headers::of(self.raw.as_ptr()) }
    }

    /// Calls a function with each header, in their order. The pointers may be written through until the list changes.
    fn each(&mut self, mut call: impl FnMut(NonNull<ngx_table_elt_t>)) {
        // SAFETY: see `of`. The parts of a list are chained by valid pointers and end with null, and each has `nelts` headers.
        unsafe {
            let mut part = &raw const (*self.raw.as_ptr()).part;
            while !part.is_null() {
                let first = (*part).elts.cast::<ngx_table_elt_t>();
                for index in 0..(*part).nelts {
                    call(NonNull::new_unchecked(first.add(index)));
                }
                part = (*part).next;
            }
        }
    }

    fn pool(&self) -> Result<Pool, NoRoom> {
        // SAFETY: see `of`.
        unsafe {
            let pool = (*self.raw.as_ptr()).pool;
            if pool.is_null() { Err(NoRoom) } else { Ok(Pool::from_ngx_pool(pool)) }
        }
    }

    /// Removes headers by their names. Those that stay do not move, because nginx points at some (`headers_in.user_agent`).
    ///
    /// nginx's loops over a list read the first header of every part but the first without looking, so no part may be
    /// left empty: the list is put together anew from the runs of headers that stay.
    pub(super) fn remove(&mut self, is_unwanted: impl Fn(&[u8]) -> bool) -> Result<(), NoRoom> {
        if !self.iter().any(|header| is_unwanted(header.name())) {
            return Ok(());
        }
        let pool = self.pool()?;
        let runs = self.runs_that_stay(is_unwanted);
        let list = self.raw.as_ptr();
        let Some((first, others)) = runs.split_first() else {
            // An empty first part is what a new list has, with the room that `nalloc` promises.
            // SAFETY: see `of`.
            unsafe {
                let elements = pool.alloc((*list).nalloc * (*list).size);
                if elements.is_null() {
                    return Err(NoRoom);
                }
                (*list).part = ngx_list_part_t { elts: elements, nelts: 0, next: ptr::null_mut() };
                (*list).last = &raw mut (*list).part;
            }
            return Ok(());
        };
        let (mut next, mut last) = (ptr::null_mut(), None);
        for run in others.iter().rev() {
            let part = allocate(part_of(*run, next), &pool).map_err(|_| NoRoom)?;
            last = last.or(Some((part, run.length)));
            next = part.as_ptr();
        }
        // SAFETY: see `of`. All parts were written above.
        unsafe {
            (*list).part = part_of(*first, next);
            let whole = (&raw mut (*list).part, first.length);
            let (last, length) = last.map_or(whole, |(part, length)| (part.as_ptr(), length));
            (*list).last = last;
            // The last part is full, wherever it was cut: the next push starts a new one.
            (*list).nalloc = length;
        }
        Ok(())
    }

    fn runs_that_stay(&mut self, is_unwanted: impl Fn(&[u8]) -> bool) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        self.each(|header| {
            // SAFETY: `each` passes a header of the list.
            if is_unwanted(Header(unsafe { header.as_ref() }).name()) {
                return;
            }
            match runs.last_mut() {
                Some(run) if run.first.as_ptr().wrapping_add(run.length) == header.as_ptr() => {
                    run.length += 1;
                }
                _ => runs.push(Run { first: header, length: 1 }),
            }
        });
        runs
    }

    /// Adds a header to a request.
    pub(super) fn add(&mut self, name: HeaderName, value: &[u8]) -> Result<(), NoRoom> {
        let HeaderName { name, lowercase, hash } = name;
        self.push(name, lowercase.as_ptr(), hash, value).map(drop)
    }

    /// Adds a header to a response, and returns its place. As in nginx's own modules, any hash but zero will do.
    pub(super) fn append(
        &mut self,
        name: &'static str,
        value: &[u8],
    ) -> Result<NonNull<ngx_table_elt_t>, NoRoom> {
        self.push(name, ptr::null(), 1, value)
    }

    fn push(
        &mut self,
        name: &'static str,
        lowercase: *const u8,
        hash: usize,
        value: &[u8],
    ) -> Result<NonNull<ngx_table_elt_t>, NoRoom> {
        let pool = self.pool()?;
        // SAFETY: see `of`. A push returns room for one header. All zero is a valid header, whatever fields the version of nginx
        // has. nginx does not write to names.
        unsafe {
            let value = ngx_str_t::from_bytes(pool.as_ptr(), value).ok_or(NoRoom)?;
            let header: NonNull<ngx_table_elt_t> =
                NonNull::new(ngx_list_push(self.raw.as_ptr()).cast()).ok_or(NoRoom)?;
            let mut element: ngx_table_elt_t = std::mem::zeroed();
            element.hash = hash;
            element.key = ngx_str_t { len: name.len(), data: name.as_ptr().cast_mut() };
            element.lowcase_key = lowercase.cast_mut();
            element.value = value;
            header.write(element);
            Ok(header)
        }
    }

    /// Replaces all lines of a response's header. If that fails, the old lines stay, perhaps beside new ones.
    pub(super) fn replace(
        &mut self,
        name: &'static str,
        values: impl Iterator<Item: AsRef<[u8]>>,
    ) -> Result<(), NoRoom> {
        let old = self.iter().count();
        for value in values {
            self.append(name, value.as_ref())?;
        }
        self.leave_out(old, |known| known.eq_ignore_ascii_case(name.as_bytes()));
        Ok(())
    }

    /// The last line of a header that is sent.
    pub(super) fn last(&mut self, name: &str) -> Option<NonNull<ngx_table_elt_t>> {
        let mut last = None;
        self.each(|line| {
            // SAFETY: `each` passes a header of the list.
            let header = Header(unsafe { line.as_ref() });
            if header.is_sent() && header.name().eq_ignore_ascii_case(name.as_bytes()) {
                last = Some(line);
            }
        });
        last
    }

    /// Takes headers out of a response, by their names.
    pub(super) fn withdraw(&mut self, is_unwanted: impl Fn(&[u8]) -> bool) {
        self.leave_out(usize::MAX, is_unwanted);
    }

    /// Takes headers out of a response, by their names, among the first `count`.
    fn leave_out(&mut self, count: usize, is_unwanted: impl Fn(&[u8]) -> bool) {
        let mut left = count;
        self.each(|mut header| {
            // SAFETY: `each` passes a header of the list, of which nobody has a reference.
            let header = unsafe { header.as_mut() };
            if left > 0 && is_unwanted(header.key.as_bytes()) {
                header.hash = 0;
            }
            left = left.saturating_sub(1);
        });
    }
}

fn part_of(run: Run, next: *mut ngx_list_part_t) -> ngx_list_part_t {
    ngx_list_part_t { elts: run.first.as_ptr().cast(), nelts: run.length, next }
}
