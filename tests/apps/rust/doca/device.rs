// SPDX-License-Identifier: BSD-3-Clause
//! Devices and their addresses.

use std::fmt;
use std::ptr;
use std::slice;
use std::str::FromStr;

use doca_sys as sys;

use super::{report, Error, Owned, Result};

/// Bus, device and function.
#[derive(Clone, Copy)]
pub struct PciAddress(sys::doca_pci_bdf);

impl PciAddress {
    fn new(bus: u16, device: u16, function: u16) -> Self {
        let mut bdf = sys::doca_pci_bdf::default();
        // SAFETY: all members of the union are plain numbers.
        let parts = unsafe { &mut bdf.__bindgen_anon_1.__bindgen_anon_1 };
        parts.set_bus(bus);
        parts.set_device(device);
        parts.set_function(function);
        Self(bdf)
    }

    fn of(info: *const sys::doca_devinfo) -> Result<Self> {
        let mut bdf = sys::doca_pci_bdf::default();
        // SAFETY: as long as the caller's list lives, the library knows what is an info and what is not.
        unsafe { doca!(doca_devinfo_get_pci_addr(info, &mut bdf)) }?;
        Ok(Self(bdf))
    }

    fn raw(&self) -> u16 {
        // SAFETY: as in new().
        unsafe { self.0.__bindgen_anon_1.raw }
    }
}

impl PartialEq for PciAddress {
    fn eq(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }
}

impl fmt::Display for PciAddress {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        // SAFETY: as in new().
        let parts = unsafe { self.0.__bindgen_anon_1.__bindgen_anon_1 };
        write!(f, "{:02x}:{:02x}.{:x}", parts.bus(), parts.device(), parts.function())
    }
}

impl FromStr for PciAddress {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let part = |digits, limit| u16::from_str_radix(digits, 16).ok().filter(|&part| part < limit);
        let parse = || {
            let (bus, rest) = text.split_once(':')?;
            let (device, function) = rest.split_once('.')?;
            Some(Self::new(part(bus, 256)?, part(device, 32)?, part(function, 8)?))
        };
        parse().ok_or_else(|| format!("{text} is no PCI address such as b1:00.0"))
    }
}

struct DeviceList {
    first: *mut *mut sys::doca_devinfo,
    count: u32,
}

impl DeviceList {
    fn new() -> Result<Self> {
        let mut list = Self { first: ptr::null_mut(), count: 0 };
        // SAFETY: both are ours to be written to.
        unsafe { doca!(doca_devinfo_list_create(&mut list.first, &mut list.count)) }?;
        Ok(list)
    }

    fn infos(&self) -> &[*mut sys::doca_devinfo] {
        // SAFETY: the library has said how many there are.
        unsafe { slice::from_raw_parts(self.first, self.count as usize) }
    }
}

impl Drop for DeviceList {
    fn drop(&mut self) {
        if !self.first.is_null() {
            // SAFETY: it was created, and no info leaves this module.
            report(unsafe { doca!(doca_devinfo_list_destroy(self.first)) });
        }
    }
}

/// An open device.
pub struct Device(pub(super) Owned<sys::doca_dev>);

impl Device {
    /// Open the one at that address; `None` if there is none.
    pub fn open(address: PciAddress) -> Result<Option<Self>> {
        let list = DeviceList::new()?;
        for &info in list.infos() {
            if PciAddress::of(info)? == address {
                return Self::open_info(info).map(Some);
            }
        }
        Ok(None)
    }

    /// The addresses of all.
    pub fn addresses() -> Result<Vec<PciAddress>> {
        DeviceList::new()?.infos().iter().map(|&info| PciAddress::of(info)).collect()
    }

    fn open_info(info: *mut sys::doca_devinfo) -> Result<Self> {
        let mut raw = ptr::null_mut();
        // SAFETY: the list of the info lives.
        unsafe { doca!(doca_dev_open(info, &mut raw)) }?;
        Ok(Self(Owned::new(raw, sys::doca_dev_close)))
    }

    /// How many bytes one job copies at most.
    pub fn max_copy_bytes(&self) -> Result<usize> {
        let mut max = 0;
        // SAFETY: the device is open.
        unsafe { doca!(doca_dma_get_max_buf_size(sys::doca_dev_as_devinfo(self.0.raw), &mut max)) }?;
        Ok(max as usize)
    }
}
