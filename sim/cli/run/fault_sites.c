/* SPDX-License-Identifier: BSD-3-Clause */
/* Collecting sites from recordings. */
#include "fault_sites.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pcie_model/arith.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/trace/recordings.h"
#include "sim/trace/task_kinds.h"

static const struct {
	const char *kind;
	enum sim_op op;
} task_ops[] = {
	{ SIM_TASK_DMA_MEMCPY, SIM_OP_DMA_MEMCPY },
	{ SIM_TASK_COMCH_SEND, SIM_OP_COMCH_SEND },
	{ SIM_TASK_COMCH_PRODUCER_SEND, SIM_OP_COMCH_PRODUCER_SEND },
	{ SIM_TASK_COMCH_CONSUMER_RECV, SIM_OP_COMCH_CONSUMER_RECV },
	{ SIM_TASK_SYNC_SET, SIM_OP_SYNC_EVENT_UPDATE },
	{ SIM_TASK_SYNC_ADD, SIM_OP_SYNC_EVENT_UPDATE },
	{ SIM_TASK_SYNC_WAIT_EQ, SIM_OP_SYNC_EVENT_WAIT },
	{ SIM_TASK_SYNC_WAIT_NEQ, SIM_OP_SYNC_EVENT_WAIT },
	{ SIM_TASK_SYNC_WAIT_GT, SIM_OP_SYNC_EVENT_WAIT },
	{ SIM_TASK_SHA_HASH, SIM_OP_SHA_HASH },
	{ SIM_TASK_SHA_PARTIAL_HASH, SIM_OP_SHA_PARTIAL_HASH },
	{ SIM_TASK_COMPRESS_DEFLATE, SIM_OP_COMPRESS_DEFLATE },
	{ SIM_TASK_DECOMPRESS_DEFLATE, SIM_OP_DECOMPRESS_DEFLATE },
	{ SIM_TASK_DECOMPRESS_LZ4_STREAM, SIM_OP_DECOMPRESS_LZ4_STREAM },
	{ SIM_TASK_DECOMPRESS_LZ4_BLOCK, SIM_OP_DECOMPRESS_LZ4_BLOCK },
	{ SIM_TASK_EC_GALOIS_MUL, SIM_OP_EC_GALOIS_MUL },
	{ SIM_TASK_EC_CREATE, SIM_OP_EC_CREATE },
	{ SIM_TASK_EC_UPDATE, SIM_OP_EC_UPDATE },
	{ SIM_TASK_EC_RECOVER, SIM_OP_EC_RECOVER },
	{ SIM_TASK_AES_GCM_ENCRYPT, SIM_OP_AES_GCM_ENCRYPT },
	{ SIM_TASK_AES_GCM_DECRYPT, SIM_OP_AES_GCM_DECRYPT },
};

static enum sim_op op_of_task(const char *kind)
{
	for (size_t i = 0; i < sizeof(task_ops) / sizeof(task_ops[0]); i++)
		if (strcmp(task_ops[i].kind, kind) == 0)
			return task_ops[i].op;
	return SIM_OP_COUNT;
}

/* Sites without an operation of rules, or without one that was done, are none. */
static int add_site(struct cli_fault_sites *sites, const struct cli_fault_site *site)
{
	struct cli_fault_site *list;

	if (site->op == SIM_OP_COUNT || site->count == 0)
		return 0;
	list = reallocarray(sites->list, sites->count + 1, sizeof(*list));
	if (!list)
		return cli_error("out of memory");
	sites->list = list;
	list[sites->count] = *site;
	list[sites->count++].min_bytes = UINT64_MAX;
	return 0;
}

static int add_tasks(struct cli_fault_sites *sites, uint32_t i)
{
	const struct sim_trace_recording *recording = &sites->merged.recordings[i];

	for (uint32_t n = 0; n < recording->num_ops; n++) {
		const struct sim_trace_op *op = &recording->ops[n];
		const struct cli_fault_site site = { .recording = i,
						     .op = op_of_task(sim_trace_name_of(recording, op->name)),
						     .kind = SIM_TRACE_TASK,
						     .subject = n + 1,
						     .object = op->object,
						     .count = op->submitted };

		if (add_site(sites, &site) < 0)
			return -1;
	}
	return 0;
}

/* Connections of Comch belong to a context, those of Comm Channel to none. */
static int add_objects(struct cli_fault_sites *sites, uint32_t i)
{
	const struct sim_trace_recording *recording = &sites->merged.recordings[i];

	for (uint32_t n = 0; n < recording->num_objects; n++) {
		const struct sim_trace_object *object = &recording->objects[n];
		bool is_comch = object->parent != 0;
		struct cli_fault_site site = { .recording = i, .subject = n + 1, .object = n + 1 };
		int rc;

		if (object->kind == SIM_TRACE_CONTEXT) {
			site.op = SIM_OP_CTX_START;
			site.kind = SIM_TRACE_OPENED; /* has no size */
			site.count = max_u64(object->num_uses, 1);
			rc = add_site(sites, &site);
		} else {
			site.op = is_comch ? SIM_OP_COUNT : SIM_OP_COMM_CHANNEL_SEND; /* Comch sends by tasks */
			site.kind = SIM_TRACE_SENT;
			site.count = object->sent;
			rc = add_site(sites, &site);
			site.op = is_comch ? SIM_OP_COMCH_RECV : SIM_OP_COMM_CHANNEL_RECV;
			site.kind = SIM_TRACE_RECEIVED;
			site.count = object->received;
			rc = rc < 0 ? rc : add_site(sites, &site);
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

static const struct cli_fault_site *site_of(const struct cli_fault_sites *sites, const struct sim_trace_event *event)
{
	for (size_t i = 0; i < sites->count; i++) {
		const struct cli_fault_site *site = &sites->list[i];

		if (site->recording == event->process && site->kind == event->kind && site->subject == event->subject)
			return site;
	}
	return NULL;
}

static uint64_t bytes_of(const struct sim_trace_event *event)
{
	return event->kind == SIM_TRACE_TASK ? event->data.task.bytes : event->data.message.bytes;
}

void cli_fault_sites_look_for_size(struct cli_fault_sites *sites, uint64_t min_bytes, uint64_t max_bytes)
{
	for (size_t i = 0; i < sites->count; i++)
		sites->list[i].has_size = false;
	for (size_t i = 0; i < sites->merged.num_events; i++) {
		const struct sim_trace_event *event = &sites->merged.events[i];
		const struct cli_fault_site *found = site_of(sites, event);
		struct cli_fault_site *site = found ? &sites->list[found - sites->list] : NULL;

		if (!site)
			continue;
		site->min_bytes = min_u64(site->min_bytes, bytes_of(event));
		site->max_bytes = max_u64(site->max_bytes, bytes_of(event));
		site->has_size |= bytes_of(event) >= min_bytes && bytes_of(event) <= max_bytes;
	}
}

static int fetch(const char *dir, struct cli_fault_sites *sites)
{
	if (cli_recordings_fetch(dir, &sites->merged) < 0)
		return -1;
	sites->topology = cli_topology_of_session(dir);
	return sites->topology ? 0 : -1;
}

int cli_fault_sites_init(const char *dir, struct cli_fault_sites *ret_sites)
{
	struct cli_fault_sites sites = { 0 };
	int rc = fetch(dir, &sites);

	for (uint32_t i = 0; rc == 0 && i < sites.merged.num_recordings; i++)
		rc = add_tasks(&sites, i) < 0 ? -1 : add_objects(&sites, i);
	if (rc < 0)
		cli_fault_sites_fini(&sites);
	else
		*ret_sites = sites;
	return rc;
}

void cli_fault_sites_fini(struct cli_fault_sites *sites)
{
	sim_merged_trace_free(&sites->merged);
	pcie_topology_destroy(sites->topology);
	free(sites->list);
	*sites = (struct cli_fault_sites){ 0 };
}
