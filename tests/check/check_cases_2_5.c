/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about RDMA in the interface of releases 2.5 and 2.6, like check_cases: RULE provoke|near-miss. */
#include <stdio.h>
#include <string.h>

#include "tests/api/rdma_util.h"
#include "tests/common/check.h"

/* A second connect of the context's connection, before a step of the engine lets the context run, or behind it. */
static void connect_again(bool steps, bool is_again)
{
	struct peer *a = peer_open(0, RDMA_ALL_ACCESS), *b = peer_open(1, RDMA_ALL_ACCESS);
	const void *details;
	size_t len;

	peer_start(a);
	peer_start(b);
	MUST(doca_rdma_export(b->rdma, &details, &len));
	MUST(doca_rdma_connect(a->rdma, details, len));
	if (steps)
		peer_progress(a);
	if (is_again)
		CHECK(doca_rdma_connect(a->rdma, details, len) == DOCA_ERROR_BAD_STATE);
	peer_close(a);
	peer_close(b);
}

static const struct {
	const char *rule;
	bool steps;
} cases[] = { { "rdma-wrong-state@starting-2.5", false }, { "rdma-wrong-state@running-2.5", true } };

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc == 1)
			puts(cases[i].rule);
		else if (argc == 3 && strcmp(argv[1], cases[i].rule) == 0)
			connect_again(cases[i].steps, strcmp(argv[2], "provoke") == 0);
	return 0;
}
