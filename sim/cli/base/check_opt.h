/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/check_opt.h - the options of the checker, for commands that start programs. */
#ifndef SIM_CLI_BASE_CHECK_OPT_H
#define SIM_CLI_BASE_CHECK_OPT_H

#include "args.h"
#include "sim/check/rules.h"

struct json_object;

#define CLI_CHECK_MAX_REPORTS 8

struct cli_check_opt {
	enum sim_check_mode mode;
	const char *reports[CLI_CHECK_MAX_REPORTS]; /* their files */
	size_t num_reports;
	enum sim_check_severity fail_severity;
	const char *mutes_path; /* NULL = none */
	struct sim_check_mutes *mutes;
	const char *sync; /* "doca" or "any"; NULL = as the environment says */
	bool fails;       /* hits of fail_severity, or more severe ones, change the exit status */
};

/* The part with them, for a struct cli_check_opt. */
extern const struct cli_args cli_check_args;

/* Write the reports that there are options for. Returns 0, or -1 with a message. */
int cli_check_write_reports(const struct cli_check_opt *check, struct json_object *hits, bool is_complete);

/* Before programs start: write unfinished ones, which say that the run did not end. Returns 0, or -1 with a message. */
int cli_check_begin_reports(const struct cli_check_opt *check);

/* Release what options were read into. */
void cli_check_fini(struct cli_check_opt *check);

/* In the child: have the program checked. @hits_path: the file of hits (sim/check/hit.h); NULL: the program writes its
 * report, of which there is one at most, and fails itself. Returns 0, or -1 with a message. */
int cli_check_set_env(const struct cli_check_opt *check, const char *hits_path);

#endif
