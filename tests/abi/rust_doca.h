/* SPDX-License-Identifier: BSD-3-Clause */
/* The headers that rust-doca (github.com/smartnickit-project/rust-doca) gives to bindgen. */
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_ctx.h>
#include <doca_buf_inventory.h>
#include <doca_buf.h>
#include <doca_dma.h>
