//! Objects of the module that Envoy keeps, and passes to the hooks of a stream or a configuration.
//!
//! Envoy may enter a hook of an object while another hook of the same object runs, and may even drop the object then: see the
//! table in [`super`]. So no hook has a `&mut` of the object, whose state is in cells, and the object lives until the outermost
//! hook returns. Debug builds also check that Envoy enters a hook only during the calls that the table lists.

use std::cell::Cell;
use std::ptr::NonNull;

use super::abi::ModulePtr;

/// An object that Envoy keeps.
pub(super) struct Kept<T> {
    value: T,
    /// The number of hooks that run, one inside another. The hooks of an object are called in one thread.
    running: Cell<u32>,
    /// True if Envoy has dropped the object while a hook was running.
    is_dropped: Cell<bool>,
}

impl<T> Kept<T> {
    pub(super) const fn new(value: T) -> Self {
        Self { value, running: Cell::new(0), is_dropped: Cell::new(false) }
    }

    /// The object of a pointer; `None` if the pointer is null.
    ///
    /// # Safety
    ///
    /// The pointer is null, or of a `Kept<T>` that lives as long as the result. Only the value is read: another thread may be in
    /// a hook.
    pub(super) unsafe fn value_of<'k>(kept: *const Self) -> Option<&'k T> {
        // SAFETY: the caller's promise.
        (!kept.is_null()).then(|| unsafe { &(*kept).value })
    }

    /// Takes an object back from Envoy; `None` if hooks are running, the last of which drops it, or if the pointer is null.
    ///
    /// # Safety
    ///
    /// The pointer is null, or comes from `Box::<Kept<T>>::into_raw`. Envoy calls in the thread of the object's hooks, or in
    /// another one after they have ended, and does not use the pointer afterwards.
    pub(super) unsafe fn take_back(kept: ModulePtr) -> Option<Box<Self>> {
        let kept = NonNull::new(kept.cast::<Self>())?;
        // SAFETY: the caller's promise. The reference ends before the box is made.
        let is_running = unsafe {
            let kept = kept.as_ref();
            let is_running = kept.running.get() != 0;
            kept.is_dropped.set(is_running);
            check_entered(kept.running.get());
            is_running
        };
        // SAFETY: the caller's promise. No hook is running, so nothing else uses the object.
        (!is_running).then(|| unsafe { Box::from_raw(kept.as_ptr()) })
    }
}

/// A hook of an object, as long as it runs.
pub(super) struct Running<T> {
    kept: NonNull<Kept<T>>,
    call: EnterableCall,
}

impl<T> Running<T> {
    /// Begins a hook; `None` if the pointer is null.
    ///
    /// # Safety
    ///
    /// The pointer is null, or comes from `Box::<Kept<T>>::into_raw` and was not taken back. Envoy calls in the thread of the
    /// object's hooks.
    pub(super) unsafe fn start(kept: ModulePtr) -> Option<Self> {
        let kept = NonNull::new(kept.cast::<Kept<T>>())?;
        // SAFETY: the caller's promise.
        let running = unsafe { &kept.as_ref().running };
        check_entered(running.get());
        let call = EnterableCall::suspend();
        running.set(running.get() + 1);
        Some(Self { kept, call })
    }

    pub(super) fn value(&self) -> &T {
        // SAFETY: the object lives at least until the hook ends, with `self`.
        unsafe { &self.kept.as_ref().value }
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.call.resume();
        // SAFETY: the object lives until its outermost hook ends. The reference ends before the box is made.
        let is_over = unsafe {
            let kept = self.kept.as_ref();
            kept.running.set(kept.running.get() - 1);
            kept.running.get() == 0 && kept.is_dropped.get()
        };
        if is_over {
            // SAFETY: Envoy has dropped the object and passes it to no other hook, and this was the last one that ran.
            drop(unsafe { Box::from_raw(self.kept.as_ptr()) });
        }
    }
}

#[cfg(debug_assertions)]
thread_local! {
    /// True during a call in which Envoy may enter hooks.
    static IS_ENTERABLE: Cell<bool> = const { Cell::new(false) };
}

/// Makes a call in which Envoy may enter hooks of the objects whose hooks are running.
pub(super) fn enterable<T>(call: impl FnOnce() -> T) -> T {
    #[cfg(debug_assertions)]
    IS_ENTERABLE.set(true);
    let result = call();
    #[cfg(debug_assertions)]
    IS_ENTERABLE.set(false);
    result
}

/// Checks that Envoy may enter a hook of an object of which so many are running, or drop the object.
fn check_entered(running: u32) {
    #[cfg(debug_assertions)]
    assert!(
        running == 0 || IS_ENTERABLE.get(),
        "Envoy entered a hook of an object with {running} running hooks, during a call that should enter none"
    );
    #[cfg(not(debug_assertions))]
    let _ = running;
}

/// The call of the outer hook, during an inner one. Release builds keep nothing.
struct EnterableCall {
    #[cfg(debug_assertions)]
    was_enterable: bool,
}

impl EnterableCall {
    fn suspend() -> Self {
        #[cfg(debug_assertions)]
        {
            Self { was_enterable: IS_ENTERABLE.replace(false) }
        }
        #[cfg(not(debug_assertions))]
        Self {}
    }

    fn resume(&self) {
        #[cfg(debug_assertions)]
        IS_ENTERABLE.set(self.was_enterable);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::{Rc, Weak};

    use super::*;

    /// An object that Envoy keeps, and a witness of its life.
    fn kept() -> (ModulePtr, Weak<u8>) {
        let value = Rc::new(7);
        let witness = Rc::downgrade(&value);
        (Box::into_raw(Box::new(Kept::new(value))).cast(), witness)
    }

    fn start(object: ModulePtr) -> Running<Rc<u8>> {
        // SAFETY: the object is of `kept`, and was not taken back.
        unsafe { Running::start(object) }.expect("not null")
    }

    fn drop_it(object: ModulePtr) {
        // SAFETY: the object is of `kept`, and no hook begins afterwards.
        drop(unsafe { Kept::<Rc<u8>>::take_back(object) });
    }

    #[test]
    fn an_object_that_is_dropped_in_a_hook_lives_until_the_outermost_hook_ends() {
        let (object, witness) = kept();
        let outer = start(object);
        enterable(|| {
            let inner = start(object);
            enterable(|| drop_it(object));
            assert_eq!(**inner.value(), 7);
        });
        assert_eq!((**outer.value(), witness.strong_count()), (7, 1));
        drop(outer);
        assert_eq!(witness.strong_count(), 0);
    }

    #[test]
    fn a_hook_inside_of_a_hook_is_reported_outside_of_the_calls_that_may_enter_one() {
        let (object, witness) = kept();
        let outer = start(object);
        let fails = |call: &dyn Fn()| catch_unwind(AssertUnwindSafe(call)).is_err();
        assert!(fails(&|| drop(start(object))));
        enterable(|| {
            let inner = start(object);
            // The call of the outer hook does not count for the inner one, but does again afterwards.
            assert!(fails(&|| drop(start(object))));
            drop(inner);
            drop(start(object));
        });
        assert!(fails(&|| drop_it(object)));
        drop(outer);
        assert_eq!(witness.strong_count(), 0);
    }
}
