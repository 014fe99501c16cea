/* SPDX-License-Identifier: BSD-3-Clause */
/* old_card.h - what the programs that talk share: the first device, and who stands behind it. Built for 2.2 and 2.5. */
#ifndef OLD_CARD_H
#define OLD_CARD_H

#include <doca_dev.h>
#include <doca_error.h>

/* End with a message unless it went well. */
void must(doca_error_t result, const char *what);

struct doca_dev *open_first(void);

/* The representor of the first host function. */
struct doca_dev_rep *open_first_rep(struct doca_dev *dev);

#endif
