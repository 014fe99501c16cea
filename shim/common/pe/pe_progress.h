/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/pe/pe_progress.h - doca_pe_progress() for other libraries. */
#ifndef SHIM_PE_PROGRESS_H
#define SHIM_PE_PROGRESS_H

#include <doca_pe.h>

#include "shim/common/base/object.h"

/* One step of a context that has one, in turn; of a live engine, by its thread. Returns whether there was one. */
SHIM_INTERNAL_API bool shim_pe_progress_one(struct doca_pe *pe);

#endif
