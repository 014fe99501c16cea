/* SPDX-License-Identifier: BSD-3-Clause */
/* Changing, and reading, the plan of another machine. */
#include <stdlib.h>
#include <string.h>

#include "fault_change.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/number.h"
#include "sim/cli/reach/reach_list.h"

int cli_fault_send(const char *dir, const char *machine, const struct cli_fault_change *change,
		   const struct sim_delays *delays, uint32_t *ret_id)
{
	size_t delays_len = delays ? sim_delays_size(delays->count) : 0, len = sizeof(*change) + delays_len;
	struct cli_fault_change *input = malloc(len);
	uint64_t id = 0;
	char *text;
	int rc = 0;

	if (!input)
		return cli_error("out of memory");
	*input = *change;
	input->has_delays = delays != NULL;
	if (delays)
		memcpy(input + 1, delays, delays_len);
	text = cli_reach_text(dir, machine, "change", input, len);
	free(input);
	if (!text)
		return -1;
	if (cli_number_parse(text, 10, 0, UINT32_MAX, &id, NULL) < 0)
		rc = cli_error("%s has answered what is no id of a rule", machine);
	free(text);
	*ret_id = (uint32_t)id;
	return rc;
}

json_object *cli_fault_rules_of(const char *dir, const char *machine)
{
	return cli_reach_list(dir, machine, "faults", "rules");
}
