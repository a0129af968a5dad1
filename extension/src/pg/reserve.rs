//! A reserve of memory for small allocations after the system has run out.
//!
//! Rust aborts the process when an allocation fails, and PostgreSQL then ends all sessions. Collections that grow with the
//! input use fallible allocation and report an error. Names, messages and values of `pgrx` cannot, but they are small: they
//! come from this reserve, like error messages of PostgreSQL. [`crate::pg::pause`] ends the statement as soon as the reserve is
//! in use.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of the reserve: far more than is allocated between two calls of [`crate::pg::pause`]. Unused pages take no memory.
const SIZE: usize = 8 << 20;

/// The largest alignment that is served.
const ALIGNMENT: usize = 4096;

#[repr(align(4096))]
struct ReservedBytes(UnsafeCell<[u8; SIZE]>);

/// The system's allocator with a reserve behind it.
pub struct WithReserve {
    reserve: ReservedBytes,
    /// The number of allocated bytes of the reserve.
    used: AtomicUsize,
    /// The number of live allocations. After the last one the whole reserve is free again.
    living: AtomicUsize,
}

// SAFETY: allocations of the reserve never overlap, because each adds to `used` atomically, and only they use its bytes.
unsafe impl Sync for WithReserve {}

#[global_allocator]
static MEMORY: WithReserve = WithReserve {
    reserve: ReservedBytes(UnsafeCell::new([0; SIZE])),
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
        // First, so that the reserve is not reset in between.
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

// SAFETY: memory comes from the system or is an unshared part of the reserve, aligned as requested, and returns to its origin.
// A backend has one thread: `used` is reset when the reserve is empty, and not during an allocation.
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
            // SAFETY: memory outside the reserve came from the system, with this layout.
            unsafe { System.dealloc(place, layout) }
        }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !self.holds(place) {
            // SAFETY: memory outside the reserve came from the system, with this layout.
            let grown = unsafe { System.realloc(place, layout, size) };
            if !grown.is_null() {
                return grown;
            }
        }
        // SAFETY: the caller guarantees a valid layout, and the old content stays until it is copied.
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
