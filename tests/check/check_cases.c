/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one case (cases.h): check_cases RULE provoke|near-miss; without arguments, lists the rules. */
#include "cases.h"

static const struct check_case *const lists[] = { accel_cases,  buf_cases,    comch_cases, dev_cases,  import_cases,
						  limits_cases, mmap_cases,   race_cases,  task_cases, progress_cases,
						  perf_cases,   result_cases, fast_cases,  life_cases, release_cases,
						  rdma_cases,   dpa_cases };

void be_busy(struct rig *rig)
{
	for (int i = 0; i < 2000; i++)
		doca_pe_progress(rig->pe);
}

void end_context(struct rig *rig)
{
	doca_error_t result = doca_ctx_stop(rig->ctx);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	MUST(doca_dma_destroy(rig->dma));
	rig->dma = NULL;
}

static const struct check_case *find(const char *rule)
{
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (const struct check_case *one = lists[i]; one->rule; one++)
			if (!rule)
				puts(one->rule);
			else if (strcmp(rule, one->rule) == 0)
				return one;
	return NULL;
}

int main(int argc, char **argv)
{
	const struct check_case *one = find(argc == 3 ? argv[1] : NULL);

	if (argc == 1)
		return 0;
	CHECK(one);
	if (strcmp(argv[2], "provoke") == 0)
		one->provoke();
	else
		one->near_miss();
	return 0;
}
