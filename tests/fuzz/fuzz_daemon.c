/* SPDX-License-Identifier: BSD-3-Clause */
/* Any messages of up to eight processes to the card's daemon: the daemon neither
 * crashes nor leaks, sends only valid messages, and has no state left when all
 * connections are closed. The daemon's loop runs here, step by step, on a real
 * directory and real sockets.
 *
 * The input is a list of commands, each of four bytes and its data:
 *
 *   CONNECT  conn  -     -      close the connection, if any, and connect
 *   ATTACH   conn  side  -      as host (even) or dpu (odd)
 *   SAY      conn  type  flags  a message of that type; its body follows
 *   RAW      conn  len   -      that many bytes as a packet follow
 *   LISTEN   conn  -     -      receive the daemon's messages; store exported keys
 *   HANG_UP  conn  -     -
 *
 * Seeds are in corpus/daemon.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz_input.h"
#include "sim/base/log.h"
#include "sim/daemon/daemon_priv.h"
#include "sim/protocol/session_dir.h"

#define MAX_CONNS  8
#define MAX_KEYS   16
#define MAX_STEPS  64 /* in a row: more, and the daemon would be busy with itself */
#define HEAD_BYTES offsetof(struct sim_msg, body)

enum order { CONNECT, ATTACH, SAY, RAW, LISTEN, HANG_UP, NUM_ORDERS };

enum flags {
	IS_REPLY = 1,
	WITH_FD = 2,
	KNOWN_KEY = 4,   /* the body's key, if it has one, is a real one */
	LAST_SEQ = 8,    /* the number of the last request that the daemon made */
	IS_KEY_SEQ = 16, /* the number is a key's, as in replies to GONE */
	OFFERED = 4,     /* numbers of a channel refer to the channel offered last */
	FUNCTIONS = 16,  /* of LISTEN and CONNECT: ones that fit each other, and a short name */
	THREE_FDS = 64,  /* with WITH_FD: three of them */
};

static char dir[] = "/tmp/bfsim-fuzz-XXXXXX";

static struct {
	struct daemon daemon;
	int socks[MAX_CONNS];
	struct sim_key keys[MAX_KEYS];
	unsigned int num_keys;
	uint64_t last_seq, last_offer;
	const uint8_t *data;
	size_t left;
} fuzz;

static void quiet(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
}

static int num_fds(void)
{
	DIR *open_fds = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(open_fds))
		count++;
	closedir(open_fds);
	return count;
}

static void run_daemon(void)
{
	int steps = 0;

	while (!fuzz.daemon.stop && daemon_step(&fuzz.daemon, 0) > 0)
		promise(++steps < MAX_STEPS);
}

static void take(void *to, size_t len)
{
	size_t got = len < fuzz.left ? len : fuzz.left;

	memset(to, 0, len);
	memcpy(to, fuzz.data, got);
	fuzz.data += got;
	fuzz.left -= got;
}

static void close_connection(unsigned int conn)
{
	if (fuzz.socks[conn] >= 0)
		close(fuzz.socks[conn]);
	fuzz.socks[conn] = -1;
}

static void connect_as(unsigned int conn)
{
	close_connection(conn);
	fuzz.socks[conn] = sim_session_dir_connect(fuzz.daemon.dir_fd);
	promise(fuzz.socks[conn] >= 0);
	fcntl(fuzz.socks[conn], F_SETFL, O_NONBLOCK);
}

static void say(unsigned int conn, struct sim_msg *msg, uint32_t num_fds)
{
	static const int fds[] = { STDERR_FILENO, STDERR_FILENO, STDERR_FILENO };

	if (fuzz.socks[conn] >= 0 && sim_msg_size(msg->type, msg->is_reply) > 0)
		sim_msg_send_fds(fuzz.socks[conn], msg, fds, num_fds);
}

static void attach(unsigned int conn, uint8_t side)
{
	struct sim_msg msg = { .type = SIM_MSG_ATTACH, .body.attach = { .pid = getpid() } };

	strcpy(msg.body.attach.side, side & 1 ? "dpu" : "host");
	say(conn, &msg, 0);
}

/* Put a real key where this kind of message has one. */
static void use_known_key(struct sim_msg *msg)
{
	const struct sim_key *key = fuzz.num_keys ? &fuzz.keys[msg->body.key.id % fuzz.num_keys] : NULL;

	if (!key)
		return;
	if (msg->type == SIM_MSG_IMPORT)
		msg->body.import.key = *key;
	else if (msg->type != SIM_MSG_ATTACH && msg->type != SIM_MSG_EXPORT)
		msg->body.key.id = key->id;
}

/* Few numbers, so that they often mean something. */
static void name_channel(struct sim_msg *msg, uint8_t flags)
{
	if (msg->type == SIM_MSG_LISTEN) {
		msg->body.listen.number %= 4;
		if (flags & FUNCTIONS) {
			msg->body.listen.rep = 2 + (msg->body.listen.function %= 2);
			msg->body.listen.name[1] = '\0';
		}
	} else if (msg->type == SIM_MSG_CONNECT) {
		msg->body.connect.number %= 4;
		if (flags & FUNCTIONS) {
			msg->body.connect.function = 2 + msg->body.connect.function % 2;
			msg->body.connect.name[1] = '\0';
			msg->body.connect.handshake.len_bytes %= SIM_HANDSHAKE_MSG_SIZE + 1;
			msg->body.connect.handshake.num_fds = !(flags & WITH_FD) ? 0 : flags & THREE_FDS ? 3 : 1;
		}
	} else if (msg->type == SIM_MSG_ACCEPT || msg->type == SIM_MSG_HANDSHAKE) {
		msg->body.handshake.number = flags & OFFERED ? fuzz.last_offer : msg->body.handshake.number % 4;
	} else if (msg->type >= SIM_MSG_LISTEN) {
		msg->body.channel.number = flags & OFFERED ? fuzz.last_offer : msg->body.channel.number % 4;
	}
}

static void say_what_follows(unsigned int conn, uint16_t type, uint8_t flags)
{
	struct sim_msg msg = { .type = type % SIM_MSG_COUNT, .is_reply = flags & IS_REPLY };
	size_t size = sim_msg_size(msg.type, msg.is_reply);

	if (size > HEAD_BYTES)
		take(&msg.body, size - HEAD_BYTES);
	if (msg.type >= SIM_MSG_LISTEN)
		name_channel(&msg, flags);
	else if (flags & KNOWN_KEY)
		use_known_key(&msg);
	if (flags & LAST_SEQ)
		msg.seq = fuzz.last_seq;
	if (flags & IS_KEY_SEQ && fuzz.num_keys)
		msg.seq = fuzz.keys[flags / 32 % fuzz.num_keys].id;
	say(conn, &msg, !(flags & WITH_FD) ? 0 : flags & THREE_FDS ? 3 : 1);
}

static void say_raw(unsigned int conn, uint8_t len)
{
	uint8_t bytes[UINT8_MAX];

	take(bytes, len);
	if (fuzz.socks[conn] >= 0)
		send(fuzz.socks[conn], bytes, len, MSG_NOSIGNAL);
}

static void note(const struct sim_msg *msg)
{
	if (msg->type == SIM_MSG_OFFER)
		fuzz.last_offer = msg->body.handshake.number;
	else if (!msg->is_reply)
		fuzz.last_seq = msg->seq;
	else if (msg->type == SIM_MSG_EXPORT && msg->status == 0)
		fuzz.keys[fuzz.num_keys++ % MAX_KEYS] = msg->body.exported;
	if (fuzz.num_keys > MAX_KEYS)
		fuzz.num_keys = MAX_KEYS;
}

static bool carries_letter(const struct sim_msg *msg)
{
	return !msg->is_reply &&
	       (msg->type == SIM_MSG_OFFER || msg->type == SIM_MSG_ACCEPT || msg->type == SIM_MSG_HANDSHAKE);
}

static const struct sim_msg_handshake *letter_of(const struct sim_msg *msg)
{
	return &msg->body.handshake.msg;
}

static void listen_to(unsigned int conn)
{
	struct sim_msg msg;
	struct sim_fds fds;
	int rc = 0;

	while (fuzz.socks[conn] >= 0 && rc == 0) {
		rc = sim_msg_recv_fds(fuzz.socks[conn], &msg, &fds);
		promise(rc == 0 || rc == -EAGAIN || rc == -EPIPE);
		if (rc < 0)
			return;
		note(&msg);
		promise(!carries_letter(&msg) || sim_handshake_msg_check(letter_of(&msg), &fds) == 0);
		sim_fds_close(&fds);
	}
}

static void execute(void)
{
	uint8_t order[4];
	unsigned int conn;

	take(order, sizeof(order));
	conn = order[1] % MAX_CONNS;
	switch ((enum order)(order[0] % NUM_ORDERS)) {
	case CONNECT:
		connect_as(conn);
		break;
	case ATTACH:
		attach(conn, order[2]);
		break;
	case SAY:
		say_what_follows(conn, order[2], order[3]);
		break;
	case RAW:
		say_raw(conn, order[2]);
		break;
	case LISTEN:
		listen_to(conn);
		break;
	case HANG_UP:
		close_connection(conn);
		break;
	case NUM_ORDERS:
		break;
	}
}

static void no_peer(void *arg, uint32_t peer, const struct sim_peer_info *info, uint32_t exports, uint32_t imports)
{
	promise(false);
}

static void no_service(void *arg, uint32_t peer, const struct sim_service *service)
{
	promise(false);
}

static void no_channel(void *arg, const struct sim_channel_info *channel)
{
	promise(false);
}

static void expect_all_forgotten(void)
{
	const struct daemon *daemon = &fuzz.daemon;

	promise(TAILQ_EMPTY(&daemon->conns) && TAILQ_EMPTY(&daemon->unreleased) && LIST_EMPTY(&daemon->revocations) &&
		LIST_EMPTY(&daemon->describe_requests));
	for (uint32_t i = 0; i < daemon->num_shared_objects; i++)
		promise(daemon->shared_objects[i].fd < 0);
	sim_card_each_peer(daemon->card, no_peer, NULL);
	sim_services_each_service(daemon->services, no_service, NULL);
	sim_services_each_channel(daemon->services, no_channel, NULL);
}

static void remove_dir(void)
{
	rmdir(dir);
}

/* All processes here are this program: rules that kill or stop processes are disabled. */
static int spare(int pidfd, int signal)
{
	promise(pidfd >= 0 && signal > 0);
	return 0;
}

static void live(void)
{
}

static void wake(const struct daemon *daemon, uint64_t ns)
{
	promise(daemon == &fuzz.daemon && ns > 0);
}

static void no_resumer(int pidfd, struct resumer *resumer)
{
}

static const struct daemon_process_ops no_process_ops = {
	.send_signal = spare, .start_resumer = no_resumer, .kill_daemon = live, .pause_daemon = wake
};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	sim_log_set_sink(quiet);
	promise(mkdtemp(dir) != NULL);
	atexit(remove_dir);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sim_daemon_cfg cfg = { .dir = dir, .ready_fd = -1 };
	int before = num_fds();

	memset(&fuzz, 0, sizeof(fuzz));
	promise(daemon_open(&fuzz.daemon, &cfg) == 0);
	fuzz.daemon.process_ops = &no_process_ops;
	fuzz.data = data;
	fuzz.left = size;
	for (int i = 0; i < MAX_CONNS; i++)
		fuzz.socks[i] = -1;
	while (fuzz.left > 0 && !fuzz.daemon.stop) {
		execute();
		run_daemon();
	}
	for (unsigned int i = 0; i < MAX_CONNS; i++) {
		listen_to(i);
		close_connection(i);
	}
	run_daemon();
	if (!fuzz.daemon.stop)
		expect_all_forgotten();
	daemon_close(&fuzz.daemon);
	promise(num_fds() == before);
	return 0;
}
