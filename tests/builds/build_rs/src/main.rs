// SPDX-License-Identifier: BSD-3-Clause
use std::ffi::{c_char, c_int, c_void, CStr};

extern "C" {
    fn doca_version_runtime() -> *const c_char;
    fn doca_dma_destroy(dma: *mut c_void) -> c_int;
}

fn main() {
    let version = unsafe { CStr::from_ptr(doca_version_runtime()) };
    println!("{}", version.to_str().unwrap());
    assert_ne!(0, unsafe { doca_dma_destroy(std::ptr::null_mut()) });
}
