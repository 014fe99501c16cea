/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/race/race_live.h - the detectors that are live in this process; race.c fills the list at the start. */
#ifndef SHIM_CHECK_RACE_LIVE_H
#define SHIM_CHECK_RACE_LIVE_H

#include "race.h"

struct race_live {
	const struct race_detector *detectors[6];
	size_t count;
};

extern struct race_live race_live;

/* Call a slot of each live detector that has it. */
#define FOR_EACH_DETECTOR(slot, ...)                                        \
	do {                                                                \
		for (size_t i_ = 0; i_ < race_live.count; i_++)             \
			if (race_live.detectors[i_]->slot)                  \
				race_live.detectors[i_]->slot(__VA_ARGS__); \
	} while (0)

#endif
