/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/api/check_api.h - what the checker (shim/check) does for the functions of bfsim.h. A process without the checker
 * has none. */
#ifndef SIM_API_CHECK_API_H
#define SIM_API_CHECK_API_H

#include "bfsim.h"

/* @rule: an id or a name; NULL = all rules. Each returns 0, -EINVAL (no such rule) or as bfsim.h says. */
struct sim_check_api {
	int (*count)(const char *rule, uint64_t *ret_hits);
	int (*last)(const char *rule, struct bfsim_check_hit *ret_hit);
	int (*expect_begin)(const char *rule);
	int (*expect_end)(const char *rule, uint64_t *ret_hits);
	int (*mute_begin)(const char *rule);
	int (*mute_end)(const char *rule);
};

/* Before main(). */
void sim_check_api_set(const struct sim_check_api *api);

#endif
