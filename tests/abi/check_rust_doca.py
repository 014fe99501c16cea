#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that rust-doca gets its bindings from a tree of the work-queue generation.

    check_rust_doca.py BINDGEN RUSTC|- INCLUDE-DIR...

rust_doca.h goes through bindgen with the options of rust-doca's build script. The bindings must have all names that
the crate uses; with a RUSTC, code that uses them like the crate must compile.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FUNCTIONS = ['doca_dev_', 'doca_devinfo_', 'doca_mmap_', 'doca_buf_inventory_', 'doca_workq_', 'doca_ctx_', 'doca_buf_',
             'doca_dma_']
TYPES = ['doca_dev', 'doca_devinfo', 'doca_mmap', 'doca_buf_inventory', 'doca_event', 'doca_ctx', 'doca_workq_.*',
         'doca_job_.*', 'doca_buf', 'doca_dma_.*', 'doca_pci_bdf']

USED_FUNCTIONS = '''
    doca_buf_get_data doca_buf_inventory_buf_by_args doca_buf_inventory_create doca_buf_inventory_destroy
    doca_buf_inventory_start doca_buf_refcount_rm doca_buf_set_data doca_ctx_dev_add doca_ctx_dev_rm doca_ctx_start
    doca_ctx_stop doca_ctx_workq_add doca_ctx_workq_rm doca_dev_close doca_dev_open doca_devinfo_get_pci_addr
    doca_devinfo_list_create doca_devinfo_list_destroy doca_dma_as_ctx doca_dma_create doca_dma_destroy
    doca_dma_get_max_buf_size doca_mmap_create doca_mmap_create_from_export doca_mmap_destroy doca_mmap_dev_add
    doca_mmap_dev_rm doca_mmap_export doca_mmap_populate doca_mmap_set_max_num_chunks doca_mmap_start doca_workq_create
    doca_workq_destroy doca_workq_progress_retrieve doca_workq_submit
'''.split()
USED_TYPES = '''
    doca_buf doca_buf_inventory doca_ctx doca_data doca_dev doca_devinfo doca_dma doca_dma_job_memcpy doca_event doca_job
    doca_mmap doca_pci_bdf doca_workq
'''.split()

# Enumerators are plain numbers, except those of errors; addresses have their parts, structures start as zeros.
USES = '''
pub unsafe fn numbers() -> [i32; 3] {
    [DOCA_WORKQ_RETRIEVE_FLAGS_NONE as i32, DOCA_JOB_FLAGS_NONE as i32, DOCA_DMA_JOB_MEMCPY as i32]
}
pub fn errors() -> [doca_error; 5] {
    [doca_error::DOCA_SUCCESS, doca_error::DOCA_ERROR_AGAIN, doca_error::DOCA_ERROR_INVALID_VALUE,
     doca_error::DOCA_ERROR_IO_FAILED, doca_error::DOCA_ERROR_NOT_FOUND]
}
pub unsafe fn address(info: *mut doca_devinfo) -> (u16, u16, u16) {
    let mut bdf = doca_pci_bdf::default();
    assert_eq!(doca_devinfo_get_pci_addr(info, &mut bdf as *mut _), doca_error::DOCA_SUCCESS);
    let parts = &bdf.__bindgen_anon_1.__bindgen_anon_1;
    (parts.bus(), parts.device(), parts.function())
}
pub unsafe fn job(workq: *mut doca_workq, ctx: *mut doca_ctx, src: *mut doca_buf, dst: *mut doca_buf) -> doca_error {
    let mut job = doca_dma_job_memcpy::default();
    job.base.ctx = ctx;
    job.base.flags = DOCA_JOB_FLAGS_NONE as i32;
    job.base.type_ = DOCA_DMA_JOB_MEMCPY as i32;
    job.src_buff = src;
    job.dst_buff = dst;
    doca_workq_submit(workq, &job.base as *const _)
}
pub unsafe fn poll(workq: *mut doca_workq) -> (doca_error, doca_data) {
    let mut event = doca_event::default();
    (doca_workq_progress_retrieve(workq, &mut event as *mut _, 0), event.result)
}
pub unsafe fn export(mmap: *mut doca_mmap, dev: *mut doca_dev, memory: *mut std::ffi::c_void) -> usize {
    let (mut len, mut descriptor): (usize, *mut std::ffi::c_void) = (0, std::ptr::null_mut());
    doca_mmap_populate(mmap, memory, 1, 4096, None, std::ptr::null_mut());
    doca_mmap_export(mmap, dev, &mut descriptor as *mut _, &mut len as *mut usize);
    len
}
'''


def bindings(bindgen, include_dirs):
    command = [bindgen, str(pathlib.Path(__file__).parent / 'rust_doca.h'), '--no-doc-comments', '--with-derive-default',
               '--no-prepend-enum-name', '--rustified-enum', 'doca_error']
    if '--size_t-is-usize' in subprocess.run([bindgen, '--help'], capture_output=True, text=True).stdout:
        command.append('--size_t-is-usize')  # later ones need not be told
    for prefix in FUNCTIONS:
        command += ['--allowlist-function', prefix + '.*']
    for name in TYPES:
        command += ['--allowlist-type', name]
    done = subprocess.run([*command, '--', *('-I' + directory for directory in include_dirs)],
                          capture_output=True, text=True)
    if done.returncode or done.stderr:
        sys.exit(f'bindgen: {done.stderr}')
    return done.stdout


def missing(text):
    yield from (name for name in USED_FUNCTIONS if not re.search(rf'pub fn {name}\b', text))
    yield from (name for name in USED_TYPES if not re.search(rf'pub (struct|union) {name}\b', text))


def compile_uses(rustc, text):
    """The errors of the compiler."""
    with tempfile.TemporaryDirectory() as tmp:
        source = pathlib.Path(tmp) / 'uses.rs'
        source.write_text(text + USES)
        done = subprocess.run([rustc, '--edition', '2021', '--cap-lints', 'allow', '--crate-type', 'lib', '--emit', 'metadata',
                               '--out-dir', tmp, str(source)], capture_output=True, text=True)
    return done.stderr if done.returncode else ''


def main():
    bindgen, rustc, *include_dirs = sys.argv[1:]
    text = bindings(bindgen, include_dirs)
    complaints = [f'not in the bindings: {name}' for name in missing(' '.join(text.split()))]
    if rustc != '-' and not complaints:
        complaints += filter(None, [compile_uses(rustc, text)])
    print('\n'.join(complaints) or f'{len(USED_FUNCTIONS)} functions bound')
    return 1 if complaints else 0


if __name__ == '__main__':
    sys.exit(main())
