/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim.h: hits of the checker. */
#include <errno.h>
#include <stddef.h>

#include "check_api.h"
#include "sim/base/last_error.h"

static const struct sim_check_api *checker; /* NULL = not loaded */

void sim_check_api_set(const struct sim_check_api *api)
{
	checker = api;
}

static int fail_unloaded(void)
{
	return sim_set_error(-ENOTSUP, "the checker is not loaded: start the program with bfsim run --check, or with "
				       "BFSIM_CHECK=api in its environment");
}

static int explain(int rc, const char *rule)
{
	if (rc == -EINVAL)
		return sim_set_error(rc, "no rule is called \"%s\"; bfsim rules lists them", rule);
	if (rc == -ENOENT)
		return sim_set_error(rc, rule ? "the rule %s was not hit" : "no rule was hit", rule);
	if (rc == -EALREADY)
		return sim_set_error(rc, "hits of %s are expected already", rule ? rule : "all rules");
	if (rc == -EPERM)
		return sim_set_error(rc, "there was no begin for %s", rule ? rule : "all rules");
	return rc;
}

int bfsim_check_hits(const char *rule, uint64_t *ret_hits)
{
	return checker ? explain(checker->count(rule, ret_hits), rule) : fail_unloaded();
}

int bfsim_check_last(const char *rule, struct bfsim_check_hit *ret_hit)
{
	return checker ? explain(checker->last(rule, ret_hit), rule) : fail_unloaded();
}

int bfsim_check_expect_begin(const char *rule)
{
	return checker ? explain(checker->expect_begin(rule), rule) : fail_unloaded();
}

int bfsim_check_expect_end(const char *rule, uint64_t *ret_hits)
{
	return checker ? explain(checker->expect_end(rule, ret_hits), rule) : fail_unloaded();
}

int bfsim_check_mute_begin(const char *rule)
{
	return checker ? explain(checker->mute_begin(rule), rule) : fail_unloaded();
}

int bfsim_check_mute_end(const char *rule)
{
	return checker ? explain(checker->mute_end(rule), rule) : fail_unloaded();
}
