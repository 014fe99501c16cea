/* SPDX-License-Identifier: BSD-3-Clause */
/* A helper on another machine. */
#include "reach.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/monotonic.h"
#include "sim/base/printable.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_client.h"

int cli_reach_fail(const struct cli_reach *reach, int rc)
{
	switch (rc) {
	case -EHOSTUNREACH:
		return cli_error("%s has not joined the session, or is lost; see bfsim ps", reach->machine);
	case -ENETDOWN:
		return cli_error(
			"the gateway of this machine does not run, without which %s is not reached; it is started again within some seconds (bfsim wait %s), or bfsim ps says why not",
			reach->machine, reach->machine);
	case -EPERM:
		return cli_error(
			"%s does not let other machines start programs there: join it with bfsim join --allow-exec (home: bfsim up --allow-exec)",
			reach->machine);
	case -EACCES:
		return cli_error(
			"programs on other machines are for the user of this machine's session, or root: run this as that user");
	case -EBUSY:
		return cli_error("%s: too many commands reach into other machines at once", reach->machine);
	case -ETIMEDOUT:
		return cli_error("%s has not answered for %d s: is it stopped? See bfsim ps", reach->machine,
				 SIM_REACH_TIMEOUT_MS / 1000);
	case -EPIPE:
		return cli_error("the connection to %s has ended; see bfsim ps", reach->machine);
	default:
		return cli_error("cannot reach %s: %s", reach->machine, strerror(-rc));
	}
}

void cli_reach_lose(struct cli_reach *reach)
{
	reach->has_ended = reach->was_lost = true;
}

static void lose(struct cli_reach *reach, int rc)
{
	cli_reach_fail(reach, rc);
	cli_reach_lose(reach);
}

/* Of the next wait, in milliseconds. */
static int wait_limit(const struct cli_reach *reach)
{
	int64_t left_ms = reach->deadline_ms - sim_monotonic_ms();

	return left_ms > reach->timeout_ms ? reach->timeout_ms : left_ms > 0 ? (int)left_ms : 0;
}

int cli_reach_recv(struct cli_reach *reach, struct sim_reach_packet *ret_packet)
{
	int limit_ms = wait_limit(reach);
	int rc = limit_ms > 0 ? sim_reach_recv(reach->sock, ret_packet, limit_ms) : -ETIMEDOUT;

	if (rc == 0 && ret_packet->kind == SIM_REACH_LOST)
		rc = ret_packet->number < 0 ? ret_packet->number : -EPIPE;
	return rc;
}

static int send_words(int sock, const char *const *words)
{
	uint8_t bytes[SIM_REACH_MAX_BYTES];
	size_t len = 0;

	for (; *words; words++) {
		size_t more = strlen(*words) + 1;

		if (more > sizeof(bytes) - len)
			return -E2BIG;
		memcpy(bytes + len, *words, more);
		len += more;
	}
	return sim_reach_send(sock, SIM_REACH_BEGIN, bytes, len);
}

/* Wait until the helper runs. */
static int await_ready(struct cli_reach *reach)
{
	struct sim_reach_packet packet;
	int rc = cli_reach_recv(reach, &packet);

	if (rc == 0 && packet.kind != SIM_REACH_READY)
		rc = -EPROTO;
	return rc;
}

static int begin(const char *dir, enum sim_reach_service service, const char *const *words, struct cli_reach *reach)
{
	int dir_fd = cli_session_open(dir), rc;

	if (dir_fd < 0)
		return -1;
	rc = sim_reach_open(dir_fd, reach->machine, service, &reach->sock);
	if (rc == -EPERM) /* of this machine's daemon; a later one is the other machine's */
		rc = -EACCES;
	else if (rc == -EHOSTUNREACH)
		rc = -ENETDOWN;
	close(dir_fd);
	if (rc == 0)
		rc = await_ready(reach);
	if (rc == 0)
		rc = send_words(reach->sock, words);
	return rc < 0 ? cli_reach_fail(reach, rc) : 0;
}

int cli_reach_begin(const char *dir, const char *machine, enum sim_reach_service service, const char *const *words,
		    struct cli_reach *ret_reach)
{
	struct cli_reach reach = {
		.machine = machine, .sock = -1, .timeout_ms = SIM_REACH_TIMEOUT_MS, .deadline_ms = INT64_MAX
	};
	int rc = begin(dir, service, words, &reach);

	if (rc == 0)
		*ret_reach = reach;
	else if (reach.sock >= 0)
		close(reach.sock);
	return rc;
}

/* ---- the helper's output ---- */

/* What a helper says is another machine's word: it is shown as printable lines. */
static void show_errors(struct sim_reach_packet *packet)
{
	for (size_t i = 0; i < packet->len; i++)
		if ((packet->bytes[i] < ' ' && packet->bytes[i] != '\n') || packet->bytes[i] == 0x7f)
			packet->bytes[i] = '?';
	fwrite(packet->bytes, 1, packet->len, stderr);
}

/* Wait for bytes of the output. Returns 0, or 1 at the end. */
static int next_output(struct cli_reach *reach)
{
	static struct sim_reach_packet packet; /* the command has one thread */

	while (!reach->has_ended) {
		int rc = cli_reach_recv(reach, &packet);

		if (rc < 0) {
			lose(reach, rc);
		} else if (packet.kind == SIM_REACH_EXIT) {
			reach->status = packet.number;
			reach->has_ended = true;
		} else if (packet.kind == SIM_REACH_ERROR_OUTPUT) {
			show_errors(&packet);
		} else if (packet.kind == SIM_REACH_OUTPUT && packet.len > 0) {
			free(reach->unread);
			reach->unread = malloc(packet.len);
			if (!reach->unread) {
				lose(reach, -ENOMEM);
				return 1;
			}
			memcpy(reach->unread, packet.bytes, packet.len);
			reach->at = 0;
			reach->len = packet.len;
			return 0;
		}
	}
	return 1;
}

static ssize_t read_output(void *arg, char *to, size_t room)
{
	struct cli_reach *reach = arg;
	size_t len;

	if (reach->at == reach->len && next_output(reach) != 0)
		return 0;
	len = reach->len - reach->at < room ? reach->len - reach->at : room;
	memcpy(to, reach->unread + reach->at, len);
	reach->at += len;
	return (ssize_t)len;
}

FILE *cli_reach_output(struct cli_reach *reach)
{
	FILE *stream = fopencookie(reach, "r", (cookie_io_functions_t){ .read = read_output });

	if (!stream)
		cli_fail("out of memory");
	return stream;
}

int cli_reach_end(struct cli_reach *reach)
{
	while (next_output(reach) == 0)
		;
	close(reach->sock);
	free(reach->unread);
	reach->unread = NULL;
	return reach->was_lost ? -1 : reach->status;
}

/* ---- all at once ---- */

static int await_room(const struct cli_reach *reach)
{
	struct pollfd writable = { .fd = reach->sock, .events = POLLOUT };

	return poll(&writable, 1, wait_limit(reach)) == 1 ? 0 : -ETIMEDOUT;
}

static int send_input(const struct cli_reach *reach, const uint8_t *bytes, size_t len)
{
	int rc = 0;

	while (rc == 0 && len > 0) {
		size_t part = len < SIM_REACH_MAX_BYTES ? len : SIM_REACH_MAX_BYTES;

		rc = await_room(reach);
		if (rc == 0)
			rc = sim_reach_send(reach->sock, SIM_REACH_INPUT, bytes, part);
		bytes += part;
		len -= part;
	}
	return rc == 0 ? sim_reach_send(reach->sock, SIM_REACH_INPUT_END, NULL, 0) : rc;
}

static void copy_output(struct cli_reach *reach, FILE *out)
{
	while (next_output(reach) == 0)
		if (out)
			fwrite(reach->unread, 1, reach->len, out);
}

int cli_reach_call(const char *dir, const char *machine, const char *const *words, const void *input, size_t len,
		   FILE *out)
{
	struct cli_reach reach;

	if (cli_reach_begin(dir, machine, SIM_REACH_CONTROL, words, &reach) < 0)
		return -1;
	reach.deadline_ms = sim_monotonic_ms() + SIM_REACH_TIMEOUT_MS;
	send_input(&reach, input, len); /* if that fails, the answer says why */
	copy_output(&reach, out);
	return cli_reach_end(&reach);
}
