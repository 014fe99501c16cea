/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetching the recordings of a session's processes from its daemon. */
#include "recordings.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "far_recordings.h"
#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_client.h"
#include "sim/protocol/wire.h"
#include "sim/base/printable.h"

#define LINK_TRANSFER_BYTES 65536 /* of the transfers that define the bandwidth of a link */

/* Copy untrusted text: the copy is terminated and printable. */
static void copy_clean_text(char *to, size_t size, const char *from, size_t from_size)
{
	size_t len = strnlen(from, from_size < size ? from_size : size - 1);

	memcpy(to, from, len);
	to[len] = '\0';
	sim_make_printable_array(to, size);
}

static struct sim_trace_process process_from_msg(const struct sim_msg *msg)
{
	struct sim_trace_process process = { .pid = msg->body.recorded.pid, .is_alive = msg->body.recorded.is_alive };

	copy_clean_text(process.side, sizeof(process.side), msg->body.recorded.side, sizeof(msg->body.recorded.side));
	copy_clean_text(process.program, sizeof(process.program), msg->body.recorded.program,
			sizeof(msg->body.recorded.program));
	return process;
}

struct fetch {
	int dir_fd;
	const char *dir;
	bool counts_only;
	const struct sim_shared_state *shared_state; /* of the session */
	struct sim_merged_trace *merged;
};

/* An invalid recording is skipped with a message: the other recordings stay useful. */
static int add_recording(struct fetch *fetch, const struct sim_msg *msg, int fd)
{
	const struct sim_trace_clock clock = { .zero_ns = fetch->merged->zero_ns,
					       .virtual_ns = sim_clock_page_virtual_ns(&fetch->shared_state->clock) };
	struct sim_trace_recording recording = { 0 };
	struct sim_trace_process owner = process_from_msg(msg);
	int rc = (fetch->counts_only ? sim_trace_recording_read_counts_fd : sim_trace_recording_read_fd)(fd, &clock,
													 &recording);

	if (rc == -EPROTO) {
		cli_fail("the recording of process %d (%s) is invalid and is left out", owner.pid, owner.program);
		return 0;
	}
	if (rc < 0)
		return rc;
	recording.owner = owner;
	return sim_merged_trace_add(fetch->merged, &recording);
}

static int fetch_recordings(struct fetch *fetch)
{
	uint64_t number = 1;
	int rc = 0;

	while (rc == 0) {
		struct sim_msg msg = { .type = SIM_MSG_GET_RECORDING, .body.recording.number = number };
		int fd;

		rc = sim_control_exchange(fetch->dir_fd, &msg, -1, &fd);
		if (rc < 0)
			return cli_session_report_error(fetch->dir, rc);
		fetch->merged->zero_ns = msg.body.recorded.zero_ns;
		if (msg.status == -ENOENT) {
			fetch->merged->num_dropped = msg.body.recorded.num_dropped;
			return 0;
		}
		if (msg.status < 0)
			return cli_session_report_error(fetch->dir, msg.status);
		number = msg.body.recorded.number + 1;
		rc = add_recording(fetch, &msg, fd);
		if (fd >= 0)
			close(fd);
		if (rc < 0)
			cli_fail("cannot read the recording of process %d: %s", msg.body.recorded.pid, strerror(-rc));
	}
	return rc;
}

struct rules {
	struct sim_merged_trace *merged;
	bool are_removed; /* from the plan */
	int rc;
};

static void add_rule(void *arg, const struct sim_plan_rule *rule)
{
	struct rules *rules = arg;
	struct sim_trace_rule *added;

	if (rules->rc < 0 || (rules->are_removed && rule->fired == 0))
		return;
	rules->rc = sim_merged_trace_add_rule(rules->merged, rule->id, rule->text);
	if (rules->rc < 0)
		return;
	added = &rules->merged->rules[rules->merged->num_rules - 1];
	added->fired = rule->fired;
	added->added_ns = rule->added_ns;
	added->removed = rules->are_removed;
}

/* The kernel's id of this boot; "" where /proc is not to be read. */
static void read_boot_id(char *id, int size)
{
	FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!in || !fgets(id, size, in))
		id[0] = '\0';
	id[strcspn(id, "\n")] = '\0';
	if (in)
		fclose(in);
}

/* The session's begin is known by CLOCK_MONOTONIC. The two clocks differ by as much as they do now, unless the machine's time was
 * set since. */
static uint64_t unix_ns_of(uint64_t monotonic_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - (sim_monotonic_ns() - monotonic_ns);
}

static void read_clock(const struct sim_clock_page *page, struct sim_merged_trace *merged)
{
	uint32_t mode = atomic_load(&page->mode);

	merged->clock = mode < SIM_CLOCK_NUM_MODES ? sim_clock_mode_name((enum sim_clock_mode)mode) : NULL;
	merged->session_ns = sim_clock_page_now_ns(page);
}

/* Read the rules of the plan, those that were removed after a hit, and the clock. */
static int read_rules_and_clock(struct fetch *fetch)
{
	struct rules rules = { .merged = fetch->merged };

	read_clock(&fetch->shared_state->clock, fetch->merged);
	sim_plan_each(&fetch->shared_state->plan, add_rule, &rules);
	rules.are_removed = true; /* the trace contains their hits */
	sim_plan_each_removed(&fetch->shared_state->plan, add_rule, &rules);
	return rules.rc < 0 ? cli_session_report_error(fetch->dir, rules.rc) : 0;
}

static int fetch_all(struct fetch *fetch)
{
	struct sim_segment shared_state;
	int rc = sim_control_map_shared_state(fetch->dir_fd, &shared_state);

	if (rc < 0)
		return cli_session_report_error(fetch->dir, rc);
	fetch->shared_state = sim_shared_state_of(&shared_state);
	rc = fetch_recordings(fetch);
	if (rc == 0)
		rc = read_rules_and_clock(fetch);
	sim_segment_unmap(&shared_state);
	return rc;
}

static int add_card(struct sim_merged_trace *merged, const struct pcie_card *card)
{
	const char *model = card->profile->description, *link = strstr(model, ", PCIe ");
	int len = link ? (int)(link - model) : (int)strlen(model); /* the link may have been overridden */
	struct sim_trace_card entry = { .name = "" };              /* recordings have all of its bytes */

	snprintf(entry.name, sizeof(entry.name), "%s", card->name);
	snprintf(entry.model, sizeof(entry.model), "%.*s", len, model);
	snprintf(entry.link, sizeof(entry.link), "PCIe Gen%u x%u", card->link.generation, card->link.lanes);
	snprintf(entry.mode, sizeof(entry.mode), "%s", pcie_mode_name(card->mode));
	sim_make_printable_array(entry.name, sizeof(entry.name));
	return sim_merged_trace_add_card(merged, &entry);
}

/* Read the cards, and the payload bandwidth of each device's link, of large transfers: reads by the card, and writes. */
static int fetch_cards(const char *dir, struct sim_merged_trace *merged)
{
	struct pcie_topology *topology = cli_topology_of_session(dir);
	int rc = 0;

	if (!topology)
		return -1;
	for (size_t i = 0; i < topology->num_cards && rc == 0; i++)
		rc = add_card(merged, &topology->cards[i]);
	for (size_t i = 0; i < topology->num_functions && rc == 0; i++) {
		const struct pcie_function *function = &topology->functions[i];
		struct pcie_bandwidth bandwidth;

		pcie_link_bandwidth(&topology->cards[function->card].link, LINK_TRANSFER_BYTES, &bandwidth);
		rc = sim_merged_trace_add_link(merged, function->side, function->ibdev, bandwidth.read_bps,
					       bandwidth.write_bps);
	}
	pcie_topology_destroy(topology);
	return rc < 0 ? cli_session_report_error(dir, rc) : 0;
}

/* Read all of this machine, without an order. */
static int fetch_here(const char *dir, struct sim_merged_trace *merged)
{
	struct fetch fetch = { .dir_fd = cli_session_open(dir), .dir = dir, .merged = merged };
	int rc = fetch.dir_fd < 0 ? -1 : fetch_all(&fetch);

	if (fetch.dir_fd >= 0)
		close(fetch.dir_fd);
	if (rc < 0 || fetch_cards(dir, merged) < 0)
		return -1;
	merged->begin_unix_ns = unix_ns_of(merged->zero_ns);
	read_boot_id(merged->boot, sizeof(merged->boot));
	return 0;
}

static int fetch_counts(int dir_fd, const char *dir, struct sim_merged_trace *merged)
{
	struct fetch fetch = { .dir_fd = dir_fd, .dir = dir, .counts_only = true, .merged = merged };

	return fetch_all(&fetch);
}

static int sort(struct sim_merged_trace *merged)
{
	return sim_merged_trace_sort(merged) < 0 ? cli_error("out of memory: the trace has too many records") : 0;
}

/* Give the trace to the caller, or free it. */
static int hand_over(int rc, struct sim_merged_trace *merged, struct sim_merged_trace *ret_merged)
{
	if (rc == 0)
		*ret_merged = *merged;
	else
		sim_merged_trace_free(merged);
	return rc;
}

int cli_recordings_fetch_here(const char *dir, struct sim_merged_trace *ret_merged)
{
	struct sim_merged_trace merged = { 0 };
	int rc = fetch_here(dir, &merged);

	return hand_over(rc == 0 ? sort(&merged) : rc, &merged, ret_merged);
}

int cli_recordings_fetch(const char *dir, struct sim_merged_trace *ret_merged)
{
	struct sim_merged_trace merged = { 0 };
	int rc = fetch_here(dir, &merged);

	if (rc == 0)
		rc = cli_far_recordings_add(dir, false, &merged);
	return hand_over(rc == 0 ? sort(&merged) : rc, &merged, ret_merged);
}

int cli_recordings_fetch_counts_here(int dir_fd, const char *dir, struct sim_merged_trace *ret_merged)
{
	struct sim_merged_trace merged = { 0 };

	return hand_over(fetch_counts(dir_fd, dir, &merged), &merged, ret_merged);
}

int cli_recordings_fetch_counts(int dir_fd, const char *dir, struct sim_merged_trace *ret_merged)
{
	struct sim_merged_trace merged = { 0 };
	int rc = fetch_counts(dir_fd, dir, &merged);

	if (rc == 0)
		rc = cli_far_recordings_add(dir, true, &merged);
	return hand_over(rc, &merged, ret_merged);
}
