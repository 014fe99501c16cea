/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of two processes that agree by what the library has, as --check-sync=doca promises: the importer, on the DPU,
 * copies from or to memory of the exporter, on the host, and tells it by a Comch message or a sync event that it did. */
#include "comch_pair.h"

#include "tests/api/graph_util.h"

#include <doca_sync_event.h>

#define BYTES            AREA_BYTES
#define DESCRIPTOR_BYTES 256

/* What the exporter's first message has. */
struct export_offer {
	uint64_t addr;
	uint32_t mmap_len, event_len;
	uint8_t mmap[DESCRIPTOR_BYTES], event[DESCRIPTOR_BYTES];
};

struct end {
	struct side *side;
	const struct racebench_args *args;
	struct comch_actor *actor;
	struct rig *rig;
	struct doca_mmap *mmap;
	struct doca_sync_event *event; /* the importer sets it to 1 */
	struct doca_graph *graph;      /* of the importer, or NULL */
	struct doca_graph_instance *instance;
	struct doca_task *tasks[2]; /* its nodes */
};

static void send_bytes(const struct end *end, const void *bytes, size_t len)
{
	MUST(doca_task_submit(
		doca_comch_task_send_as_task(comch_task(end->actor, end->side->connection, 1, bytes, (uint32_t)len))));
}

static void await_message(struct end *end, uint32_t count)
{
	comch_until(end->side, end->side->num_messages >= count);
}

/* ---- the exporter ---- */

static void share_event(struct end *end, struct export_offer *offer)
{
	const uint8_t *bytes;
	size_t len;

	MUST(doca_sync_event_create(&end->event));
	MUST(doca_sync_event_add_publisher_location_remote_pci(end->event));
	MUST(doca_sync_event_add_subscriber_location_cpu(end->event, end->side->dev));
	MUST(doca_sync_event_start(end->event));
	MUST(doca_sync_event_export_to_remote_pci(end->event, end->side->dev, &bytes, &len));
	CHECK(len <= sizeof(offer->event));
	memcpy(offer->event, bytes, len);
	offer->event_len = (uint32_t)len;
}

static void share(struct end *end)
{
	struct export_offer offer = { .addr = (uintptr_t)end->rig->arena };
	const void *bytes;
	size_t len;
	uint8_t is_supported;

	MUST(doca_mmap_cap_is_export_pci_supported(doca_dev_as_devinfo(end->side->dev), &is_supported));
	end->mmap = rig_make_mmap(end->side->dev, end->rig->arena, BYTES,
				  DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	MUST(doca_mmap_export_pci(end->mmap, end->side->dev, &bytes, &len));
	CHECK(len <= sizeof(offer.mmap));
	memcpy(offer.mmap, bytes, len);
	offer.mmap_len = (uint32_t)len;
	share_event(end, &offer);
	send_bytes(end, &offer, sizeof(offer));
}

static struct end open_exporter(struct side *side, const struct racebench_args *args)
{
	struct end end = { .side = side, .args = args };

	side->is_quiet = true;
	end.actor = comch_call(side);
	end.rig = racebench_rig();
	share(&end);
	return end;
}

/* Tell the importer that it may go on, and wait until it is done. */
static void close_exporter(struct end *end)
{
	comch_send(end->actor, end->side->connection, 2, "touched");
	comch_meet_progressing(end->side);
	MUST(doca_sync_event_stop(end->event));
	MUST(doca_sync_event_destroy(end->event));
	MUST(doca_mmap_destroy(end->mmap));
	rig_close(end->rig);
	comch_end(end->actor);
}

static bool has_copy(const struct end *end)
{
	for (size_t i = 0; i < end->args->len; i++)
		if (end->rig->arena[i] != rig_byte(DST + i))
			return false;
	return true;
}

/* Without a look at the byte: the thread sanitizer remembers the last four accesses. */
static void write_one(void *arg)
{
	const struct end *end = arg;

	end->rig->arena[end->args->at] = rig_byte(end->args->at) ^ 0x55;
}

static void write_memory(struct end *end)
{
	if (end->args->in_other_thread)
		racebench_in_thread(write_one, end);
	else
		write_one(end);
}

#define EXPORTER(name, wait, touch)                                            \
	static void name(struct side *side, const struct racebench_args *args) \
	{                                                                      \
		struct end end = open_exporter(side, args);                    \
                                                                               \
		wait;                                                          \
		touch;                                                         \
		close_exporter(&end);                                          \
	}

EXPORTER(writes_after_message, await_message(&end, 1), write_memory(&end))
EXPORTER(reads_after_message, await_message(&end, 1), racebench_use(has_copy(&end)))
EXPORTER(writes_after_event, MUST(doca_sync_event_wait_gt(end.event, 0, UINT64_MAX)), write_memory(&end))
EXPORTER(reads_after_event, MUST(doca_sync_event_wait_gt(end.event, 0, UINT64_MAX)), racebench_use(has_copy(&end)))

/* ---- the importer ---- */

/* @copy, then one within the process. */
static void submit_graph(struct end *end, struct doca_task *copy)
{
	struct doca_graph_node *first, *second;
	struct rig *rig = end->rig;

	end->graph = graph_new(rig, 1);
	first = ctx_node(end->graph, rig->ctx);
	second = ctx_node(end->graph, rig->ctx);
	follows(end->graph, first, second);
	MUST(doca_graph_start(end->graph));
	end->instance = instance_new(end->graph, 1);
	end->tasks[0] = copy;
	end->tasks[1] = racebench_task(rig, end->args, 2, DST2, SRC2);
	MUST(doca_graph_instance_set_ctx_node_data(end->instance, first, end->tasks[0]));
	MUST(doca_graph_instance_set_ctx_node_data(end->instance, second, end->tasks[1]));
	MUST(doca_graph_instance_submit(end->instance));
}

static void end_graph(struct end *end)
{
	MUST(doca_graph_instance_destroy(end->instance));
	doca_task_free(end->tasks[0]);
	doca_task_free(end->tasks[1]);
	graph_end(end->graph);
}

/* Of the shared memory: @len bytes, of which @data_len are data. */
static struct doca_buf *shared(const struct end *end, const struct export_offer *offer, size_t data_len)
{
	return rig_buf(end->rig, end->mmap, (void *)(uintptr_t)offer->addr, end->args->len, 0, data_len);
}

static void submit_copy(struct end *end, const struct export_offer *offer)
{
	size_t len = end->args->len;
	struct doca_buf *from = end->args->is_delivery ? rig_src(end->rig, DST, len) : shared(end, offer, len);
	struct doca_buf *to = end->args->is_delivery ? shared(end, offer, 0) : rig_dst(end->rig, DST, len);
	struct doca_task *copy = rig_task(end->rig, 1, from, to);

	if (end->args->in_graph)
		submit_graph(end, copy);
	else
		MUST(doca_task_submit(copy));
}

static struct end open_importer(struct side *side, const struct racebench_args *args)
{
	struct end end = { .side = side, .args = args };
	struct export_offer offer;
	uint8_t is_supported;

	side->is_quiet = true;
	end.actor = comch_serve(side);
	end.rig = racebench_rig();
	await_message(&end, 1);
	memcpy(&offer, side->message, sizeof(offer));
	MUST(doca_mmap_cap_is_create_from_export_pci_supported(doca_dev_as_devinfo(end.rig->dev), &is_supported));
	MUST(doca_mmap_create_from_export(NULL, offer.mmap, offer.mmap_len, end.rig->dev, &end.mmap));
	MUST(doca_sync_event_create_from_export(side->dev, offer.event, offer.event_len, &end.event));
	MUST(doca_sync_event_start(end.event));
	submit_copy(&end, &offer);
	return end;
}

static void tell(struct end *end, bool by_event)
{
	if (by_event)
		MUST(doca_sync_event_update_set(end->event, 1));
	else
		comch_send(end->actor, end->side->connection, 1, "done");
}

static void close_importer(struct end *end)
{
	await_message(end, 2); /* the exporter's touch */
	rig_drain(end->rig);
	if (end->graph)
		end_graph(end);
	for (size_t i = 0; i < end->rig->num_bufs; i++)
		MUST(doca_buf_dec_refcount(end->rig->bufs[i], NULL));
	end->rig->num_bufs = 0;
	MUST(doca_sync_event_stop(end->event));
	MUST(doca_sync_event_destroy(end->event));
	MUST(doca_mmap_destroy(end->mmap));
	rig_close(end->rig);
	comch_meet_progressing(end->side);
	comch_end(end->actor);
}

#define IMPORTER(name, wait, by_event)                                         \
	static void name(struct side *side, const struct racebench_args *args) \
	{                                                                      \
		struct end end = open_importer(side, args);                    \
                                                                               \
		wait;                                                          \
		tell(&end, (by_event));                                        \
		close_importer(&end);                                          \
	}

IMPORTER(tells_early_by_message, (void)0, false)
IMPORTER(tells_by_message, rig_drain(end.rig), false)
IMPORTER(tells_early_by_event, (void)0, true)
IMPORTER(tells_by_event, rig_drain(end.rig), true)

/* ---- the table ---- */

#define PROGRAM(name, importer, exporter)                         \
	static void name(const struct racebench_args *args)       \
	{                                                         \
		racebench_run_both((importer), (exporter), args); \
	}

PROGRAM(written_early, tells_early_by_message, writes_after_message)
PROGRAM(written_in_time, tells_by_message, writes_after_message)
PROGRAM(read_early, tells_early_by_message, reads_after_message)
PROGRAM(read_in_time, tells_by_message, reads_after_message)
PROGRAM(written_early_by_event, tells_early_by_event, writes_after_event)
PROGRAM(written_in_time_by_event, tells_by_event, writes_after_event)
PROGRAM(read_early_by_event, tells_early_by_event, reads_after_event)
PROGRAM(read_in_time_by_event, tells_by_event, reads_after_event)

#define P(name, function, ...) RACEBENCH_PROGRAM(agree, name, 2, run, function, __VA_ARGS__)

#define DELIVERY .is_delivery = true
#define GRAPH    .in_graph = true

const struct racebench_program agree_programs[] = {
	P(message_before_fetch_racy, written_early, RACEBENCH_SMALL),
	P(message_before_fetch_64k_racy, written_early, RACEBENCH_BYTES(65536, 65535)),
	P(message_before_fetch_by_thread_racy, written_early, RACEBENCH_SMALL, .in_other_thread = true),
	P(message_before_delivery_racy, read_early, RACEBENCH_SMALL, DELIVERY),
	P(message_before_delivery_64k_racy, read_early, RACEBENCH_LARGE, DELIVERY),
	P(message_before_delivery_written_racy, written_early, RACEBENCH_SMALL, DELIVERY),
	P(event_before_fetch_racy, written_early_by_event, RACEBENCH_SMALL),
	P(event_before_delivery_racy, read_early_by_event, RACEBENCH_SMALL, DELIVERY),
	P(event_before_fetch_64k_racy, written_early_by_event, RACEBENCH_BYTES(65536, 0)),
	P(event_before_delivery_64k_racy, read_early_by_event, RACEBENCH_LARGE, DELIVERY),
	P(message_before_fetch_by_graph_racy, written_early, RACEBENCH_SMALL, GRAPH),
	P(message_before_fetch_by_graph_64k_racy, written_early, RACEBENCH_BYTES(65536, 0), GRAPH),
	P(message_before_delivery_by_graph_racy, read_early, RACEBENCH_SMALL, DELIVERY, GRAPH),
	P(event_before_fetch_by_graph_racy, written_early_by_event, RACEBENCH_SMALL, GRAPH),
	P(event_before_delivery_by_graph_racy, read_early_by_event, RACEBENCH_SMALL, DELIVERY, GRAPH),
	P(message_after_fetch_clean, written_in_time, RACEBENCH_SMALL),
	P(message_after_fetch_64k_clean, written_in_time, RACEBENCH_LARGE),
	P(message_after_fetch_by_thread_clean, written_in_time, RACEBENCH_SMALL, .in_other_thread = true),
	P(message_after_delivery_clean, read_in_time, RACEBENCH_SMALL, DELIVERY),
	P(message_after_delivery_64k_clean, read_in_time, RACEBENCH_LARGE, DELIVERY),
	P(message_after_delivery_written_clean, written_in_time, RACEBENCH_SMALL, DELIVERY),
	P(event_after_fetch_clean, written_in_time_by_event, RACEBENCH_SMALL),
	P(event_after_delivery_clean, read_in_time_by_event, RACEBENCH_SMALL, DELIVERY),
	P(event_after_fetch_64k_clean, written_in_time_by_event, RACEBENCH_LARGE),
	P(event_after_delivery_64k_clean, read_in_time_by_event, RACEBENCH_LARGE, DELIVERY),
	P(message_after_fetch_by_graph_clean, written_in_time, RACEBENCH_SMALL, GRAPH),
	P(message_after_fetch_by_graph_64k_clean, written_in_time, RACEBENCH_LARGE, GRAPH),
	P(message_after_delivery_by_graph_clean, read_in_time, RACEBENCH_SMALL, DELIVERY, GRAPH),
	P(event_after_fetch_by_graph_clean, written_in_time_by_event, RACEBENCH_SMALL, GRAPH),
	P(event_after_delivery_by_graph_clean, read_in_time_by_event, RACEBENCH_SMALL, DELIVERY, GRAPH),
	{ 0 },
};
