// SPDX-License-Identifier: BSD-3-Clause
//! DOCA's work-queue generation for a Rust program: a failure is an `Err`, a `Drop` destroys its
//! object, and borrows keep the objects alive that an object uses.
//!
//! ```text
//!   Device <--- Map <------.
//!     ^                     Buffer      Queue::copy(&Buffer, &mut Buffer)
//!     |         Inventory <-'
//!     '-------- Engine <--- Queue
//! ```
//!
//! Maps are made in the order of 2.2: range, device, permissions, start.

/// Call a function, and have its name in the error.
macro_rules! doca {
    ($function:ident($($argument:expr),*)) => {
        Error::check(stringify!($function), sys::$function($($argument),*))
    };
}

mod device;
mod engine;
mod memory;

use std::any::type_name;
use std::ffi::CStr;
use std::fmt;

use doca_sys as sys;

pub use device::{Device, PciAddress};
pub use engine::{Engine, Queue};
pub use memory::{Buffer, Export, Inventory, Map};

pub type Result<T> = std::result::Result<T, Error>;

/// The error of a function of DOCA, or of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error {
    function: &'static str,
    code: sys::doca_error,
}

impl Error {
    fn check(function: &'static str, code: sys::doca_error) -> Result<()> {
        match code {
            sys::doca_error::DOCA_SUCCESS => Ok(()),
            code => Err(Self { function, code }),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        // SAFETY: the text is a constant of the library's, for unknown codes too.
        let text = unsafe { CStr::from_ptr(sys::doca_get_error_string(self.code)) };
        write!(f, "{}: {}", self.function, text.to_string_lossy())
    }
}

impl std::error::Error for Error {}

/// An object of DOCA, and its destructor.
struct Owned<T> {
    raw: *mut T,
    end: unsafe extern "C" fn(*mut T) -> sys::doca_error,
}

impl<T> Owned<T> {
    fn new(raw: *mut T, end: unsafe extern "C" fn(*mut T) -> sys::doca_error) -> Self {
        Self { raw, end }
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: this is its only owner.
        report(Error::check(type_name::<T>(), unsafe { (self.end)(self.raw) }));
    }
}

/// For errors in a `Drop`, which cannot return them.
fn report(result: Result<()>) {
    if let Err(error) = result {
        eprintln!("not ended: {error}");
    }
}
