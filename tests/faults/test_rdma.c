/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at the tasks of RDMA. Two contexts of one process are connected; three tasks are submitted, and a fault hits the
 * second one. */
#include <bfsim.h>
#include <stdlib.h>

#include "cell.h"
#include "tests/api/rdma_util.h"

#define BYTES 64
#define NUM   3
#define TO    4096 /* where data goes to */
#define WORD  8192 /* an atomic's */

struct rig {
	struct peer *a, *b; /* requester, responder */
};

/* A type of tasks, by its operation in rules. */
struct kind {
	const char *op;
	void (*submit)(const struct rig *rig, int number);
	bool has_message; /* takes a receive of the responder */
	bool moves;       /* bytes of task n go from n * BYTES to TO + n * BYTES */
	bool to_requester;
};

static size_t place(int number)
{
	return (size_t)number * BYTES;
}

static struct doca_buf *source(const struct rig *rig, int number)
{
	return peer_buf(rig->a, place(number), BYTES, BYTES);
}

static struct doca_buf *remote_target(const struct rig *rig, int number)
{
	return peer_remote_buf(rig->a, rig->b, TO + place(number), BYTES, 0);
}

static struct doca_buf *local_target(const struct rig *rig, int number)
{
	return peer_buf(rig->a, TO + place(number), BYTES, 0);
}

static void submit_receive(const struct rig *rig, int number)
{
	peer_receive(rig->b, (uint64_t)number, peer_buf(rig->b, TO + place(number), BYTES, 0));
}

static void submit_send(const struct rig *rig, int number)
{
	peer_send(rig->a, (uint64_t)number, source(rig, number));
}

static void submit_send_imm(const struct rig *rig, int number)
{
	peer_send_imm(rig->a, (uint64_t)number, source(rig, number), 7);
}

static void submit_read(const struct rig *rig, int number)
{
	peer_read(rig->a, (uint64_t)number, peer_remote_buf(rig->a, rig->b, place(number), BYTES, BYTES),
		  local_target(rig, number));
}

static void submit_write(const struct rig *rig, int number)
{
	peer_write(rig->a, (uint64_t)number, source(rig, number), remote_target(rig, number));
}

static void submit_write_imm(const struct rig *rig, int number)
{
	peer_write_imm(rig->a, (uint64_t)number, source(rig, number), remote_target(rig, number), 7);
}

static void submit_cmp_swp(const struct rig *rig, int number)
{
	peer_cmp_swp(rig->a, (uint64_t)number, peer_remote_buf(rig->a, rig->b, WORD, 8, 8), local_target(rig, number),
		     0, 5);
}

static void submit_fetch_add(const struct rig *rig, int number)
{
	peer_fetch_add(rig->a, (uint64_t)number, peer_remote_buf(rig->a, rig->b, WORD, 8, 8), local_target(rig, number),
		       1);
}

static void submit_event_get(const struct rig *rig, int number)
{
	peer_event_get(rig->a, (uint64_t)number, local_target(rig, number));
}

static void submit_event_set(const struct rig *rig, int number)
{
	peer_event_set(rig->a, (uint64_t)number, source(rig, number));
}

static void submit_event_add(const struct rig *rig, int number)
{
	peer_event_add(rig->a, (uint64_t)number, local_target(rig, number), 1);
}

static const struct kind kinds[] = {
	{ .op = "rdma.receive", .submit = submit_receive, .moves = true },
	{ .op = "rdma.send", .submit = submit_send, .has_message = true, .moves = true },
	{ .op = "rdma.send_imm", .submit = submit_send_imm, .has_message = true, .moves = true },
	{ .op = "rdma.read", .submit = submit_read, .moves = true, .to_requester = true },
	{ .op = "rdma.write", .submit = submit_write, .moves = true },
	{ .op = "rdma.write_imm", .submit = submit_write_imm, .has_message = true, .moves = true },
	{ .op = "rdma.cmp_swp", .submit = submit_cmp_swp },
	{ .op = "rdma.fetch_add", .submit = submit_fetch_add },
	{ .op = "rdma.event_get", .submit = submit_event_get },
	{ .op = "rdma.event_set", .submit = submit_event_set },
	{ .op = "rdma.event_add", .submit = submit_event_add },
};

static const struct kind *kind_of_cell(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].op, cell->op) == 0)
			return &kinds[i];
	abort();
}

static struct rig open_rig(const struct kind *kind)
{
	struct rig rig = { peer_open(0, RDMA_ALL_ACCESS), peer_open(0, RDMA_ALL_ACCESS) };

	rig.a->may_be_refused = rig.b->may_be_refused = cell_is("refuse") || cell_is("fail");
	peer_start(rig.a);
	peer_start(rig.b);
	peers_connect(rig.a, rig.b);
	peer_share_event(rig.b, rig.a);
	for (int number = 1; number <= NUM; number++) {
		memset(rig.a->arena + place(number), number, BYTES);
		memset(rig.b->arena + place(number), number, BYTES);
		if (kind->has_message)
			submit_receive(&rig, number);
	}
	return rig;
}

/* ---- what is expected ---- */

static bool is_receive(const struct kind *kind)
{
	return kind->submit == submit_receive;
}

static bool is_send(const struct kind *kind)
{
	return kind->submit == submit_send || kind->submit == submit_send_imm;
}

static void add_line(char *text, const struct kind *kind, int number, const char *outcome)
{
	sprintf(text + strlen(text), "%s %d %s\n", kind->op + strlen("rdma."), number, outcome);
}

static void add_success(char *text, const struct kind *kind, int number)
{
	add_line(text, kind, number, is_receive(kind) ? "done: 64 bytes by SEND" : "done");
}

/* The lines before the context stops, after those of the submission. A failed request takes its connection along, which then
 * refuses tasks; a message fails later, as it waits for the one before it, but for a submission so late that the engine's thread
 * has come first. Of a failed receive the connection goes on. */
static void expected_trace(char *text, const struct kind *kind, const char *submission)
{
	bool is_last = cell_is("hang") && !is_receive(kind), refuses_last = cell_is("fail") && !is_receive(kind);

	if (kind->has_message)
		refuses_last = refuses_last && strstr(submission, " 3 refused") != NULL;
	text[0] = '\0';
	if (cell_is("refuse"))
		add_line(text, kind, 2, "refused");
	if (refuses_last)
		add_line(text, kind, 3, "refused");
	add_success(text, kind, 1);
	if (cell_is("fail"))
		add_line(text, kind, 2, "failed: DOCA_ERROR_TIME_OUT");
	else if (!cell_is("refuse") && !cell_is("hang"))
		add_success(text, kind, 2);
	if (cell_is("fail") && kind->has_message && !refuses_last)
		add_line(text, kind, 3, "failed: DOCA_ERROR_IO_FAILED");
	else if (!is_last && (!cell_is("fail") || is_receive(kind)))
		add_success(text, kind, 3);
}

/* How far task 2 got: the bytes that have arrived, and bits that are wrong. The task may own the bytes: sanitizers are not to
 * report the accesses. */
static __attribute__((no_sanitize("address", "thread"))) void expect_data(const struct rig *rig,
									  const struct kind *kind)
{
	const uint8_t *to = (kind->to_requester ? rig->a : rig->b)->arena + TO + place(2);
	int arrived = 0, wrong_bits = 0;

	for (int i = 0; i < BYTES; i++) {
		arrived += to[i] == 2;
		wrong_bits += __builtin_popcount(to[i] ^ 2);
	}
	if (cell_is("fail"))
		CHECK(arrived == (is_receive(kind) ? BYTES : is_send(kind) ? 0 : BYTES / 4));
	else if (cell_is("flip"))
		CHECK(wrong_bits == 1);
	else if (cell_is("delay"))
		CHECK(wrong_bits == 0);
}

static void expect_trace(struct peer *peer, const char *expected)
{
	if (strcmp(peer->trace, expected) != 0)
		check_fail(__FILE__, __LINE__, cell->op, peer->trace, expected);
	peer->trace[0] = '\0';
}

static void progress(const struct rig *rig)
{
	peers_progress(rig->a, rig->b);
}

/* ---- the cells ---- */

static void rdma_dpu(struct side *side)
{
	const struct kind *kind = kind_of_cell();
	struct rig rig = open_rig(kind);
	struct peer *hit = is_receive(kind) ? rig.b : rig.a;
	int num_messages = cell_is("refuse") ? NUM - 1 : NUM;
	uint64_t begin_ns = bfsim_now_ns();
	char expected[1024];

	cell_arm();
	for (int number = 1; number <= NUM; number++)
		kind->submit(&rig, number);
	for (int number = 1; is_receive(kind) && number <= num_messages; number++)
		submit_send(&rig, number);
	expected_trace(expected, kind, hit->trace);
	while (strlen(hit->trace) < strlen(expected) && cell_since_ns(begin_ns) < 60000000000u)
		progress(&rig);
	if (cell_is("delay"))
		CHECK(cell_since_ns(begin_ns) >= CELL_DELAY_NS);
	while (cell_is("hang") && cell_since_ns(begin_ns) < CELL_DELAY_NS / 5)
		progress(&rig);
	expect_trace(hit, expected);
	cell_expect_hit();
	if (kind->moves)
		expect_data(&rig, kind);
	peer_stop(hit);
	expected[0] = '\0';
	if (cell_is("hang"))
		add_line(expected, kind, 2, "failed: DOCA_ERROR_IO_FAILED");
	if (cell_is("hang") && !is_receive(kind))
		add_line(expected, kind, 3, "failed: DOCA_ERROR_IO_FAILED");
	expect_trace(hit, expected);
	peer_close(rig.a);
	peer_close(rig.b);
}

#define CELL(op, act, rest)                                        \
	{                                                          \
		op, act, rest, rdma_dpu, comch_nothing, NULL, NULL \
	}
#define CELLS(op, moved)                                                                   \
	CELL(op, "refuse", "nth=2 refuse"), CELL(op, "fail", "nth=2 fail=TIME_OUT" moved), \
		CELL(op, "hang", "nth=2 hang"), CELL(op, "delay", "nth=2 delay=500ms")
#define FLIP(op) CELL(op, "flip", "nth=2 flip=1")

static const struct cell cells[] = {
	CELLS("rdma.receive", ""),
	FLIP("rdma.receive"),
	CELLS("rdma.send", ""),
	CELLS("rdma.send_imm", ""),
	CELLS("rdma.read", " moved=25%"),
	FLIP("rdma.read"),
	CELLS("rdma.write", " moved=25%"),
	FLIP("rdma.write"),
	CELLS("rdma.write_imm", " moved=25%"),
	FLIP("rdma.write_imm"),
	CELLS("rdma.cmp_swp", ""),
	CELLS("rdma.fetch_add", ""),
	CELLS("rdma.event_get", ""),
	CELLS("rdma.event_set", ""),
	CELLS("rdma.event_add", ""),
};

int main(void)
{
	return cell_run("rdma", cells, sizeof(cells) / sizeof(cells[0]));
}
