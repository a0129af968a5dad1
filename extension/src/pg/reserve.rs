//! A reserve of memory for small allocations after the system has run out.
//!
//! Rust aborts the process when an allocation fails, and PostgreSQL answers an aborted process by ending all sessions.
//! Collections that grow with the input use fallible allocation and report an error. Names, messages and what `pgrx`
//! allocates for a value cannot do that, but they are small: they come from this reserve, as PostgreSQL itself keeps one for
//! its error messages. [`crate::pg::pause`] ends the statement as soon as the reserve is in use.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of the reserve: far more than is allocated between two calls of [`crate::pg::pause`]. Its pages take no memory until
/// they are used.
const SIZE: usize = 8 << 20;

/// The largest alignment that is served.
const ALIGNMENT: usize = 4096;

#[repr(align(4096))]
struct Place(UnsafeCell<[u8; SIZE]>);

/// The system's allocator with a reserve behind it.
pub struct WithReserve {
    reserve: Place,
    /// The number of bytes of the reserve that have been handed out.
    used: AtomicUsize,
    /// The number of allocations in the reserve. When the last one is freed, the whole reserve is free again.
    living: AtomicUsize,
}

// SAFETY: no two allocations share bytes of the reserve, as each adds to `used` at once, and nothing else looks at them.
unsafe impl Sync for WithReserve {}

#[global_allocator]
static MEMORY: WithReserve = WithReserve {
    reserve: Place(UnsafeCell::new([0; SIZE])),
    used: AtomicUsize::new(0),
    living: AtomicUsize::new(0),
};

/// Returns whether any of the reserve is in use.
pub fn is_in_use() -> bool {
    MEMORY.living.load(Ordering::Relaxed) > 0
}

impl WithReserve {
    fn take(&self, layout: Layout) -> *mut u8 {
        let align = layout.align().max(align_of::<usize>());
        if align > ALIGNMENT {
            return null_mut();
        }
        let place = |used: usize| used.next_multiple_of(align);
        let end = |used| place(used).checked_add(layout.size());
        // Before it lies there, so that nobody empties the reserve in between.
        self.living.fetch_add(1, Ordering::AcqRel);
        let taken = self
            .used
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| {
                end(used).filter(|end| *end <= SIZE)
            });
        match taken {
            Ok(used) => self.begin().wrapping_add(place(used)),
            Err(_) => {
                self.give_back();
                null_mut()
            }
        }
    }

    fn give_back(&self) {
        if self.living.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.used.store(0, Ordering::Release);
        }
    }

    const fn begin(&self) -> *mut u8 {
        self.reserve.0.get().cast()
    }

    fn holds(&self, place: *mut u8) -> bool {
        let begin = self.begin() as usize;
        (begin..begin + SIZE).contains(&(place as usize))
    }
}

// SAFETY: memory is the system's, or part of the reserve that nobody else has, aligned as asked; it is given back to where
// it came from. A backend has one thread: `used` is set back when nothing lies in the reserve, and nothing is taken
// meanwhile.
unsafe impl GlobalAlloc for WithReserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let place = unsafe { System.alloc(layout) };
        if place.is_null() {
            self.take(layout)
        } else {
            place
        }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if self.holds(place) {
            self.give_back();
        } else {
            // SAFETY: what is not in the reserve came from the system, with this layout.
            unsafe { System.dealloc(place, layout) }
        }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.holds(place) {
            // SAFETY: what is not in the reserve came from the system, with this layout.
            let grown = unsafe { System.realloc(place, layout, size) };
            if !grown.is_null() {
                return grown;
            }
        }
        // SAFETY: the caller promises a size that makes a layout, and what was allocated there stays until it is copied.
        unsafe {
            let grown = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
            if !grown.is_null() {
                grown.copy_from_nonoverlapping(place, layout.size().min(size));
                self.dealloc(place, layout);
            }
            grown
        }
    }
}
