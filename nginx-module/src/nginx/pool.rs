//! Rust values in nginx's pools.

use std::any::TypeId;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU8;

use ngx::ffi::{NGX_ALIGNMENT, ngx_pool_cleanup_add, ngx_pool_t};

use super::panics::catch;

/// Its address marks what [`keep`] made. It can be written to, so that nothing else has its address.
static MARK: AtomicU8 = AtomicU8::new(0);

/// The beginning of what [`keep`] makes.
#[repr(C)]
struct Head {
    mark: *const AtomicU8,
    type_id: TypeId,
    drop: unsafe fn(*mut c_void),
}

impl Head {
    fn is_marked(&self) -> bool {
        ptr::eq(self.mark, &raw const MARK)
    }
}

/// A value with its type, by which it is found.
#[repr(C)]
struct Kept<T> {
    head: Head,
    value: T,
}

/// Makes a value in a pool. It is dropped when the pool is destroyed. `None` if there is no memory.
///
/// # Safety
///
/// `pool` is live, and nginx uses it in its main thread only.
#[inline]
pub(super) unsafe fn keep<T: 'static>(pool: *mut ngx_pool_t, make: impl FnOnce() -> T) -> Option<NonNull<T>> {
    const { assert!(align_of::<Kept<T>>() <= NGX_ALIGNMENT, "a pool does not align for this type") };
    // SAFETY: the pool is live. A cleanup has memory of the size that was asked for, aligned as above.
    unsafe {
        let cleanup = ngx_pool_cleanup_add(pool, size_of::<Kept<T>>());
        if cleanup.is_null() {
            return None;
        }
        let kept = (*cleanup).data.cast::<Kept<T>>();
        (&raw mut (*kept).head).write(Head {
            mark: &raw const MARK,
            type_id: TypeId::of::<T>(),
            drop: drop_value::<T>,
        });
        // Made only now, so that the compiler can make it where it stays. A panic leaves a cleanup that does nothing. The
        // function may use the pool, too.
        (&raw mut (*kept).value).write(make());
        (*cleanup).handler = Some(drop_kept);
        NonNull::new(&raw mut (*kept).value)
    }
}

/// The value of a type that [`keep`] made in a pool last.
///
/// # Safety
///
/// `pool` is live during `'p`.
pub(super) unsafe fn find<'p, T: 'static>(pool: *const ngx_pool_t) -> Option<&'p T> {
    // SAFETY: the cleanups of a live pool are a valid list. A function at the address of `drop_kept` is the same code, which
    // reads a `Head`: so its data has one. The mark says that `keep` made it, and the type that the value is a `T`.
    unsafe {
        let mut next = (*pool).cleanup;
        while let Some(cleanup) = next.as_ref() {
            let is_alike = |handler| ptr::fn_addr_eq(handler, drop_kept as unsafe extern "C" fn(_));
            if cleanup.handler.is_some_and(is_alike) {
                let head = &*cleanup.data.cast::<Head>();
                if head.is_marked() && head.type_id == TypeId::of::<T>() {
                    return Some(&(*cleanup.data.cast::<Kept<T>>()).value);
                }
            }
            next = cleanup.next;
        }
    }
    None
}

/// Drops what [`keep`] made.
unsafe extern "C" fn drop_kept(data: *mut c_void) {
    // SAFETY: `keep` put a `Head` there.
    let head = unsafe { &*data.cast::<Head>() };
    if head.is_marked() {
        // A panic is not reported: nginx may have closed its log, and unmapped its zones.
        // SAFETY: nginx runs a cleanup once, and `keep` put a value of this type there.
        let _ = catch(|| unsafe { (head.drop)(data) });
    }
}

/// # Safety
///
/// `data` is a `Kept<T>`, whose value is not used any more.
unsafe fn drop_value<T>(data: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe { ptr::drop_in_place(&raw mut (*data.cast::<Kept<T>>()).value) };
}
