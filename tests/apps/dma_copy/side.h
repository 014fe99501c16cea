/* SPDX-License-Identifier: BSD-3-Clause */
/* side.h - the difference of the sides: the host exports its window, the DPU copies pieces to and from it.
 *
 * A program has one side: host.c or dpu.c is built into it.
 */
#ifndef SIDE_H
#define SIDE_H

#include <stdbool.h>

#include <doca_error.h>

#include "transfer.h"

struct doca_dev;
struct side;

/* Agree on the windows and be ready for pieces. @transfer has its loop and channel; this function sets its window
 * and carrier, which live as long as the side. The caller ends it. */
doca_error_t side_begin(struct doca_dev *dev, bool sending, struct transfer *transfer, struct side **ret_side);

/* NULL is fine. */
void side_end(struct side *side);

#endif
