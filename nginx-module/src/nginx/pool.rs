//! Rust values in nginx's pools.

use std::any::TypeId;
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use ngx::ffi::{NGX_ALIGNMENT, ngx_pool_cleanup_add, ngx_pool_t};

use super::panics::catch;

/// A value with its type, by which it is found.
#[repr(C)]
struct Kept<T> {
    type_id: TypeId,
    value: T,
}

/// Makes a value in a pool. It is dropped when the pool is destroyed. `None` if there is no memory.
///
/// # Safety
///
/// `pool` is live.
#[inline]
pub(super) unsafe fn keep<T: 'static>(pool: *mut ngx_pool_t, make: impl FnOnce() -> T) -> Option<NonNull<T>> {
    const { assert!(align_of::<Kept<T>>() <= NGX_ALIGNMENT, "a pool does not align for this type") };
    // SAFETY: the pool is live. A cleanup has memory of the size that was asked for, aligned as above.
    unsafe {
        let cleanup = ngx_pool_cleanup_add(pool, size_of::<Kept<T>>()).as_mut()?;
        let kept = cleanup.data.cast::<Kept<T>>();
        (&raw mut (*kept).type_id).write(TypeId::of::<T>());
        // Made only now, so that the compiler can make it where it stays. A panic leaves a cleanup that does nothing.
        (&raw mut (*kept).value).write(make());
        cleanup.handler = Some(drop_kept::<T>);
        NonNull::new(&raw mut (*kept).value)
    }
}

/// The value of a type that [`keep`] made in a pool last.
///
/// # Safety
///
/// `pool` is live during `'p`.
pub(super) unsafe fn find<'p, T: 'static>(pool: *const ngx_pool_t) -> Option<&'p T> {
    // SAFETY: the cleanups of a live pool are a valid list. The compiler may give several `drop_kept` one address, but
    // no other handler has it: the data is a `Kept` of some type, which its first field tells.
    unsafe {
        let mut next = (*pool).cleanup;
        while let Some(cleanup) = next.as_ref() {
            let kept = cleanup.data.cast::<Kept<T>>();
            let is_ours = |handler| ptr::fn_addr_eq(handler, drop_kept::<T> as unsafe extern "C" fn(_));
            if cleanup.handler.is_some_and(is_ours) && (*kept).type_id == TypeId::of::<T>() {
                return Some(&(*kept).value);
            }
            next = cleanup.next;
        }
    }
    None
}

unsafe extern "C" fn drop_kept<T>(data: *mut c_void) {
    // A panic is not reported: nginx may have closed its log, and unmapped its zones.
    // SAFETY: nginx runs a cleanup once, and `keep` put the value there.
    let _ = catch(|| unsafe { ptr::drop_in_place(data.cast::<Kept<T>>()) });
}
