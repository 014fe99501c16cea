/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that open listeners and channels on a test's command. */
#include "talker.h"
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define LISTENERS 8

/* ---- in the process ---- */

static struct {
	int talk, bell;
	struct sim_session *session;
	struct sim_listener *listeners[LISTENERS];
	struct sim_channel *channels[TALKER_CHANNELS];
	_Atomic unsigned int notes[TALKER_CHANNELS];
	unsigned int notes_seen[TALKER_CHANNELS];
} self;

static void ring(void *arg)
{
	_Atomic unsigned int *count = arg;

	if (count)
		atomic_fetch_add(count, 1);
	eventfd_write(self.bell, 1);
}

/* Sleep until something was notified since the last sleep. */
static void wait_for_bell(void)
{
	struct pollfd bell = { .fd = self.bell, .events = POLLIN };
	eventfd_t count;

	CHECK(poll(&bell, 1, PROC_DEADLINE_MS) == 1);
	CHECK(eventfd_read(self.bell, &count) == 0);
}

static struct sim_handshake_msg letter_of(const struct talker_say *say)
{
	struct sim_handshake_msg letter = { .len_bytes = (uint32_t)strlen(say->text), .num_fds = say->num_fds };

	memcpy(letter.body, say->text, letter.len_bytes);
	for (uint32_t i = 0; i < say->num_fds; i++) {
		letter.fds[i] = memfd_create("letter", MFD_CLOEXEC);
		CHECK(dprintf(letter.fds[i], "%s %u", say->text, i) > 0);
	}
	return letter;
}

static void close_fds(const struct sim_handshake_msg *letter)
{
	for (uint32_t i = 0; i < letter->num_fds; i++)
		close(letter->fds[i]);
}

/* What a letter says its descriptors say, too. */
static void read_letter(const struct sim_handshake_msg *letter, struct talker_answer *answer)
{
	memcpy(answer->text, letter->body, letter->len_bytes);
	answer->num_fds = letter->num_fds;
	for (uint32_t i = 0; i < letter->num_fds; i++) {
		char expected[SIM_HANDSHAKE_MSG_SIZE + 16], found[sizeof(expected)] = "";

		snprintf(expected, sizeof(expected), "%s %u", answer->text, i);
		CHECK(fcntl(letter->fds[i], F_GETFD) & FD_CLOEXEC);
		CHECK(pread(letter->fds[i], found, sizeof(found) - 1, 0) > 0);
		CHECK(strcmp(found, expected) == 0);
	}
	close_fds(letter);
}

static int do_attach(const struct talker_say *say)
{
	struct sim_session_cfg cfg = { .dir = say->dir[0] ? say->dir : NULL, .side = say->side };

	self.bell = eventfd(0, EFD_CLOEXEC);
	return sim_session_attach(&cfg, &self.session);
}

static int do_listen(const struct talker_say *say)
{
	const struct sim_service service = { .function = say->function, .rep = say->rep, .name = say->name };

	return sim_session_listen(self.session, &service, ring, NULL, &self.listeners[say->listener]);
}

static int do_connect(const struct talker_say *say)
{
	struct sim_handshake_msg hello = letter_of(say);
	int rc = sim_session_connect(self.session, say->function, say->name, say->timeout_ms, &hello, ring,
				     &self.notes[say->channel], &self.channels[say->channel]);

	close_fds(&hello);
	return rc;
}

static void do_take_offer(const struct talker_say *say, struct talker_answer *answer)
{
	struct sim_handshake_msg hello;

	while (!sim_listener_next_client(self.listeners[say->listener], ring, &self.notes[say->channel],
					 &self.channels[say->channel], &hello))
		wait_for_bell();
	read_letter(&hello, answer);
}

static int do_send(const struct talker_say *say)
{
	struct sim_handshake_msg letter = letter_of(say);
	struct sim_channel *channel = self.channels[say->channel];
	int rc =
		say->order == TALKER_ACCEPT ? sim_channel_accept(channel, &letter) : sim_channel_send(channel, &letter);

	close_fds(&letter);
	return rc;
}

static void do_take(const struct talker_say *say, struct talker_answer *answer)
{
	struct sim_handshake_msg letter;

	while (!sim_channel_receive(self.channels[say->channel], &letter))
		wait_for_bell();
	read_letter(&letter, answer);
}

/* Whether there was one; it is lost. */
static bool do_has_letter(struct sim_channel *channel)
{
	struct sim_handshake_msg letter;
	bool had = sim_channel_receive(channel, &letter);

	if (had)
		close_fds(&letter);
	return had;
}

static int do_wait_status(const struct talker_say *say)
{
	int before = sim_channel_status(self.channels[say->channel]), status;

	while ((status = sim_channel_status(self.channels[say->channel])) != say->status) {
		CHECK(status == before || status == 0);
		wait_for_bell();
	}
	return status;
}

static void do_wait_note(const struct talker_say *say)
{
	unsigned int now;

	while ((now = atomic_load(&self.notes[say->channel])) == self.notes_seen[say->channel])
		wait_for_bell();
	self.notes_seen[say->channel] = now;
}

static void do_limit_fds(int more)
{
	struct rlimit limit;
	int fd = dup(0); /* the lowest free one */

	CHECK(fd >= 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
	close(fd);
	limit.rlim_cur = (rlim_t)(fd + more);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static pid_t do_fork(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	CHECK(pipe(ready) == 0);
	pid = fork();
	if (pid == 0) {
		alarm(PROC_DEADLINE_MS / 1000); /* at the latest */
		close(self.talk);
		sim_session_abandon(self.session);
		CHECK(write(ready[1], "", 1) == 1);
		for (;;)
			pause();
	}
	CHECK(pid > 0 && read(ready[0], &byte, 1) == 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void do_detach(void)
{
	for (int i = 0; i < TALKER_CHANNELS; i++)
		sim_channel_close(self.session, self.channels[i], -ECONNRESET);
	for (int i = 0; i < LISTENERS; i++)
		sim_session_unlisten(self.session, self.listeners[i]);
	sim_session_detach(self.session);
}

static void obey(const struct talker_say *say, struct talker_answer *answer)
{
	struct sim_channel *channel = self.channels[say->channel];

	switch (say->order) {
	case TALKER_ATTACH:
		answer->rc = do_attach(say);
		break;
	case TALKER_LISTEN:
		answer->rc = do_listen(say);
		break;
	case TALKER_UNLISTEN:
		sim_session_unlisten(self.session, self.listeners[say->listener]);
		self.listeners[say->listener] = NULL;
		break;
	case TALKER_TAKE_OFFER:
		do_take_offer(say, answer);
		break;
	case TALKER_CONNECT:
		answer->rc = do_connect(say);
		break;
	case TALKER_ACCEPT:
	case TALKER_SEND:
		answer->rc = do_send(say);
		break;
	case TALKER_TAKE:
		do_take(say, answer);
		break;
	case TALKER_HAS_LETTER:
		answer->rc = do_has_letter(channel);
		break;
	case TALKER_WAIT_STATUS:
		answer->rc = do_wait_status(say);
		break;
	case TALKER_NUDGE:
		sim_channel_notify_peer(channel);
		break;
	case TALKER_WAIT_NOTE:
		do_wait_note(say);
		break;
	case TALKER_CLOSE:
		sim_channel_close(self.session, channel, say->status);
		self.channels[say->channel] = NULL;
		break;
	case TALKER_LIMIT_FDS:
		do_limit_fds(say->status);
		break;
	case TALKER_COUNT_FDS:
		answer->rc = proc_num_fds(getpid());
		break;
	case TALKER_FORK:
		answer->rc = do_fork();
		break;
	case TALKER_DETACH:
		do_detach();
		break;
	}
}

static void talk_to_test(int talk, const void *arg)
{
	struct talker_say say;

	(void)arg;
	self.talk = talk;
	do {
		struct talker_answer answer = { 0 };

		proc_hear(talk, &say, sizeof(say));
		obey(&say, &answer);
		proc_say(talk, &answer, sizeof(answer));
	} while (say.order != TALKER_DETACH);
}

/* ---- in the test ---- */

void talker_begin(struct talker *talker, const struct talker_say *say)
{
	proc_say(talker->proc.talk, say, sizeof(*say));
}

struct talker_answer talker_finish(struct talker *talker)
{
	struct talker_answer answer;

	proc_hear(talker->proc.talk, &answer, sizeof(answer));
	return answer;
}

static struct talker_answer order(struct talker *talker, const struct talker_say *say)
{
	talker_begin(talker, say);
	return talker_finish(talker);
}

static void set_text(char *to, size_t size, const char *text)
{
	assert_true(strlen(text) < size);
	strcpy(to, text);
}

void talker_attach(struct talker *talker, const char *dir, const char *side)
{
	struct talker_say say = { .order = TALKER_ATTACH };

	set_text(say.dir, sizeof(say.dir), dir ? dir : "");
	set_text(say.side, sizeof(say.side), side);
	proc_start(&talker->proc, talk_to_test, NULL);
	assert_int_equal(order(talker, &say).rc, 0);
}

int talker_listen(struct talker *talker, int listener, uint32_t function, uint32_t rep, const char *name)
{
	struct talker_say say = { .order = TALKER_LISTEN, .listener = listener, .function = function, .rep = rep };

	set_text(say.name, sizeof(say.name), name);
	return order(talker, &say).rc;
}

void talker_unlisten(struct talker *talker, int listener)
{
	order(talker, &(struct talker_say){ .order = TALKER_UNLISTEN, .listener = listener });
}

int talker_connect(struct talker *talker, int channel, uint32_t function, const char *name, uint32_t timeout_ms,
		   const char *hello)
{
	struct talker_say say = { .order = TALKER_CONNECT,
				  .channel = channel,
				  .function = function,
				  .timeout_ms = timeout_ms,
				  .num_fds = 1 };

	set_text(say.name, sizeof(say.name), name);
	set_text(say.text, sizeof(say.text), hello);
	return order(talker, &say).rc;
}

static int send_as(struct talker *talker, enum talker_order how, int channel, const char *text, uint32_t num_fds)
{
	struct talker_say say = { .order = how, .channel = channel, .num_fds = num_fds };

	set_text(say.text, sizeof(say.text), text);
	return order(talker, &say).rc;
}

int talker_accept(struct talker *talker, int channel, const char *welcome)
{
	return send_as(talker, TALKER_ACCEPT, channel, welcome, 1);
}

int talker_send(struct talker *talker, int channel, const char *text, uint32_t num_fds)
{
	return send_as(talker, TALKER_SEND, channel, text, num_fds);
}

void talker_nudge(struct talker *talker, int channel)
{
	order(talker, &(struct talker_say){ .order = TALKER_NUDGE, .channel = channel });
}

void talker_close(struct talker *talker, int channel, int reason)
{
	order(talker, &(struct talker_say){ .order = TALKER_CLOSE, .channel = channel, .status = reason });
}

void talker_expect_offer(struct talker *talker, int listener, int channel, const char *hello)
{
	struct talker_answer answer = order(
		talker, &(struct talker_say){ .order = TALKER_TAKE_OFFER, .listener = listener, .channel = channel });

	assert_string_equal(answer.text, hello);
	assert_int_equal(answer.num_fds, 1);
}

void talker_expect_letter(struct talker *talker, int channel, const char *text, uint32_t num_fds)
{
	struct talker_answer answer = order(talker, &(struct talker_say){ .order = TALKER_TAKE, .channel = channel });

	assert_string_equal(answer.text, text);
	assert_int_equal(answer.num_fds, num_fds);
}

void talker_expect_status(struct talker *talker, int channel, int status)
{
	struct talker_say say = { .order = TALKER_WAIT_STATUS, .channel = channel, .status = status };

	assert_int_equal(order(talker, &say).rc, status);
}

void talker_expect_note(struct talker *talker, int channel)
{
	order(talker, &(struct talker_say){ .order = TALKER_WAIT_NOTE, .channel = channel });
}

bool talker_has_letter(struct talker *talker, int channel)
{
	return order(talker, &(struct talker_say){ .order = TALKER_HAS_LETTER, .channel = channel }).rc;
}

void talker_limit_fds(struct talker *talker, int more)
{
	order(talker, &(struct talker_say){ .order = TALKER_LIMIT_FDS, .status = more });
}

int talker_count_fds(struct talker *talker)
{
	return order(talker, &(struct talker_say){ .order = TALKER_COUNT_FDS }).rc;
}

pid_t talker_fork(struct talker *talker)
{
	pid_t child = order(talker, &(struct talker_say){ .order = TALKER_FORK }).rc;

	proc_adopt(child);
	return child;
}

void talker_detach(struct talker *talker)
{
	order(talker, &(struct talker_say){ .order = TALKER_DETACH });
	proc_end(&talker->proc);
}
