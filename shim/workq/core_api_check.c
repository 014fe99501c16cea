/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled with the core: compares the declarations of core_api.h with the headers of the current generation. */
#include <doca_buf_inventory.h>
#include <doca_buf_pool.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_erasure_coding.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#include "core_api.h"

#define CHECK_VALUE(name, value) _Static_assert((name) == (value), #name " is not what core_api.h says")

CHECK_VALUE(DOCA_ERROR_TOO_BIG, 27);
CHECK_VALUE(DOCA_ERROR_AUTHENTICATION, 28);
CHECK_VALUE(DOCA_ERROR_BAD_CONFIG, 29);
CHECK_VALUE(DOCA_ERROR_SKIPPED, 30);
CHECK_VALUE(DOCA_SHA_ALGORITHM_SHA1, 0);
CHECK_VALUE(DOCA_CTX_STATE_IDLE, 0);
CHECK_VALUE(DOCA_CTX_STATE_STARTING, 1);
CHECK_VALUE(DOCA_CTX_STATE_RUNNING, 2);
CHECK_VALUE(DOCA_CTX_STATE_STOPPING, 3);
