// SPDX-License-Identifier: BSD-3-Clause
// The search path has the processor that cargo builds for; libraries are named one by one.
use std::env::consts::ARCH;
use std::path::Path;

fn main() {
    assert!(Path::new("/opt/mellanox/doca").is_dir(), "no DOCA on this machine");
    println!("cargo:rustc-link-search=native=/opt/mellanox/doca/lib/{ARCH}-linux-gnu");
    println!("cargo:rustc-link-lib=doca_dma");
    println!("cargo:rustc-link-lib=doca_common");
}
