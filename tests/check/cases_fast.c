/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rule about Comch's producers. The consumer is a process of its own, on the DPU. */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include <bfsim.h>

#include "cases.h"
#include "tests/api/comch_fast.h"

#define DPU_DEVICE   "03:00.0"
#define HOST_DEVICE  "b1:00.0"
#define POSTED_BYTES 64
#define IMM_BYTES    4

static struct side open_side(struct bfsim_session *session, bool is_dpu, int socket)
{
	struct side side = { .is_dpu = is_dpu, .is_busy = true, .is_quiet = true, .sync_fd = socket };

	CHECK(bfsim_session_enter(session, is_dpu ? "dpu" : "host") == 0);
	side.dev = comch_open(is_dpu ? DPU_DEVICE : HOST_DEVICE);
	if (is_dpu)
		side.rep = comch_open_rep(side.dev, HOST_DEVICE);
	MUST(doca_pe_create(&side.pe));
	comch_meet(&side);
	return side;
}

static void close_side(struct side *side)
{
	MUST(doca_pe_destroy(side->pe));
	if (side->is_dpu)
		MUST(doca_dev_rep_close(side->rep));
	MUST(doca_dev_close(side->dev));
}

/* Post one buffer; stay until the producer has ended. */
static void consume(struct bfsim_session *session, int socket)
{
	struct side side = open_side(session, true, socket);
	struct fast fast = { .endpoint = comch_serve(&side), .arena = arena_open(side.dev) };

	fast.actor = fast_consumer(&side, side.connection, fast.arena, &fast.consumer);
	MUST(doca_comch_consumer_set_imm_data_len(fast.consumer, IMM_BYTES));
	fast_start(fast.actor);
	fast_post(fast.consumer, 1, arena_empty(fast.arena, 0, POSTED_BYTES));
	comch_sync_send(&side, 0);
	(void)comch_sync_recv_progressing(&side);
	fast_close(&fast);
	close_side(&side);
	exit(0);
}

static pid_t start_consumer(struct bfsim_session *session, const int *sockets)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(sockets[0]);
	consume(session, sockets[1]);
	return 0;
}

/* Send a message of so many bytes, and this immediate data, in a session of its own. */
static void send_message(size_t len, const char *imm, doca_error_t wanted)
{
	static const char text[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0";
	struct bfsim_session *session;
	struct doca_buf *buf;
	struct side side;
	struct fast fast;
	int sockets[2], status;
	pid_t consumer;

	CHECK(bfsim_session_start(NULL, &session) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
	consumer = start_consumer(session, sockets);
	close(sockets[1]);
	side = open_side(session, false, sockets[0]);
	fast_open_host(&fast, &side);
	(void)comch_sync_recv_progressing(&side);
	buf = arena_text(fast.arena, 0, text + sizeof(text) - 1 - len);
	EXPECT(fast_try(fast.producer, 1, buf, imm, fast.peer), wanted);
	if (wanted == DOCA_SUCCESS)
		comch_until(&side, side.num_sent == 1);
	else
		MUST(doca_buf_dec_refcount(buf, NULL));
	comch_sync_send(&side, 0);
	fast_close(&fast);
	close_side(&side);
	CHECK(waitpid(consumer, &status, 0) == consumer && status == 0);
	CHECK(bfsim_session_stop(session) == 0);
}

static void send_too_long(void)
{
	send_message(POSTED_BYTES + 1, NULL, DOCA_ERROR_INVALID_VALUE);
}

static void send_too_long_immediate(void)
{
	send_message(POSTED_BYTES, "12345", DOCA_ERROR_INVALID_VALUE);
}

static void send_what_fits(void)
{
	send_message(POSTED_BYTES, "1234", DOCA_SUCCESS);
}

const struct check_case fast_cases[] = {
	{ "message-does-not-fit", send_too_long, send_what_fits },
	{ "message-does-not-fit@immediate", send_too_long_immediate, send_what_fits },
	{ 0 },
};
