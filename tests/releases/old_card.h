/* SPDX-License-Identifier: BSD-3-Clause */
/* old_card.h - the first device and its representor, for programs that communicate. Built for 2.2 and 2.5. */
#ifndef OLD_CARD_H
#define OLD_CARD_H

#include <doca_dev.h>
#include <doca_error.h>

/* Exit with a message unless @result is DOCA_SUCCESS. */
void must(doca_error_t result, const char *what);

struct doca_dev *open_first(void);

/* The representor of the first host function. */
struct doca_dev_rep *open_first_rep(struct doca_dev *dev);

#endif
