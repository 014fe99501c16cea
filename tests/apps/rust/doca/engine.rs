// SPDX-License-Identifier: BSD-3-Clause
//! DMA contexts and their work queues.

use std::ptr;
use std::thread;

use doca_sys as sys;

use super::{report, Buffer, Device, Error, Owned, Result};

/// A started DMA context.
pub struct Engine<'a> {
    dma: Owned<sys::doca_dma>,
    device: &'a Device,
}

impl<'a> Engine<'a> {
    pub fn start(device: &'a Device) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the device is open for 'a, which the context does not outlive.
        unsafe {
            doca!(doca_dma_create(&mut raw))?;
            let dma = Owned::new(raw, sys::doca_dma_destroy);
            doca!(doca_ctx_dev_add(sys::doca_dma_as_ctx(raw), device.0.raw))?;
            doca!(doca_ctx_start(sys::doca_dma_as_ctx(raw)))?;
            Ok(Self { dma, device })
        }
    }

    fn ctx(&self) -> *mut sys::doca_ctx {
        // SAFETY: the same object by another name.
        unsafe { sys::doca_dma_as_ctx(self.dma.raw) }
    }
}

impl Drop for Engine<'_> {
    fn drop(&mut self) {
        // SAFETY: it is started, and its queues, which borrow it, are gone.
        unsafe {
            report(doca!(doca_ctx_stop(self.ctx())));
            report(doca!(doca_ctx_dev_rm(self.ctx(), self.device.0.raw)));
        }
    }
}

/// A work queue of an engine.
pub struct Queue<'a> {
    workq: Owned<sys::doca_workq>,
    engine: &'a Engine<'a>,
    copies: u64,
}

impl<'a> Queue<'a> {
    pub fn new(engine: &'a Engine, depth: u32) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the engine is started for 'a, which the queue does not outlive.
        unsafe {
            doca!(doca_workq_create(depth, &mut raw))?;
            let workq = Owned::new(raw, sys::doca_workq_destroy);
            doca!(doca_ctx_workq_add(engine.ctx(), raw))?;
            Ok(Self { workq, engine, copies: 0 })
        }
    }

    /// Copy the data of one buffer behind that of another, and wait for the end.
    pub fn copy(&mut self, from: &Buffer, to: &mut Buffer) -> Result<()> {
        self.copies += 1;
        let job = sys::doca_dma_job_memcpy {
            base: sys::doca_job {
                type_: sys::DOCA_DMA_JOB_MEMCPY as _,
                flags: sys::DOCA_JOB_FLAGS_NONE as _,
                ctx: self.engine.ctx(),
                user_data: sys::doca_data { u64_: self.copies },
            },
            dst_buff: to.raw,
            src_buff: from.raw,
        };
        // SAFETY: the job is copied; its buffers are borrowed until it has ended.
        unsafe { doca!(doca_workq_submit(self.workq.raw, ptr::addr_of!(job).cast())) }?;
        let event = self.retrieve()?;
        // SAFETY: the job's number was given as one, and the result is one in this library.
        let (copies, result) = unsafe { (event.user_data.u64_, event.result.u64_) };
        assert_eq!((event.type_, copies), (job.base.type_, self.copies), "an event of another job");
        Error::check("DOCA_DMA_JOB_MEMCPY", sys::doca_error(result as _))
    }

    fn retrieve(&mut self) -> Result<sys::doca_event> {
        let mut event = sys::doca_event::default();
        loop {
            let flags = sys::DOCA_WORKQ_RETRIEVE_FLAGS_NONE as _;
            // SAFETY: the event is ours.
            match unsafe { doca!(doca_workq_progress_retrieve(self.workq.raw, &mut event, flags)) } {
                Err(Error { code: sys::doca_error::DOCA_ERROR_AGAIN, .. }) => thread::yield_now(),
                Ok(()) | Err(Error { code: sys::doca_error::DOCA_ERROR_IO_FAILED, .. }) => return Ok(event),
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Queue<'_> {
    fn drop(&mut self) {
        // SAFETY: it was added, and has no jobs: copy() waits.
        report(unsafe { doca!(doca_ctx_workq_rm(self.engine.ctx(), self.workq.raw)) });
    }
}
