/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/check_results.h - what the checker found in the programs of a run. */
#ifndef SIM_CLI_RUN_CHECK_RESULTS_H
#define SIM_CLI_RUN_CHECK_RESULTS_H

#include <limits.h>

#include "sim/cli/base/check_opt.h"
#include "verdict.h"

/* The file of hits: anonymous memory, which programs open by its name in /proc. So nothing is left behind. */
struct cli_check_hits {
	int fd;
	char path[PATH_MAX];
	struct json_object *list; /* of hits, once they were read; the owner puts it */
};

/* Create the file; and an unfinished report, which shows that it can be written. Returns 0, or -1 with a message. */
int cli_check_hits_open(const struct cli_check_opt *check, struct cli_check_hits *ret_hits);

/* At the end: print a summary, write the report, and tell the verdict what was broken, that nothing was checked, or that the
 * report can't be written. Closes the file; leaves the hits in hits->list. */
void cli_check_results(struct cli_check_hits *hits, const struct cli_check_opt *check, struct cli_verdict *verdict);

#endif
