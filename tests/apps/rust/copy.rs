// SPDX-License-Identifier: BSD-3-Clause
//! Copies by work queues, from Rust.
//!
//! ```text
//!   copy local  DEVICE IN OUT                    in this process's memory
//!   copy export DEVICE IN DESCRIPTOR INFO        let the DPU read IN's bytes, until Enter or the end of input
//!   copy import DEVICE DESCRIPTOR INFO OUT       read them: descriptor in one file, address and length in another
//! ```
//!
//! DEVICE is a PCI address. The files in between are those of ../workq/map_export.c and map_import.c.

mod doca;

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use doca::{Device, Engine, Export, Inventory, Map, PciAddress, Queue};

type Outcome<T> = Result<T, Box<dyn Error>>;

const QUEUE_DEPTH: u32 = 1;
const PIECE_BYTES: usize = 64 * 1024;
const TIMEOUT: Duration = Duration::from_secs(30);
const LOOK_AGAIN: Duration = Duration::from_millis(2);

fn open(address: &str) -> Outcome<Device> {
    if let Some(device) = Device::open(address.parse::<PciAddress>()?)? {
        return Ok(device);
    }
    let all: Vec<_> = Device::addresses()?.iter().map(PciAddress::to_string).collect();
    Err(format!("there is no device at {address}; here are {}", all.join(" and ")).into())
}

fn copy(device: &Device, from: &Map, to: &Map) -> doca::Result<()> {
    let piece = PIECE_BYTES.min(device.max_copy_bytes()?);
    let inventory = Inventory::new(2)?;
    let engine = Engine::start(device)?;
    let mut queue = Queue::new(&engine, QUEUE_DEPTH)?;

    for start in (0..from.len()).step_by(piece) {
        let part = start..from.len().min(start + piece);
        let source = inventory.data(from, part.clone())?;
        let mut destination = inventory.room(to, part)?;
        queue.copy(&source, &mut destination)?;
    }
    Ok(())
}

/// The file appears with all that is in it.
fn publish(path: &str, bytes: &[u8]) -> io::Result<()> {
    let new = format!("{path}.new");
    fs::write(&new, bytes)?;
    fs::rename(&new, path)
}

fn read_when_there(path: &str) -> Outcome<Vec<u8>> {
    let start = Instant::now();
    while !Path::new(path).exists() {
        if start.elapsed() > TIMEOUT {
            return Err(format!("{path} does not come").into());
        }
        thread::sleep(LOOK_AGAIN);
    }
    Ok(fs::read(path)?)
}

fn read_export(descriptor: &str, info: &str) -> Outcome<Export> {
    let text = String::from_utf8(read_when_there(info)?)?;
    let (address, len) = text.trim_end().split_once('\n').ok_or_else(|| format!("{info} has no two lines"))?;

    Ok(Export { descriptor: read_when_there(descriptor)?, address: address.parse()?, len: len.parse()? })
}

fn local(address: &str, input: &str, output: &str) -> Outcome<()> {
    let device = open(address)?;
    let source = fs::read(input)?;
    let mut destination = vec![0; source.len()];

    copy(&device, &Map::readable(&device, &source)?, &Map::writable(&device, &mut destination)?)?;
    Ok(fs::write(output, &destination)?)
}

fn export(address: &str, input: &str, descriptor: &str, info: &str) -> Outcome<()> {
    let device = open(address)?;
    let memory = fs::read(input)?;
    let map = Map::readable(&device, &memory)?;
    let export = map.export()?;

    publish(descriptor, &export.descriptor)?;
    publish(info, format!("{}\n{}\n", export.address, export.len).as_bytes())?;
    io::stdin().read_line(&mut String::new())?;
    Ok(())
}

fn import(address: &str, descriptor: &str, info: &str, output: &str) -> Outcome<()> {
    let device = open(address)?;
    let export = read_export(descriptor, info)?;
    let mut destination = vec![0; export.len];

    copy(&device, &Map::imported(&device, &export)?, &Map::writable(&device, &mut destination)?)?;
    Ok(fs::write(output, &destination)?)
}

fn run(arguments: &[&str]) -> Outcome<()> {
    match *arguments {
        ["local", device, input, output] => local(device, input, output),
        ["export", device, input, descriptor, info] => export(device, input, descriptor, info),
        ["import", device, descriptor, info, output] => import(device, descriptor, info, output),
        _ => Err("usage: copy local DEVICE IN OUT | export DEVICE IN DESCRIPTOR INFO | \
                  import DEVICE DESCRIPTOR INFO OUT"
            .into()),
    }
}

fn main() -> ExitCode {
    let arguments: Result<Vec<String>, OsString> = std::env::args_os().skip(1).map(OsString::into_string).collect();
    let outcome = match &arguments {
        Ok(words) => run(&words.iter().map(String::as_str).collect::<Vec<_>>()),
        Err(word) => Err(format!("{word:?} is no text").into()),
    };

    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("copy: {error}");
            ExitCode::FAILURE
        }
    }
}
