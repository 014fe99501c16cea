// SPDX-License-Identifier: BSD-3-Clause
//! Memory maps, and buffers in them.

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;
use std::slice;

use doca_sys as sys;

use super::{report, Device, Error, Owned, Result};

/// What the other side of the card needs to reach a map.
pub struct Export {
    pub descriptor: Vec<u8>,
    pub address: u64, // in the process that has the memory
    pub len: usize,
}

/// Memory that a device reaches: this process's, or what another process has exported.
pub struct Map<'a> {
    mmap: Owned<sys::doca_mmap>,
    start: *mut u8, // where its owner has it: nothing here follows it
    len: usize,
    device: &'a Device,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> Map<'a> {
    /// Memory to copy from, on either side of the card. The card refuses to write to it.
    pub fn readable(device: &'a Device, memory: &'a [u8]) -> Result<Self> {
        let access = sys::DOCA_ACCESS_LOCAL_READ_ONLY | sys::DOCA_ACCESS_DPU_READ_ONLY;
        Self::local(device, memory.as_ptr() as *mut u8, memory.len(), access)
    }

    /// Memory to copy to.
    pub fn writable(device: &'a Device, memory: &'a mut [u8]) -> Result<Self> {
        Self::local(device, memory.as_mut_ptr(), memory.len(), sys::DOCA_ACCESS_LOCAL_READ_WRITE)
    }

    fn local(device: &'a Device, start: *mut u8, len: usize, access: u32) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: for 'a, which the map does not outlive, the memory is there and the device open.
        unsafe {
            doca!(doca_mmap_create(ptr::null(), &mut raw))?;
            let mmap = Owned::new(raw, sys::doca_mmap_destroy);
            doca!(doca_mmap_set_memrange(raw, start.cast(), len as _))?;
            doca!(doca_mmap_dev_add(raw, device.0.raw))?;
            doca!(doca_mmap_set_permissions(raw, access))?;
            doca!(doca_mmap_start(raw))?;
            Ok(Self { mmap, start, len, device, memory: PhantomData })
        }
    }

    /// Memory of the process that has made `export`. It may end at any time: then jobs fail.
    pub fn imported(device: &'a Device, export: &Export) -> Result<Self> {
        let bytes = &export.descriptor;
        let mut raw = ptr::null_mut();
        // SAFETY: the descriptor is read during the call, and checked; the device is open for 'a.
        unsafe {
            doca!(doca_mmap_create_from_export(
                ptr::null(),
                bytes.as_ptr().cast(),
                bytes.len() as _,
                device.0.raw,
                &mut raw
            ))
        }?;
        let mmap = Owned::new(raw, sys::doca_mmap_destroy);
        Ok(Self { mmap, start: export.address as *mut u8, len: export.len, device, memory: PhantomData })
    }

    /// Let the DPU reach it, for as long as the map lives.
    pub fn export(&self) -> Result<Export> {
        let (mut first, mut count) = (ptr::null(), 0);
        // SAFETY: the descriptor is the map's, and copied before anything can become of that.
        let descriptor = unsafe {
            doca!(doca_mmap_export_dpu(self.mmap.raw, self.device.0.raw, &mut first, &mut count))?;
            slice::from_raw_parts(first.cast::<u8>(), count as usize).to_vec()
        };
        Ok(Export { descriptor, address: self.start as u64, len: self.len })
    }

    pub fn len(&self) -> usize {
        self.len
    }
}

/// A stock of buffers.
pub struct Inventory(Owned<sys::doca_buf_inventory>);

impl Inventory {
    pub fn new(count: usize) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the result is ours.
        unsafe {
            doca!(doca_buf_inventory_create(ptr::null(), count as _, sys::DOCA_BUF_EXTENSION_NONE, &mut raw))?;
            let inventory = Self(Owned::new(raw, sys::doca_buf_inventory_destroy));
            doca!(doca_buf_inventory_start(raw))?;
            Ok(inventory)
        }
    }

    /// A part of the map to read from: all of it is data.
    pub fn data<'a>(&'a self, map: &'a Map, part: Range<usize>) -> Result<Buffer<'a>> {
        let len = part.len();
        self.take(map, part, len)
    }

    /// A part of the map to write to: none of it is data yet.
    pub fn room<'a>(&'a self, map: &'a Map, part: Range<usize>) -> Result<Buffer<'a>> {
        self.take(map, part, 0)
    }

    fn take<'a>(&'a self, map: &'a Map, part: Range<usize>, data_len: usize) -> Result<Buffer<'a>> {
        let start = map.start.wrapping_add(part.start).cast();
        let mut raw = ptr::null_mut();
        // SAFETY: inventory and map are started; the library refuses what is not in the map.
        unsafe {
            doca!(doca_buf_inventory_buf_by_args(
                self.0.raw,
                map.mmap.raw,
                start,
                part.len() as _,
                start,
                data_len as _,
                &mut raw
            ))
        }?;
        Ok(Buffer { raw, stands_on: PhantomData })
    }
}

/// A part of a map, for jobs. It goes back to its inventory.
pub struct Buffer<'a> {
    pub(super) raw: *mut sys::doca_buf,
    stands_on: PhantomData<&'a ()>,
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: the one reference is ours, and no job has it: Queue::copy() waits.
        report(unsafe { doca!(doca_buf_refcount_rm(self.raw, ptr::null_mut())) });
    }
}
