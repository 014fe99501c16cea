/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/did_you_mean.h - the known name that a mistyped one is closest to. */
#ifndef PCIE_MODEL_DID_YOU_MEAN_H
#define PCIE_MODEL_DID_YOU_MEAN_H

#include <stddef.h>

/* The i-th known name. */
typedef const char *pcie_name_at(const void *arg, size_t i);

/* Returns the one of @count names that is closest to the @len characters at @text by edit distance; else the only one that begins
 * with the text, or that the text begins with; NULL = none is close.
 * Upper and lower case differ. */
const char *pcie_did_you_mean(const char *text, size_t len, pcie_name_at *name_at, const void *arg, size_t count);

#endif
