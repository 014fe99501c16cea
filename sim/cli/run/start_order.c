/* SPDX-License-Identifier: BSD-3-Clause */
/* The options for the order of commands. */
#include "start_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/base/cli.h"
#include "sim/cli/base/number.h"

static struct cli_start *add_start(struct cli_start_order *order, const char *label, struct argp_state *state)
{
	struct cli_start *list = reallocarray(order->list, order->count + 1, sizeof(*list));

	if (!list)
		argp_failure(state, cli_failure_status(), 0, "out of memory");
	order->list = list;
	list[order->count] = (struct cli_start){ .label = label };
	return &list[order->count++];
}

/* Split "SIDE after SERVICE" in place. */
static void add_service(void *order, char *text, struct argp_state *state)
{
	char *after = strstr(text, " after ");

	if (!after || after == text || !after[7])
		argp_error(state, "--start '%s': write 'SIDE after SERVICE', such as 'host after comch_hello'", text);
	*after = '\0';
	add_start(order, text, state)->service = after + 7;
}

int cli_start_parse_ms(const char *text, int64_t *ret_ms)
{
	const char *end;
	uint64_t number;

	if (cli_number_parse(text, 10, 0, 1000000000, &number, &end) < 0)
		return -1;
	if (strcmp(end, "s") == 0)
		number *= 1000;
	else if (strcmp(end, "ms") != 0)
		return -1;
	*ret_ms = (int64_t)number;
	return 0;
}

/* Split "SIDE=TIME" in place. */
static void add_delay(void *order, char *text, struct argp_state *state)
{
	char *equals = strrchr(text, '=');
	int64_t delay_ms = 0;

	if (!equals || equals == text || cli_start_parse_ms(equals + 1, &delay_ms) < 0)
		argp_error(state, "--delay %s: write SIDE=TIME, such as host=500ms or host=1s", text);
	*equals = '\0';
	add_start(order, text, state)->delay_ms = delay_ms;
}

static const struct cli_option option_list[] = {
	CLI_CALL_WHOLE(0, "start", "'SIDE after SERVICE'", add_service, CLI_OPTION_REPEATS,
		       "Start SIDE's commands when a program offers SERVICE"),
	CLI_CALL_WHOLE(0, "delay", "SIDE=TIME", add_delay, CLI_OPTION_REPEATS,
		       "Start SIDE's commands after TIME, such as 500ms"),
	CLI_TEXT(0, "until", "SIDE", struct cli_start_order, until,
		 "When SIDE's commands have ended with 0, end the others; they may return anything"),
	{ 0 },
};

const struct cli_args cli_start_order_args = { .options = option_list };

void cli_start_order_fini(struct cli_start_order *order)
{
	free(order->list);
	*order = (struct cli_start_order){ 0 };
}

bool cli_label_matches(const char *name, const char *label)
{
	size_t len = strlen(name);

	return strncmp(name, label, len) == 0 && (label[len] == '\0' || label[len] == '#');
}

const char *cli_start_service(const struct cli_start_order *order, const char *label)
{
	const char *service = NULL;

	for (size_t i = 0; i < order->count; i++)
		if (order->list[i].service && cli_label_matches(order->list[i].label, label))
			service = order->list[i].service;
	return service;
}

int64_t cli_start_delay_ms(const struct cli_start_order *order, const char *label)
{
	int64_t delay_ms = 0;

	for (size_t i = 0; i < order->count; i++)
		if (!order->list[i].service && cli_label_matches(order->list[i].label, label))
			delay_ms = order->list[i].delay_ms;
	return delay_ms;
}

static int check_name(const char *option, const char *name, const char *const *labels, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (cli_label_matches(name, labels[i]))
			return 0;
	cli_fail("%s %s: no command of this run is called that%s; the first is %s", option, name,
		 cli_hint(name, labels, count).text, labels[0]);
	return -1;
}

/* The later of two would silently count. */
static int check_repetition(const struct cli_start_order *order, size_t i)
{
	const struct cli_start *start = &order->list[i];

	for (size_t j = 0; j < i; j++) {
		const struct cli_start *other = &order->list[j];

		if (!start->service != !other->service || strcmp(start->label, other->label) != 0)
			continue;
		cli_fail("%s %s is given twice; give it once", start->service ? "--start" : "--delay", start->label);
		return -1;
	}
	return 0;
}

int cli_start_order_check(const struct cli_start_order *order, const char *const *labels, size_t count)
{
	for (size_t i = 0; i < order->count; i++)
		if (check_name(order->list[i].service ? "--start" : "--delay", order->list[i].label, labels, count) <
			    0 ||
		    check_repetition(order, i) < 0)
			return -1;
	return order->until ? check_name("--until", order->until, labels, count) : 0;
}
