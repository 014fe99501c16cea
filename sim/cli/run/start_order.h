/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/run/start_order.h - when the commands of a run start and end: --start, --delay, --until.
 *
 * A command is named by its label: its side, or "SIDE#2" for the second command of a side that has several. A side names
 * all its commands.
 */
#ifndef SIM_CLI_RUN_START_ORDER_H
#define SIM_CLI_RUN_START_ORDER_H

#include "sim/cli/base/args.h"

struct cli_start {
	const char *label;   /* as given */
	const char *service; /* to be offered before, or NULL */
	int64_t delay_ms;
};

struct cli_start_order {
	struct cli_start *list;
	size_t count;
	const char *until; /* label: when it has ended, the others are ended; NULL = none */
};

/* The part with the three options, for a zeroed struct cli_start_order. */
extern const struct cli_args cli_start_order_args;

void cli_start_order_fini(struct cli_start_order *order);

/* Whether @name is the command's label, or its side. */
bool cli_label_matches(const char *name, const char *label);

/* Read a time, such as "500ms" or "1s". Returns 0 or -1. */
int cli_start_parse_ms(const char *text, int64_t *ret_ms);

/* The service that the command waits for (NULL = none), and its delay. */
const char *cli_start_service(const struct cli_start_order *order, const char *label);
int64_t cli_start_delay_ms(const struct cli_start_order *order, const char *label);

/* Check that each name is that of one of the labels. Returns 0, or -1 with a message. */
int cli_start_order_check(const struct cli_start_order *order, const char *const *labels, size_t count);

#endif
