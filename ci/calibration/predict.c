/* SPDX-License-Identifier: BSD-3-Clause */
/* What pcie_model predicts for a measurement: asked by ci/calibrate, one line in, one line out.
 *
 *   predict PROFILE KEY=VALUE...   ->  PERIOD_PS LATENCY_PS   (per job, in the long run)
 *   rdma PROFILE KEY=VALUE...      ->  PERIOD_PS LATENCY_PS   (of one connection; latency: up to the arrival of a write
 *                                      or send, up to the end of a read or atomic operation)
 *   comch PROFILE                  ->  ONE_WAY_PS
 *   set PROFILE CONSTANT VALUE     ->  ok                     (until the program ends)
 *
 * Keys of predict: direction (read, write, local), issuer (cpu, dpa), bytes, other (bytes of every second job),
 * window (jobs that each queue has in flight), queues (each with an issuer of its
 * own), quiet (1: ends are reported together), before (64-byte reads whose end the
 * issuer waits for before each job), sends (control messages that one core sends per
 * job, for all queues), gen and lanes (another host link than the profile's).
 *
 * Keys of rdma: op (send, write, read, atomic), bytes, window, mtu, inline (the most bytes that a request holds), loop (1:
 * both ends at one port).
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcie_model/profile.h"

enum {
	MAX_PROFILES = 8,
	MAX_QUEUES = 32,
	MAX_WINDOW = 1024,
	ROUNDS = 6, /* windows that are gone through; the first half is to warm up */
};

static struct pcie_profile profiles[MAX_PROFILES]; /* copies: constants may be set */
static size_t num_profiles;

static const struct constant {
	const char *name;
	size_t offset;
} constants[] = {
	{ "cpu-submit-ps", offsetof(struct pcie_profile, engine.issuers[PCIE_ISSUER_CPU].submit_ps) },
	{ "cpu-report-ps", offsetof(struct pcie_profile, engine.issuers[PCIE_ISSUER_CPU].report_ps) },
	{ "dpa-submit-ps", offsetof(struct pcie_profile, engine.issuers[PCIE_ISSUER_DPA].submit_ps) },
	{ "dpa-accept-ps", offsetof(struct pcie_profile, engine.issuers[PCIE_ISSUER_DPA].accept_ps) },
	{ "accept-ps", offsetof(struct pcie_profile, engine.accept_ps) },
	{ "complete-ps", offsetof(struct pcie_profile, engine.complete_ps) },
	{ "channel-fs-per-byte", offsetof(struct pcie_profile, engine.channel_fs_per_byte) },
	{ "read-gap-ps", offsetof(struct pcie_profile, engine.read.gap_ps) },
	{ "read-fs-per-byte", offsetof(struct pcie_profile, engine.read.fs_per_byte) },
	{ "write-fs-per-byte", offsetof(struct pcie_profile, engine.write.fs_per_byte) },
	{ "local-fs-per-byte", offsetof(struct pcie_profile, engine.local.fs_per_byte) },
	{ "comch-send-ps", offsetof(struct pcie_profile, comch_timing.send_ps) },
	{ "comch-one-way-ps", offsetof(struct pcie_profile, comch_timing.one_way_ps) },
	{ "rdma-request-ps", offsetof(struct pcie_profile, rdma_timing.request_ps) },
	{ "rdma-fetch-ps", offsetof(struct pcie_profile, rdma_timing.fetch_ps) },
	{ "rdma-port-ps", offsetof(struct pcie_profile, rdma_timing.port_ps) },
	{ "rdma-respond-ps", offsetof(struct pcie_profile, rdma_timing.respond_ps) },
	{ "rdma-complete-ps", offsetof(struct pcie_profile, rdma_timing.complete_ps) },
	{ "rdma-read-fs-per-byte", offsetof(struct pcie_profile, rdma_timing.read_fs_per_byte) },
	{ "rdma-loop-fs-per-byte", offsetof(struct pcie_profile, rdma_timing.loop_fs_per_byte) },
};

struct question {
	struct pcie_link link;
	struct pcie_job job;
	uint64_t window, queues, before, sends;
	uint64_t other_bytes; /* of every second job; 0 = all have the same */
};

struct answer {
	uint64_t period_ps, latency_ps;
};

/* One queue in a closed loop: a job is submitted when there is room in the window. */
struct loop {
	struct pcie_queue_state state;
	uint64_t done_ps[MAX_WINDOW];   /* of the last jobs, in turns */
	uint64_t last_done_ps;          /* jobs of a queue are reaped in order */
	uint64_t submit_ps, arrival_ps; /* of the next one */
	uint64_t num_jobs;
};

static struct loop loops[MAX_QUEUES];

static void prepare_next(const struct pcie_profile *profile, const struct question *question, uint64_t before_ps,
			 struct loop *loop)
{
	uint64_t room_ps = loop->num_jobs < question->window ? 0 : loop->done_ps[loop->num_jobs % question->window];

	uint64_t now_ps = room_ps > loop->state.submit_ps ? room_ps : loop->state.submit_ps;

	loop->submit_ps = room_ps;
	loop->arrival_ps = pcie_queue_submit(&profile->engine, &question->job, now_ps + before_ps, &loop->state);
}

static struct loop *first_to_arrive(uint64_t num)
{
	struct loop *first = &loops[0];

	for (uint64_t i = 1; i < num; i++) {
		if (loops[i].arrival_ps < first->arrival_ps)
			first = &loops[i];
	}
	return first;
}

/* Returns when the job was done. */
static uint64_t run_next(const struct pcie_profile *profile, const struct question *question, struct loop *loop,
			 struct pcie_engine_state *engine, struct pcie_link_state *link)
{
	struct pcie_job job = question->job;
	struct pcie_times times;

	if (question->other_bytes && loop->num_jobs % 2)
		job.bytes = question->other_bytes;
	pcie_engine_run(&profile->engine, &question->link, &job, loop->arrival_ps, engine, link, &times);
	if (times.done_ps > loop->last_done_ps)
		loop->last_done_ps = times.done_ps;
	loop->done_ps[loop->num_jobs++ % question->window] = loop->last_done_ps;
	return loop->last_done_ps;
}

static struct answer predict(const struct pcie_profile *profile, const struct question *question)
{
	const struct pcie_job probe = { .direction = PCIE_READ, .bytes = 64, .issuer = PCIE_ISSUER_CPU };
	uint64_t before_ps = question->before * pcie_engine_unloaded_ps(&profile->engine, &question->link, &probe);
	uint64_t half = question->queues * (question->window * ROUNDS / 2 + 16);
	uint64_t half_ps = 0, end_ps = 0, latencies_ps = 0;
	struct pcie_engine_state engine = { 0 };
	struct pcie_link_state link = { 0 };
	struct answer answer;

	memset(loops, 0, sizeof(loops));
	for (uint64_t i = 0; i < question->queues; i++)
		prepare_next(profile, question, before_ps, &loops[i]);
	for (uint64_t i = 0; i < 2 * half; i++) {
		struct loop *loop = first_to_arrive(question->queues);
		uint64_t done_ps = run_next(profile, question, loop, &engine, &link);

		end_ps = done_ps > end_ps ? done_ps : end_ps;
		if (i < half)
			half_ps = end_ps;
		else
			latencies_ps += done_ps - loop->submit_ps;
		prepare_next(profile, question, before_ps, loop);
	}
	answer.period_ps = (end_ps - half_ps) / half;
	answer.latency_ps = latencies_ps / half;
	if (answer.period_ps < question->sends * profile->comch_timing.send_ps)
		answer.period_ps = question->sends * profile->comch_timing.send_ps;
	return answer;
}

static int complain(const char *what, const char *word)
{
	printf("error: %s \"%s\"\n", what, word ? word : "");
	return -EINVAL;
}

static struct pcie_profile *find_profile(const char *name)
{
	for (size_t i = 0; name && i < num_profiles; i++) {
		if (strcmp(profiles[i].name, name) == 0)
			return &profiles[i];
	}
	complain("there is no profile", name);
	return NULL;
}

static int take_direction(const char *text, struct pcie_job *job)
{
	static const char *const names[] = { [PCIE_READ] = "read", [PCIE_WRITE] = "write", [PCIE_LOCAL] = "local" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], text) == 0) {
			job->direction = (enum pcie_direction)i;
			return 0;
		}
	}
	return complain("there is no direction", text);
}

/* "KEY=VALUE" */
static int take_pair(char *pair, struct question *question)
{
	char *text = strchr(pair, '=');
	uint64_t number;

	if (!text)
		return complain("this is no KEY=VALUE:", pair);
	*text++ = '\0';
	number = strtoull(text, NULL, 10);
	if (strcmp(pair, "direction") == 0)
		return take_direction(text, &question->job);
	if (strcmp(pair, "issuer") == 0)
		question->job.issuer = strcmp(text, "dpa") == 0 ? PCIE_ISSUER_DPA : PCIE_ISSUER_CPU;
	else if (strcmp(pair, "bytes") == 0)
		question->job.bytes = number;
	else if (strcmp(pair, "other") == 0)
		question->other_bytes = number;
	else if (strcmp(pair, "quiet") == 0)
		question->job.unsignaled = number > 0;
	else if (strcmp(pair, "window") == 0)
		question->window = number;
	else if (strcmp(pair, "queues") == 0)
		question->queues = number;
	else if (strcmp(pair, "before") == 0)
		question->before = number;
	else if (strcmp(pair, "sends") == 0)
		question->sends = number;
	else if (strcmp(pair, "gen") == 0)
		question->link.generation = (uint32_t)number;
	else if (strcmp(pair, "lanes") == 0)
		question->link.lanes = (uint32_t)number;
	else
		return complain("there is no key", pair);
	return 0;
}

static void do_predict(char **rest)
{
	const struct pcie_profile *profile = find_profile(strtok_r(NULL, " \n", rest));
	struct question question = { .window = 1, .queues = 1 };
	struct answer answer;
	char *pair;

	if (!profile)
		return;
	question.link = profile->link;
	while ((pair = strtok_r(NULL, " \n", rest))) {
		if (take_pair(pair, &question) < 0)
			return;
	}
	if (pcie_link_config_error(&question.link) || pcie_engine_config_error(&profile->engine) ||
	    question.job.bytes > PCIE_LINK_MAX_BYTES || question.other_bytes > PCIE_LINK_MAX_BYTES ||
	    question.window < 1 || question.window > MAX_WINDOW || question.queues < 1 ||
	    question.queues > MAX_QUEUES) {
		complain("out of range, for the profile", profile->name);
		return;
	}
	answer = predict(profile, &question);
	printf("%llu %llu\n", (unsigned long long)answer.period_ps, (unsigned long long)answer.latency_ps);
}

/* ---- RDMA ---- */

struct rdma_question {
	struct pcie_rdma_timing timing;
	struct pcie_net_request request;
	uint64_t window, mtu, loop;
};

static int take_op(const char *text, struct pcie_net_request *request)
{
	static const char *const names[] = { [PCIE_NET_SEND] = "send",
					     [PCIE_NET_WRITE] = "write",
					     [PCIE_NET_READ] = "read",
					     [PCIE_NET_ATOMIC] = "atomic" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], text) == 0) {
			request->op = (enum pcie_net_op)i;
			return 0;
		}
	}
	return complain("there is no operation", text);
}

static int take_rdma_pair(char *pair, struct rdma_question *question)
{
	char *text = strchr(pair, '=');
	uint64_t number;

	if (!text)
		return complain("this is no KEY=VALUE:", pair);
	*text++ = '\0';
	number = strtoull(text, NULL, 10);
	if (strcmp(pair, "op") == 0)
		return take_op(text, &question->request);
	if (strcmp(pair, "bytes") == 0)
		question->request.bytes = number;
	else if (strcmp(pair, "window") == 0)
		question->window = number;
	else if (strcmp(pair, "mtu") == 0)
		question->mtu = number;
	else if (strcmp(pair, "inline") == 0)
		question->timing.max_inline_bytes = (uint32_t)number;
	else if (strcmp(pair, "loop") == 0)
		question->loop = number;
	else
		return complain("there is no key", pair);
	return 0;
}

/* One connection in a closed loop, on an idle network. */
static struct answer predict_rdma(const struct rdma_question *question)
{
	static struct pcie_net_state state;
	const struct pcie_rdma_timing *timing = &question->timing;
	bool has_data = question->request.op == PCIE_NET_SEND || question->request.op == PCIE_NET_WRITE;
	struct pcie_net_connection connection = { .requester = timing, .responder = timing };
	struct pcie_queue_state issuer = { 0 };
	struct pcie_net_flow flow = { 0 };
	uint64_t done_ps[MAX_WINDOW] = { 0 };
	uint64_t half = question->window * ROUNDS / 2 + 16;
	uint64_t half_ps = 0, latencies_ps = 0;
	struct pcie_net_times times = { 0 };

	memset(&state, 0, sizeof(state));
	if (question->loop) {
		pcie_net_loop_path(timing, 0, &connection.there);
		pcie_net_loop_path(timing, 1, &connection.back);
	} else {
		pcie_net_default_path(timing, timing, 0, timing->rate_bps, 1, timing->rate_bps, &connection.there);
		pcie_net_default_path(timing, timing, 2, timing->rate_bps, 3, timing->rate_bps, &connection.back);
	}
	connection.there.mtu_bytes = connection.back.mtu_bytes = (uint32_t)question->mtu;
	for (uint64_t i = 0; i < 2 * half; i++) {
		uint64_t submit_ps = done_ps[i % question->window];

		pcie_net_run(&connection, &question->request, pcie_net_submit(timing, submit_ps, &issuer), &flow,
			     &state, &times);
		done_ps[i % question->window] = times.done_ps;
		if (i < half)
			half_ps = times.done_ps;
		else
			latencies_ps += (has_data ? times.arrived_ps : times.done_ps) - submit_ps;
	}
	return (struct answer){ .period_ps = (times.done_ps - half_ps) / half, .latency_ps = latencies_ps / half };
}

static void do_rdma(char **rest)
{
	const struct pcie_profile *profile = find_profile(strtok_r(NULL, " \n", rest));
	struct rdma_question question = { .window = 1, .mtu = 1024 };
	struct answer answer;
	char *pair;

	if (!profile)
		return;
	question.timing = profile->rdma_timing;
	while ((pair = strtok_r(NULL, " \n", rest))) {
		if (take_rdma_pair(pair, &question) < 0)
			return;
	}
	if (question.request.bytes > PCIE_LINK_MAX_BYTES || question.window < 1 || question.window > MAX_WINDOW ||
	    question.mtu < 1 || question.mtu > UINT32_MAX) {
		complain("out of range, for the profile", profile->name);
		return;
	}
	answer = predict_rdma(&question);
	printf("%llu %llu\n", (unsigned long long)answer.period_ps, (unsigned long long)answer.latency_ps);
}

static void do_comch(char **rest)
{
	const struct pcie_profile *profile = find_profile(strtok_r(NULL, " \n", rest));

	if (profile)
		printf("%llu\n", (unsigned long long)profile->comch_timing.one_way_ps);
}

static void do_set(char **rest)
{
	struct pcie_profile *profile = find_profile(strtok_r(NULL, " \n", rest));
	const char *name = strtok_r(NULL, " \n", rest), *value = strtok_r(NULL, " \n", rest);

	for (size_t i = 0; profile && name && value && i < sizeof(constants) / sizeof(constants[0]); i++) {
		if (strcmp(constants[i].name, name) == 0) {
			*(uint64_t *)((char *)profile + constants[i].offset) = strtoull(value, NULL, 10);
			puts("ok");
			return;
		}
	}
	if (profile)
		complain("there is no constant", name);
}

int main(void)
{
	const struct pcie_profile *const *all = pcie_profile_all(&num_profiles);
	char line[512];

	if (num_profiles > MAX_PROFILES)
		num_profiles = MAX_PROFILES;
	for (size_t i = 0; i < num_profiles; i++)
		profiles[i] = *all[i];
	while (fgets(line, sizeof(line), stdin)) {
		char *rest, *verb = strtok_r(line, " \n", &rest);

		if (verb && strcmp(verb, "predict") == 0)
			do_predict(&rest);
		else if (verb && strcmp(verb, "rdma") == 0)
			do_rdma(&rest);
		else if (verb && strcmp(verb, "comch") == 0)
			do_comch(&rest);
		else if (verb && strcmp(verb, "set") == 0)
			do_set(&rest);
		else
			complain("there is no request", verb);
		fflush(stdout);
	}
	return 0;
}
