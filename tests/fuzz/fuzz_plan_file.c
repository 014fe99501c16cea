/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a plan in YAML, and as a file of delays: either sound rules with
 * their lines, or an error text that names the file. Seeds are in corpus/plan_file. */
#include <errno.h>

#include "fuzz_input.h"
#include "sim/faults/plan/plan_file.h"

#define FILE_NAME "fuzz.yaml"

static void promise_error(const char *error, size_t size)
{
	promise(strncmp(error, FILE_NAME ":", strlen(FILE_NAME ":")) == 0);
	promise(strlen(error) < size && !strchr(error, '\n'));
}

static void as_plan(const char *text, size_t size)
{
	char error[SIM_PLAN_FILE_ERROR_SIZE];
	struct sim_plan_file file = { .num_rules = 0 };
	int rc = sim_plan_file_parse(FILE_NAME, text, size, &file, error);

	if (rc) {
		promise(rc == -EINVAL && !file.rules);
		promise_error(error, sizeof(error));
		return;
	}
	for (uint32_t i = 0; i < file.num_rules; i++) {
		promise(sim_rule_check(&file.rules[i].rule) == 0 && file.rules[i].line >= 1);
		promise((file.rules[i].rule.delay_kind == SIM_DELAY_TRACE) == !!file.rules[i].delays_file[0]);
		promise(!file.rules[i].delays);
	}
	sim_plan_file_fini(&file);
}

static void as_delays(const char *text, size_t size)
{
	struct sim_delays *delays = NULL;
	char error[SIM_RULE_ERROR_SIZE];
	int rc = sim_delays_parse(FILE_NAME, text, size, &delays, error);

	if (rc) {
		promise(rc == -EINVAL && !delays);
		promise_error(error, sizeof(error));
		return;
	}
	promise(sim_delays_check(delays, sim_delays_size(delays->count)) == 0);
	free(delays);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + !size); /* of the exact size, so that a read beyond it shows */

	if (!text)
		return 0;
	memcpy(text, data, size);
	as_plan(text, size);
	as_delays(text, size);
	free(text);
	return 0;
}
