/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a packet of another machine's command or helper, and as what its command changes of the fault plan. Seeds are in
 * corpus/reach. */
#include "fuzz_input.h"
#include "sim/cli/fault/fault_change.h"
#include "sim/control/reach.h"

static void read_words(struct sim_reach_packet *packet)
{
	char **words = NULL;
	int count = sim_reach_words(packet, &words);
	size_t sum = 0;

	if (count < 0)
		return;
	for (int i = 0; i < count; i++)
		sum += strlen(words[i]) + 1;
	promise(sum == packet->len && !words[count]);
	free(words);
}

static void read_change(const uint8_t *bytes, size_t size)
{
	const struct sim_delays *delays;
	struct cli_fault_change change;
	char text[SIM_RULE_TEXT_SIZE];

	if (cli_fault_change_read(bytes, size, &change, &delays) < 0)
		return;
	if (change.change == SIM_FAULT_ADD)
		sim_rule_format(&change.rule, delays ? delays->file : NULL, text);
	promise(!delays || sizeof(change) + sim_delays_size(delays->count) == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sim_reach_packet packet;
	uint8_t *bytes = aligned_alloc(64, (size + 64) / 64 * 64); /* a change is aligned as in memory of malloc() */

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	if (sim_reach_check(bytes, size, &packet) == 0) {
		promise(packet.len == size - 1 && packet.bytes[packet.len] == '\0');
		read_words(&packet);
	}
	read_change(bytes, size);
	free(bytes);
	return 0;
}
