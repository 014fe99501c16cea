/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that talks to its kernels by MsgQs, with the kernels of tests/api; it prints each message and completion, with its time.
 *
 *   dpa_msgq_worker dialogue|polled|waits|copy|stop|threads|all [ROUNDS]
 */
#include <doca_clock.h>
#include <doca_comch_consumer.h>
#include <doca_comch_msgq.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_sync_event.h>
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "open.h"
#include "tests/api/dpa/msgq_kernels.h"

extern struct doca_dpa_app *dpa_msgq_app;
doca_dpa_func_t post_receives, send_bytes, take_sent, copy_and_tell, echo, rests, answer_polled;

enum { DEPTH = 4, IMM_BYTES = 32, COPY_BYTES = 4096, FLUSH = 1 };

static struct doca_clock *card_clock;

#define RPC(function, ...)                                             \
	({                                                             \
		uint64_t value_ = 0;                                   \
		OK(doca_dpa_rpc(dpa, function, &value_, __VA_ARGS__)); \
		value_;                                                \
	})

static uint64_t now_ns(void)
{
	union doca_clock_timespec_t now;

	OK(doca_clock_get_timestamp(card_clock, DOCA_CLOCK_NIC_FREE_RUNNING, &now));
	return (uint64_t)now.ts.tv_sec * 1000000000 + (uint64_t)now.ts.tv_nsec;
}

/* ---- two MsgQs, and a DPA thread that answers by the one what comes by the other ---- */

struct rig {
	const char *name;
	struct doca_pe *pe;
	struct doca_dpa_thread *thread;
	doca_dpa_dev_uintptr_t args;
	struct doca_comch_consumer_completion *taken;
	struct doca_dpa_completion *sent;
	struct doca_comch_msgq *to_dpa, *from_dpa;
	struct doca_comch_consumer *dpa_consumer, *cpu_consumer;
	struct doca_comch_producer *dpa_producer, *cpu_producer;
	uint32_t dpa_consumer_id;
	struct echo_args handles;
	unsigned long num_submitted, num_sent, num_received, num_flushed;
	bool uses_thread, reposts;
};

static void say(const struct rig *rig, const char *what, unsigned long number)
{
	printf("%s %" PRIu64 ": %s %lu\n", rig->name, now_ns(), what, number);
}

static void on_sent(struct doca_comch_producer_task_send *task, union doca_data data, union doca_data ctx_data)
{
	struct rig *rig = ctx_data.ptr;

	(void)data;
	say(rig, "sent", ++rig->num_sent);
	doca_task_free(doca_comch_producer_task_send_as_task(task));
}

static void on_send_error(struct doca_comch_producer_task_send *task, union doca_data data, union doca_data ctx_data)
{
	struct rig *rig = ctx_data.ptr;

	(void)data;
	say(rig, "not sent", ++rig->num_flushed);
	doca_task_free(doca_comch_producer_task_send_as_task(task));
}

static void on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data data, union doca_data ctx_data)
{
	struct rig *rig = ctx_data.ptr;
	const uint8_t *imm = doca_comch_consumer_task_post_recv_get_imm_data(task);

	(void)data;
	rig->num_received++;
	say(rig, "received", imm[0]);
	if (rig->reposts)
		OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	else
		doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void on_receive_error(struct doca_comch_consumer_task_post_recv *task, union doca_data data,
			     union doca_data ctx_data)
{
	struct rig *rig = ctx_data.ptr;

	(void)data;
	say(rig, "flushed", ++rig->num_flushed);
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void start(struct rig *rig, struct doca_ctx *ctx)
{
	OK(doca_ctx_set_user_data(ctx, (union doca_data){ .ptr = rig }));
	OK(doca_pe_connect_ctx(rig->pe, ctx));
	OK(doca_ctx_start(ctx));
}

static void start_on_dpa(struct doca_ctx *ctx)
{
	OK(doca_ctx_set_datapath_on_dpa(ctx, dpa));
	OK(doca_ctx_start(ctx));
}

static void open_to_dpa(struct rig *rig)
{
	OK(doca_comch_msgq_create(dev, &rig->to_dpa));
	OK(doca_comch_msgq_set_dpa_consumer(rig->to_dpa, dpa));
	OK(doca_comch_msgq_start(rig->to_dpa));
	OK(doca_comch_msgq_consumer_create(rig->to_dpa, &rig->dpa_consumer));
	OK(doca_comch_consumer_set_imm_data_len(rig->dpa_consumer, IMM_BYTES));
	OK(doca_comch_consumer_set_completion(rig->dpa_consumer, rig->taken, 0));
	OK(doca_comch_consumer_set_dev_max_num_recv(rig->dpa_consumer, DEPTH));
	start_on_dpa(doca_comch_consumer_as_ctx(rig->dpa_consumer));
	OK(doca_comch_consumer_get_dpa_handle(rig->dpa_consumer, &rig->handles.consumer));
	OK(doca_comch_consumer_get_id(rig->dpa_consumer, &rig->dpa_consumer_id));
	OK(doca_comch_msgq_producer_create(rig->to_dpa, &rig->cpu_producer));
	OK(doca_comch_producer_task_send_set_conf(rig->cpu_producer, on_sent, on_send_error, DEPTH));
	start(rig, doca_comch_producer_as_ctx(rig->cpu_producer));
}

static void open_from_dpa(struct rig *rig)
{
	OK(doca_comch_msgq_create(dev, &rig->from_dpa));
	OK(doca_comch_msgq_set_dpa_producer(rig->from_dpa, dpa));
	OK(doca_comch_msgq_start(rig->from_dpa));
	OK(doca_comch_msgq_consumer_create(rig->from_dpa, &rig->cpu_consumer));
	OK(doca_comch_consumer_set_imm_data_len(rig->cpu_consumer, IMM_BYTES));
	OK(doca_comch_consumer_task_post_recv_set_conf(rig->cpu_consumer, on_received, on_receive_error, DEPTH));
	start(rig, doca_comch_consumer_as_ctx(rig->cpu_consumer));
	OK(doca_comch_consumer_get_id(rig->cpu_consumer, &rig->handles.consumer_id));
	OK(doca_comch_msgq_producer_create(rig->from_dpa, &rig->dpa_producer));
	OK(doca_comch_producer_set_dev_max_num_send(rig->dpa_producer, 2 * DEPTH));
	OK(doca_comch_producer_dpa_completion_attach(rig->dpa_producer, rig->sent));
	start_on_dpa(doca_comch_producer_as_ctx(rig->dpa_producer));
	OK(doca_comch_producer_get_dpa_handle(rig->dpa_producer, &rig->handles.producer));
}

/* @uses_thread: messages run the DPA thread from now on. */
static void open_rig(struct rig *rig, const char *name, bool uses_thread)
{
	*rig = (struct rig){ .name = name, .uses_thread = uses_thread };
	OK(doca_pe_create(&rig->pe));
	OK(doca_dpa_mem_alloc(dpa, sizeof(rig->handles), &rig->args));
	OK(doca_dpa_thread_create(dpa, &rig->thread));
	OK(doca_dpa_thread_set_func_arg(rig->thread, echo, rig->args));
	OK(doca_dpa_thread_start(rig->thread));
	OK(doca_comch_consumer_completion_create(&rig->taken));
	OK(doca_comch_consumer_completion_set_max_num_recv(rig->taken, DEPTH));
	OK(doca_comch_consumer_completion_set_imm_data_len(rig->taken, IMM_BYTES));
	OK(doca_comch_consumer_completion_set_dpa_thread(rig->taken, rig->thread));
	OK(doca_comch_consumer_completion_start(rig->taken));
	OK(doca_comch_consumer_completion_get_dpa_handle(rig->taken, &rig->handles.consumer_completion));
	OK(doca_dpa_completion_create(dpa, 4 * DEPTH, &rig->sent));
	OK(doca_dpa_completion_start(rig->sent));
	OK(doca_dpa_completion_get_dpa_handle(rig->sent, &rig->handles.producer_completion));
	open_to_dpa(rig);
	open_from_dpa(rig);
	OK(doca_dpa_h2d_memcpy(dpa, rig->args, &rig->handles, sizeof(rig->handles)));
	if (uses_thread)
		OK(doca_dpa_thread_run(rig->thread));
}

static void stop(struct rig *rig, struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STOPPING;
	doca_error_t result = doca_ctx_stop(ctx);

	if (result != DOCA_ERROR_IN_PROGRESS)
		OK(result);
	while (OK(doca_ctx_get_state(ctx, &state)), state != DOCA_CTX_STATE_IDLE)
		doca_pe_progress(rig->pe);
}

/* The DPA thread uses the DPA's ends up to its reschedule, of which the second call is sure. */
static void close_rig(struct rig *rig)
{
	for (unsigned i = 0; rig->uses_thread && i < 2; i++)
		while (!RPC(rests, rig->args))
			continue;
	stop(rig, doca_comch_producer_as_ctx(rig->cpu_producer));
	stop(rig, doca_comch_producer_as_ctx(rig->dpa_producer));
	stop(rig, doca_comch_consumer_as_ctx(rig->cpu_consumer));
	stop(rig, doca_comch_consumer_as_ctx(rig->dpa_consumer));
	OK(doca_comch_producer_destroy(rig->cpu_producer));
	OK(doca_comch_producer_destroy(rig->dpa_producer));
	OK(doca_comch_consumer_destroy(rig->cpu_consumer));
	OK(doca_comch_consumer_destroy(rig->dpa_consumer));
	OK(doca_comch_msgq_stop(rig->to_dpa));
	OK(doca_comch_msgq_stop(rig->from_dpa));
	OK(doca_comch_msgq_destroy(rig->to_dpa));
	OK(doca_comch_msgq_destroy(rig->from_dpa));
	OK(doca_comch_consumer_completion_destroy(rig->taken));
	OK(doca_dpa_completion_destroy(rig->sent));
	OK(doca_dpa_thread_destroy(rig->thread));
	OK(doca_dpa_mem_free(dpa, rig->args));
	OK(doca_pe_destroy(rig->pe));
}

static void post(struct rig *rig, unsigned num)
{
	struct doca_comch_consumer_task_post_recv *task;

	while (num--) {
		OK(doca_comch_consumer_task_post_recv_alloc_init(rig->cpu_consumer, NULL, &task));
		OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
	}
}

/* Wait for a task, and then for a receive of the kernel. */
static void send(struct rig *rig, uint8_t number)
{
	struct doca_comch_producer_task_send *task;
	doca_error_t result;

	while (rig->num_submitted == rig->num_sent + DEPTH)
		doca_pe_progress(rig->pe);
	rig->num_submitted++;
	OK(doca_comch_producer_task_send_alloc_init(rig->cpu_producer, NULL, &number, 1, rig->dpa_consumer_id, &task));
	while ((result = doca_task_submit(doca_comch_producer_task_send_as_task(task))) == DOCA_ERROR_AGAIN)
		doca_pe_progress(rig->pe);
	OK(result);
}

static void progress_until(struct rig *rig, const unsigned long *count, unsigned long value)
{
	while (*count < value)
		doca_pe_progress(rig->pe);
}

/* ---- what runs ---- */

static void send_all(struct rig *rig, unsigned long rounds)
{
	rig->reposts = true;
	post(rig, DEPTH);
	for (unsigned long i = 0; i < rounds; i++)
		send(rig, (uint8_t)i);
	progress_until(rig, &rig->num_received, rounds);
	progress_until(rig, &rig->num_sent, rounds);
}

/* Messages run a DPA thread, faster than it posts receives. */
static void run_dialogue(unsigned long rounds)
{
	struct rig rig;

	open_rig(&rig, "dialogue", true);
	RPC(post_receives, rig.handles.consumer, (uint32_t)DEPTH);
	send_all(&rig, rounds);
	close_rig(&rig);
}

static struct doca_sync_event *open_event(void)
{
	struct doca_sync_event *event;

	OK(doca_sync_event_create(&event));
	OK(doca_sync_event_add_publisher_location_cpu(event, dev));
	OK(doca_sync_event_add_publisher_location_dpa(event, dpa));
	OK(doca_sync_event_add_subscriber_location_cpu(event, dev));
	OK(doca_sync_event_start(event));
	return event;
}

/* A kernel that polls posts the receives, and answers. */
static void run_polled(unsigned long rounds)
{
	struct doca_sync_event *end = open_event();
	struct rig rig;

	open_rig(&rig, "polled", false);
	OK(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, end, 1, 1, answer_polled, rig.args, (uint64_t)DEPTH,
					     (uint64_t)rounds));
	send_all(&rig, rounds);
	OK(doca_sync_event_wait_gt(end, 0, UINT64_MAX));
	close_rig(&rig);
	OK(doca_sync_event_destroy(end));
}

/* Messages of kernels wait for receives. */
static void run_waits(unsigned long rounds)
{
	struct rig rig;

	open_rig(&rig, "waits", false);
	for (unsigned long i = 0; i < rounds; i++) {
		unsigned long before = rig.num_received;

		for (uint32_t len = 1; len <= DEPTH; len++)
			RPC(send_bytes, rig.handles.producer, rig.handles.consumer_id, len, (uint32_t)FLUSH);
		for (uint32_t len = 1; len <= DEPTH; len++) {
			post(&rig, 1);
			say(&rig, "completion", (unsigned long)(RPC(take_sent, rig.handles.producer_completion) >> 32));
			progress_until(&rig, &rig.num_received, before + len);
		}
	}
	close_rig(&rig);
}

static struct doca_mmap *open_map(void *memory)
{
	struct doca_mmap *map;

	OK(doca_mmap_create(&map));
	OK(doca_mmap_add_dev(map, dev));
	OK(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	OK(doca_mmap_set_memrange(map, memory, COPY_BYTES));
	OK(doca_mmap_start(map));
	return map;
}

static void run_copy(unsigned long rounds)
{
	static uint8_t from[COPY_BYTES], to[COPY_BYTES];
	struct doca_mmap *source = open_map(from), *target = open_map(to);
	struct copy_args args = { .dst = (uintptr_t)to, .src = (uintptr_t)from };
	struct rig rig;

	OK(doca_mmap_dev_get_dpa_handle(source, dev, &args.src_map));
	OK(doca_mmap_dev_get_dpa_handle(target, dev, &args.dst_map));
	open_rig(&rig, "copy", false);
	rig.reposts = true;
	post(&rig, DEPTH);
	for (unsigned long i = 0; i < rounds; i++) {
		memset(from, (int)i + 1, sizeof(from));
		args.len = 64 * (i % 64 + 1);
		RPC(copy_and_tell, rig.handles.producer, rig.handles.consumer_id, args);
		progress_until(&rig, &rig.num_received, i + 1);
		say(&rig, "copied", to[args.len - 1]);
		RPC(take_sent, rig.handles.producer_completion);
	}
	close_rig(&rig);
	OK(doca_mmap_destroy(source));
	OK(doca_mmap_destroy(target));
}

/* Both ends of this processor stop with tasks under way, and kernels meet what is gone. */
static void run_stop(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++) {
		struct rig rig;

		open_rig(&rig, "stop", true);
		RPC(post_receives, rig.handles.consumer, (uint32_t)DEPTH);
		post(&rig, DEPTH);
		for (unsigned long j = 0; j < i % DEPTH + 1; j++)
			send(&rig, (uint8_t)j);
		progress_until(&rig, &rig.num_received, i % 2);
		stop(&rig, doca_comch_producer_as_ctx(rig.cpu_producer));
		say(&rig, "producer stopped, received", rig.num_received);
		stop(&rig, doca_comch_consumer_as_ctx(rig.cpu_consumer));
		say(&rig, "consumer stopped, received", rig.num_received);
		close_rig(&rig);
	}
}

/* ---- two threads ---- */

struct second {
	unsigned long rounds;
	uint64_t producer;
	uint32_t consumer_id;
	sem_t is_open;
	struct doca_sync_event *end;
};

/* Its first message comes from a kernel that the first thread calls. */
static void *run_second(void *arg)
{
	struct second *second = arg;
	struct rig rig;

	open_rig(&rig, "second", true);
	rig.reposts = true;
	post(&rig, DEPTH);
	second->producer = rig.handles.producer;
	second->consumer_id = rig.handles.consumer_id;
	sem_post(&second->is_open);
	progress_until(&rig, &rig.num_received, 1);
	RPC(post_receives, rig.handles.consumer, (uint32_t)DEPTH);
	for (unsigned long i = 0; i < second->rounds; i++)
		send(&rig, (uint8_t)i);
	progress_until(&rig, &rig.num_received, second->rounds + 1);
	progress_until(&rig, &rig.num_sent, second->rounds);
	close_rig(&rig);
	OK(doca_sync_event_update_set(second->end, 1));
	return NULL;
}

static void run_threads(unsigned long rounds)
{
	struct second second = { .rounds = rounds };
	struct rig rig;
	pthread_t thread;

	sem_init(&second.is_open, 0, 0);
	second.end = open_event();
	open_rig(&rig, "first", true);
	if (pthread_create(&thread, NULL, run_second, &second) != 0)
		exit(1);
	sem_wait(&second.is_open);
	RPC(post_receives, rig.handles.consumer, (uint32_t)DEPTH);
	RPC(send_bytes, second.producer, second.consumer_id, UINT32_C(1), (uint32_t)FLUSH);
	send_all(&rig, rounds);
	OK(doca_sync_event_wait_gt(second.end, 0, UINT64_MAX));
	pthread_join(thread, NULL);
	close_rig(&rig);
	OK(doca_sync_event_destroy(second.end));
	sem_destroy(&second.is_open);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(unsigned long rounds);
	} runs[] = { { "dialogue", run_dialogue }, { "polled", run_polled }, { "waits", run_waits },
		     { "copy", run_copy },         { "stop", run_stop },     { "threads", run_threads } };
	const char *what = argc > 1 ? argv[1] : "all";
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 8;

	open_dpa(dpa_msgq_app);
	OK(doca_clock_create(dev, &card_clock));
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		if (strcmp(what, runs[i].name) == 0 || strcmp(what, "all") == 0)
			runs[i].run(rounds);
	OK(doca_dpa_destroy(dpa));
	OK(doca_clock_destroy(card_clock));
	OK(doca_dev_close(dev));
	return 0;
}
