/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of live detectors. */
#include "race_live.h"

struct race_live race_live;
