/* SPDX-License-Identifier: BSD-3-Clause */
/* A hostile importer on the paths shm and tcp: it has a connection to an exporter, and writes anything into the ring or
 * the stream. Strangers connect to each port that listens on the loopback interface meanwhile, and send garbage or
 * nothing. The exporter goes on to serve an honest importer. */
#include "hostile.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"

#define TURNS       200
#define REPLY_MS    5000
#define STRANGER_MS 100

static const char *const served_paths[] = { "shm", "tcp", NULL };

int attack_call_with(int sock, struct sim_msg *msg, int fd, int *ret_fd)
{
	uint64_t seq = msg->seq = 7;

	*ret_fd = -1;
	if (sim_msg_send(sock, msg, fd) < 0)
		return -1;
	do
		if (!proc_readable_within(sock, REPLY_MS) || sim_msg_recv(sock, msg, ret_fd) < 0)
			return -1;
	while (!msg->is_reply || msg->seq != seq);
	return msg->status;
}

/* The importer's end of a connection to the exporter of @key, or -1. */
static int open_connection(const struct bout *bout, const uint8_t *descriptor, size_t len, int *ret_sock,
			   struct sim_grant *ret_grant)
{
	struct sim_msg msg = { .type = SIM_MSG_ATTACH, .body.attach.pid = getpid() };
	int dir_fd = sim_session_dir_open(bout->dir, false), fd;
	uint8_t session[SIM_SESSION_ID_SIZE];
	struct sim_key key;

	*ret_sock = sim_session_dir_connect(dir_fd);
	close(dir_fd);
	strcpy(msg.body.attach.side, "dpu");
	if (attack_call_with(*ret_sock, &msg, -1, &fd) != 0)
		return -1;
	close(fd);
	memcpy(session, msg.body.attached.session, sizeof(session));
	if (sim_descriptor_decode(session, descriptor, len, &key) != 0)
		return -1;
	msg = (struct sim_msg){ .type = SIM_MSG_IMPORT, .body.import = { .key = key } };
	if (attack_call_with(*ret_sock, &msg, -1, &fd) != 0)
		return -1;
	msg = (struct sim_msg){ .type = SIM_MSG_DESCRIBE,
				.body.describe = { .id = key.id,
						   .transport = strcmp(bout->path, "tcp") == 0 ? SIM_TRANSPORT_TCP :
												 SIM_TRANSPORT_SHM,
						   .connect = 1 } };
	if (attack_call_with(*ret_sock, &msg, -1, &fd) != 0)
		return -1;
	*ret_grant = msg.body.described;
	return fd;
}

/* As target and link lay out a request: half of them name the memory truly. */
struct request {
	struct sim_grant grant;
	uint64_t offset;
	uint32_t len_bytes, is_write;
};

static void make_request(struct bout *bout, const struct sim_grant *grant, struct request *request)
{
	for (size_t i = 0; i < sizeof(*request); i++)
		((uint8_t *)request)[i] = (uint8_t)bout_random(bout, 256);
	if (bout_random(bout, 2))
		request->grant = *grant;
	if (bout_random(bout, 2))
		request->offset = bout_random(bout, 300000);
	if (bout_random(bout, 2))
		request->len_bytes = (uint32_t)bout_random(bout, 300000);
	request->is_write = 0; /* a permitted write would change bytes that the honest importer checks */
}

/* The stream: requests, noise, and replies that are not read. A request that is cut short does not name the memory: its
 * end, the next request's grant, would make it a permitted write. Returns false after a request that the socket cut. */
static bool write_stream(struct bout *bout, int sock, const struct sim_grant *grant)
{
	struct request request;
	char unread[4096];
	size_t len = sizeof(request);
	ssize_t sent;

	fcntl(sock, F_SETFL, fcntl(sock, F_GETFL) | O_NONBLOCK);
	make_request(bout, grant, &request);
	if (!bout_random(bout, 4)) {
		len = bout_random(bout, sizeof(request));
		memset(request.grant.secret, 0, sizeof(request.grant.secret));
	}
	sent = send(sock, &request, len, MSG_NOSIGNAL);
	if (bout_random(bout, 2))
		recv(sock, unread, sizeof(unread), 0);
	return sent < 0 || (size_t)sent == len;
}

/* The ring: requests in all of it, and the counters of both ends. */
static void scribble(struct bout *bout, const struct sim_grant *grant, uint8_t *ring, size_t len)
{
	struct request request;
	size_t head = len < 8192 ? len : 4096;

	make_request(bout, grant, &request);
	for (size_t at = 256; at + sizeof(request) + 8 <= head; at += 64)
		if (bout_random(bout, 2))
			memcpy(ring + at, &request, sizeof(request));
	for (int i = 0; i < 4; i++)
		*(uint32_t *)(void *)(ring + 64 * bout_random(bout, 4)) =
			(uint32_t)bout_random(bout, 1u << 31) >> bout_random(bout, 31);
}

static int receive_ring(int sock)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr packet = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	int fd = -1;

	if (proc_readable_within(sock, REPLY_MS) && recvmsg(sock, &packet, 0) > 0 && CMSG_FIRSTHDR(&packet))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&packet)), sizeof(fd));
	return fd;
}

static void write_ring(struct bout *bout, int sock, const struct sim_grant *grant)
{
	int fd = receive_ring(sock);
	struct stat st;
	uint8_t *ring;

	CHECK(fd >= 0 && fstat(fd, &st) == 0);
	CHECK(ftruncate(fd, 0) < 0); /* sealed */
	ring = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(ring != MAP_FAILED);
	for (int i = 0; i < TURNS; i++) {
		scribble(bout, grant, ring, (size_t)st.st_size);
		send(sock, "x", bout_random(bout, 2), MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

static int misuse_connection(struct bout *bout, int sock)
{
	uint8_t descriptor[4096];
	size_t len = role_read_descriptor(sock, descriptor, sizeof(descriptor));
	struct sim_grant grant;
	int daemon, fd = open_connection(bout, descriptor, len, &daemon, &grant);

	if (fd >= 0 && strcmp(bout->path, "tcp") == 0)
		for (int i = 0; i < TURNS && write_stream(bout, fd, &grant); i++)
			;
	else if (fd >= 0)
		write_ring(bout, fd, &grant);
	if (fd >= 0)
		bout->tally->tried += TURNS;
	else
		return ROLE_WRONG;
	if (role_copy_from(bout, descriptor, len, 30) != ROLE_DONE)
		return ROLE_WRONG; /* the exporter does not serve any more */
	return ROLE_DONE;
}

/* ---- strangers ---- */

/* Connect to the port of a line of /proc/net/tcp, if it listens on the loopback interface. */
static void visit(struct bout *bout, const char *line)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	unsigned int ip, port, state;
	int sock;

	if (sscanf(line, " %*u: %x:%x %*x:%*x %x", &ip, &port, &state) != 3 || state != 10 ||
	    ip != htonl(INADDR_LOOPBACK) || port < 1024)
		return;
	addr.sin_port = htons((uint16_t)port);
	sock = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connect(sock, (struct sockaddr *)&addr, sizeof(addr)) == 0 && bout_random(bout, 2))
		send(sock, line, strlen(line), MSG_NOSIGNAL);
	if (bout_random(bout, 2))
		close(sock); /* else it stays half open until this process ends */
}

static int visit_ports(struct bout *bout, int unused)
{
	int64_t end = proc_now_ms() + STRANGER_MS;
	char line[256];
	FILE *ports;

	while (proc_now_ms() < end && (ports = fopen("/proc/net/tcp", "r"))) {
		while (fgets(line, sizeof(line), ports))
			visit(bout, line);
		fclose(ports);
	}
	return ROLE_REFUSED;
}

static void attack_connections(struct bout *bout)
{
	int socks[2];

	bout_session(bout);
	bout_pair(socks);
	if (strcmp(bout->path, "tcp") == 0)
		bout_start(bout, "stranger", "host", visit_ports, -1);
	bout_start(bout, "exporter", "host", role_exporter, socks[0]);
	bout_start(bout, "hostile importer", "dpu", misuse_connection, socks[1]);
	close(socks[0]);
	close(socks[1]);
}

const struct attack attack_connection = { "connection", served_paths, 60, 4, attack_connections };
