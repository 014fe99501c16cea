/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands that reach into another machine: packets between sockets here and frames. */
#include "reach.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/base/watch.h"
#include "sim/protocol/wire.h"
#include "sim/control/reach.h"

#define MAX_EVENTS   16
#define PACKET_BYTES (1 + SIM_REACH_MAX_BYTES)
#define LOST_BYTES   (1 + sizeof(int32_t))
#define GRANT_BYTES  (REACH_WINDOW / 4)
#define OF_CLIENT    1           /* a of a frame: its sender has the command, not the helper */
#define HELPER_GRACE 4000000000u /* for a helper to end its programs */
#define MAX_PASSED   8           /* packets of one socket in a turn */

struct packet {
	STAILQ_ENTRY(packet) entry;
	size_t len;
	uint8_t bytes[];
};

struct reach {
	uint64_t id;      /* the number that the command's machine gave it */
	uint32_t machine; /* the other end's */
	bool is_client;   /* the command is here, else its helper */
	int sock;
	pid_t helper;
	uint32_t events;     /* that epoll watches for; 0 = it is not watched */
	uint32_t credit;     /* bytes that may be sent to the other machine */
	uint32_t owed;       /* bytes that were passed on, and not granted yet */
	uint32_t num_queued; /* bytes */
	bool is_over; /* nothing comes from the other end any more: the socket is closed when the queue is empty */
	STAILQ_HEAD(, packet) queue; /* for the socket */
	LIST_ENTRY(reach) entry;
};

/* A helper whose connection has ended. */
struct ending_helper {
	pid_t pid;
	uint32_t machine; /* whose command had it */
	uint64_t kill_ns;
	LIST_ENTRY(ending_helper) entry;
};

int reach_open(struct gateway *gateway)
{
	LIST_INIT(&gateway->reaches);
	LIST_INIT(&gateway->ending_helpers);
	gateway->reach_epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return gateway->reach_epoll_fd < 0 ? -errno : 0;
}

/* ---- one connection ---- */

/* What the socket is watched for: packets while the other machine takes them, room for those that wait, and always the end of a
 * command, which is to end its program although that reads no more. What a helper has said before its end is still to be read. */
static void watch(struct gateway *gateway, struct reach *reach)
{
	uint32_t events = (!reach->is_over && reach->credit >= PACKET_BYTES ? (uint32_t)EPOLLIN : 0) |
			  (STAILQ_EMPTY(&reach->queue) ? 0 : (uint32_t)EPOLLOUT) |
			  (reach->is_client ? (uint32_t)EPOLLHUP : 0);
	const epoll_data_t data = { .ptr = reach };

	if (events == reach->events)
		return;
	if (events == 0) /* epoll would go on to report a socket that has hung up */
		sim_watch_remove(gateway->reach_epoll_fd, reach->sock);
	else if (reach->events == 0)
		sim_watch_add(gateway->reach_epoll_fd, reach->sock, events, data);
	else
		sim_watch_change(gateway->reach_epoll_fd, reach->sock, events, data);
	reach->events = events;
}

static struct reach *create(struct gateway *gateway, uint64_t id, uint32_t machine, bool is_client, int sock)
{
	struct reach *reach = calloc(1, sizeof(*reach));

	if (!reach)
		return NULL;
	*reach = (struct reach){
		.id = id, .machine = machine, .is_client = is_client, .sock = sock, .credit = REACH_WINDOW
	};
	STAILQ_INIT(&reach->queue);
	LIST_INSERT_HEAD(&gateway->reaches, reach, entry);
	return reach;
}

static void wait_for_helper(struct gateway *gateway, uint32_t machine, pid_t pid)
{
	struct ending_helper *helper = pid > 0 ? calloc(1, sizeof(*helper)) : NULL;

	if (!helper)
		return;
	*helper =
		(struct ending_helper){ .pid = pid, .machine = machine, .kill_ns = sim_monotonic_ns() + HELPER_GRACE };
	LIST_INSERT_HEAD(&gateway->ending_helpers, helper, entry);
}

static void drop_packet(struct reach *reach)
{
	struct packet *first = STAILQ_FIRST(&reach->queue);

	STAILQ_REMOVE_HEAD(&reach->queue, entry);
	reach->num_queued -= (uint32_t)first->len;
	free(first);
}

static void destroy(struct gateway *gateway, struct reach *reach)
{
	LIST_REMOVE(reach, entry);
	while (!STAILQ_EMPTY(&reach->queue))
		drop_packet(reach);
	sim_watch_close(gateway->reach_epoll_fd, reach->sock);
	wait_for_helper(gateway, reach->machine, reach->helper);
	free(reach);
}

static void send_end(struct gateway *gateway, uint32_t machine, uint64_t id, bool is_client, int status)
{
	struct gateway_frame frame = { .kind = GATEWAY_END, .id = id, .a = is_client, .status = status };

	gateway_send(gateway, machine, &frame);
}

/* Write what fits. Packets for a socket that has closed are dropped: what it had to say may still be there to read. */
static void deliver(struct gateway *gateway, struct reach *reach)
{
	while (!STAILQ_EMPTY(&reach->queue)) {
		const struct packet *first = STAILQ_FIRST(&reach->queue);
		ssize_t sent = send(reach->sock, first->bytes, first->len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && (errno == EAGAIN || errno == EINTR || errno == ENOBUFS))
			break;
		reach->owed += (uint32_t)first->len;
		drop_packet(reach);
	}
	if (reach->owed >= GRANT_BYTES && !reach->is_over) {
		struct gateway_frame frame = {
			.kind = GATEWAY_GRANT, .id = reach->id, .a = reach->is_client, .b = reach->owed
		};

		reach->owed = 0;
		gateway_send(gateway, reach->machine, &frame);
	}
}

static bool enqueue(struct reach *reach, const uint8_t *bytes, size_t len)
{
	struct packet *packet = malloc(sizeof(*packet) + len);

	if (!packet)
		return false;
	packet->len = len;
	memcpy(packet->bytes, bytes, len);
	reach->num_queued += (uint32_t)len;
	STAILQ_INSERT_TAIL(&reach->queue, packet, entry);
	return true;
}

/* Pass on what is there. */
static void settle(struct gateway *gateway, struct reach *reach)
{
	deliver(gateway, reach);
	if (reach->is_over && STAILQ_EMPTY(&reach->queue))
		destroy(gateway, reach);
	else
		watch(gateway, reach);
}

static void write_lost(uint8_t lost[LOST_BYTES], int32_t status)
{
	lost[0] = SIM_REACH_LOST;
	memcpy(lost + 1, &status, sizeof(status));
}

/* The other end has gone. A command is told why; a helper sees the end of its socket. */
static void end(struct gateway *gateway, struct reach *reach, int status)
{
	uint8_t lost[LOST_BYTES];

	write_lost(lost, status);
	reach->is_over = true;
	if (reach->is_client && enqueue(reach, lost, sizeof(lost)))
		settle(gateway, reach);
	else
		destroy(gateway, reach);
}

/* ---- commands here ---- */

static uint32_t find_machine(const struct gateway *gateway, const char *name)
{
	for (uint32_t i = 0; i < gateway->num_machines; i++)
		if (strcmp(gateway->machines[i].name, name) == 0)
			return i;
	return LINK_NO_MACHINE;
}

/* Nothing waits for a command that gets nowhere to take it: there may be any number. */
static void refuse(struct gateway *gateway, struct reach *reach, int status)
{
	uint8_t lost[LOST_BYTES];

	write_lost(lost, status);
	send(reach->sock, lost, sizeof(lost), MSG_DONTWAIT | MSG_NOSIGNAL);
	destroy(gateway, reach);
}

void reach_begin(struct gateway *gateway, const struct sim_msg *msg, int sock)
{
	char name[PCIE_SIDE_SIZE];
	struct gateway_frame frame = { .kind = GATEWAY_REACH, .a = msg->body.reach.service };
	struct reach *reach, *other;
	uint32_t count = 0;
	int rc;

	memcpy(name, msg->body.reach.machine, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	LIST_FOREACH(other, &gateway->reaches, entry)
		count += other->is_client;
	frame.id = ++gateway->last_reach;
	reach = sock >= 0 ? create(gateway, frame.id, find_machine(gateway, name), true, sock) : NULL;
	if (!reach) {
		if (sock >= 0)
			close(sock);
		return;
	}
	rc = count >= REACH_MAX_CLIENTS      ? -EBUSY :
	     reach->machine == gateway->self ? -EINVAL :
					       gateway_send(gateway, reach->machine, &frame);
	if (rc < 0)
		refuse(gateway, reach, rc);
	else
		watch(gateway, reach);
}

/* ---- helpers of commands elsewhere ---- */

/* Those whose connection has ended run on for a while. */
static uint32_t count_helpers(const struct gateway *gateway, uint32_t machine)
{
	const struct ending_helper *ending;
	const struct reach *reach;
	uint32_t count = 0;

	LIST_FOREACH(reach, &gateway->reaches, entry)
		count += !reach->is_client && reach->machine == machine;
	LIST_FOREACH(ending, &gateway->ending_helpers, entry)
		count += ending->machine == machine;
	return count;
}

/* Returns 0 or why not. */
static int check_service(const struct gateway *gateway, const struct gateway_frame *frame)
{
	if (count_helpers(gateway, frame->from) >= REACH_MAX_HELPERS)
		return -EBUSY;
	if (frame->a != SIM_REACH_CONTROL && frame->a != SIM_REACH_EXEC)
		return -EPROTO;
	return frame->a == SIM_REACH_EXEC && !gateway->cfg.allows_exec ? -EPERM : 0;
}

static void take_reach(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct reach *reach = NULL;
	int sock = -1, rc;
	pid_t pid = 0;

	reach_tick(gateway, sim_monotonic_ns()); /* those that have ended do not count */
	rc = check_service(gateway, frame);
	if (rc == 0) {
		pid = reach_start_helper(gateway, (enum sim_reach_service)frame->a, &sock);
		rc = pid < 0 ? pid : 0;
	}
	if (rc == 0) {
		reach = create(gateway, frame->id, frame->from, false, sock);
		rc = reach ? 0 : -ENOMEM;
	}
	if (rc == 0) {
		reach->helper = pid;
		watch(gateway, reach);
		return;
	}
	if (sock >= 0)
		close(sock);
	wait_for_helper(gateway, frame->from, pid);
	send_end(gateway, frame->from, frame->id, false, rc);
}

/* ---- frames ---- */

/* The connection that a frame is about; the sender can only mean one of its own. */
static struct reach *find(const struct gateway *gateway, const struct gateway_frame *frame)
{
	bool is_client = frame->a != OF_CLIENT;
	struct reach *reach;

	LIST_FOREACH(reach, &gateway->reaches, entry)
		if (reach->id == frame->id && reach->machine == frame->from && reach->is_client == is_client)
			return reach;
	return NULL;
}

/* One that sends more than it was granted would fill this process. */
static void take_packet(struct gateway *gateway, struct reach *reach, const struct gateway_frame *frame)
{
	if (reach->num_queued + reach->owed + frame->len_bytes > REACH_WINDOW ||
	    !enqueue(reach, frame->body, frame->len_bytes)) {
		send_end(gateway, reach->machine, reach->id, reach->is_client, -EPROTO);
		end(gateway, reach, -EPROTO);
		return;
	}
	settle(gateway, reach);
}

void reach_on_frame(struct gateway *gateway, const struct gateway_frame *frame)
{
	struct reach *reach = frame->kind == GATEWAY_REACH ? NULL : find(gateway, frame);

	if (frame->kind == GATEWAY_REACH) {
		take_reach(gateway, frame);
	} else if (!reach || reach->is_over) {
		if (frame->kind == GATEWAY_PACKET) /* the sender has not heard of the end */
			send_end(gateway, frame->from, frame->id, frame->a != OF_CLIENT, 0);
	} else if (frame->kind == GATEWAY_PACKET) {
		take_packet(gateway, reach, frame);
	} else if (frame->kind == GATEWAY_GRANT) {
		if (frame->b <= REACH_WINDOW && reach->credit + frame->b <= REACH_WINDOW)
			reach->credit += (uint32_t)frame->b;
		watch(gateway, reach);
	} else {
		end(gateway, reach, frame->status);
	}
}

void reach_machine_lost(struct gateway *gateway, uint32_t machine)
{
	struct reach *reach, *next;

	for (reach = LIST_FIRST(&gateway->reaches); reach; reach = next) {
		next = LIST_NEXT(reach, entry);
		if (reach->machine == machine && !reach->is_over)
			end(gateway, reach, -EHOSTUNREACH);
	}
}

/* ---- sockets ---- */

/* Pass packets on while the other machine takes them. Returns false when the socket has closed. */
static bool pass_packets(struct gateway *gateway, struct reach *reach)
{
	uint8_t bytes[PACKET_BYTES + 1];

	for (int i = 0; i < MAX_PASSED && !reach->is_over && reach->credit >= PACKET_BYTES; i++) {
		struct gateway_frame frame = {
			.kind = GATEWAY_PACKET, .id = reach->id, .a = reach->is_client, .body = bytes
		};
		ssize_t len = recv(reach->sock, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (len < 0 &&
		    errno == ECONNRESET) /* it has left something unread; what it said is there all the same */
			continue;
		if (len < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		if (len <= 0 || len > PACKET_BYTES)
			return false;
		frame.len_bytes = (uint32_t)len;
		reach->credit -= frame.len_bytes;
		gateway_send(gateway, reach->machine, &frame);
	}
	return true;
}

/* Returns false when nothing more is to be passed on. */
static bool take_events(struct gateway *gateway, struct reach *reach, uint32_t events)
{
	if (reach->is_client && events & EPOLLHUP)
		return false;
	return !(events & ~(uint32_t)EPOLLOUT) || pass_packets(gateway, reach);
}

bool reach_poll(struct gateway *gateway)
{
	struct epoll_event events[MAX_EVENTS];
	int count = LIST_EMPTY(&gateway->reaches) ? 0 : epoll_wait(gateway->reach_epoll_fd, events, MAX_EVENTS, 0);

	for (int i = 0; i < count; i++) {
		struct reach *reach = events[i].data.ptr;

		if (take_events(gateway, reach, events[i].events)) {
			settle(gateway, reach);
			continue;
		}
		if (!reach->is_over)
			send_end(gateway, reach->machine, reach->id, reach->is_client, 0);
		destroy(gateway, reach);
	}
	return count > 0;
}

void reach_tick(struct gateway *gateway, uint64_t now_ns)
{
	struct ending_helper *helper, *next;

	for (helper = LIST_FIRST(&gateway->ending_helpers); helper; helper = next) {
		next = LIST_NEXT(helper, entry);
		if (waitpid(helper->pid, NULL, WNOHANG) == 0) {
			if (now_ns >= helper->kill_ns)
				kill(helper->pid, SIGKILL);
			continue;
		}
		LIST_REMOVE(helper, entry);
		free(helper);
	}
}

/* Helpers see the ends of their sockets. */
void reach_close(struct gateway *gateway)
{
	struct ending_helper *helper;
	struct reach *reach;

	while ((reach = LIST_FIRST(&gateway->reaches)))
		destroy(gateway, reach);
	while ((helper = LIST_FIRST(&gateway->ending_helpers))) {
		LIST_REMOVE(helper, entry);
		free(helper);
	}
}
