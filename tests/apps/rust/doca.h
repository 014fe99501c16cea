/* SPDX-License-Identifier: BSD-3-Clause */
/* The input of bindgen: the headers whose functions doca.rs calls. */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>
