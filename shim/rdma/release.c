/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface of 2.10 and later, and of the core of shim/workq; shim/task_2_5 has that of 2.5 and 2.6. */
#include "rdma_priv.h"

const struct rdma_release rdma_release = { .starts_by_connect = false };
