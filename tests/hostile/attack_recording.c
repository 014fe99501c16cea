/* SPDX-License-Identifier: BSD-3-Clause */
/* Damaged recordings, and recordings that their process writes into while they are read: the daemon keeps them, and the
 * commands that read a session's recordings end with a message. */
#include "hostile.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"

#define DAMAGED 6 /* recordings in one round */
#define SEALS   (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int connect_to(const struct bout *bout)
{
	int dir_fd = sim_session_dir_open(bout->dir, false), sock = sim_session_dir_connect(dir_fd);

	close(dir_fd);
	return sock;
}

/* The bytes of the first recording. */
static size_t read_recording(const struct bout *bout, uint8_t **ret_bytes)
{
	struct sim_msg msg = { .type = SIM_MSG_GET_RECORDING, .body.recording.number = 1 };
	int sock = connect_to(bout), fd;
	struct stat st;

	CHECK(attack_call_with(sock, &msg, -1, &fd) == 0 && fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0);
	*ret_bytes = malloc((size_t)st.st_size);
	CHECK(*ret_bytes && pread(fd, *ret_bytes, (size_t)st.st_size, 0) == st.st_size);
	close(fd);
	close(sock);
	return (size_t)st.st_size;
}

static void change_words(struct bout *bout, uint8_t *bytes, size_t len, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = bout_random(bout, 2) ? bout_random(bout, 64) : bout_random(bout, UINT64_MAX);
		size_t at = bout_random(bout, len - 8);

		if (bout_random(bout, 2))
			at &= ~(size_t)7;
		memcpy(bytes + at, &value, 1 + bout_random(bout, 8));
	}
}

static size_t head_of(size_t len)
{
	return len < 512 ? len : 512;
}

static size_t used_of(const uint8_t *bytes, size_t len)
{
	while (len > head_of(len) && bytes[len - 1] == 0)
		len--;
	return len;
}

/* In the head, anywhere in what is used, or all of it; half of the copies have another length. */
static size_t damage(struct bout *bout, uint8_t *bytes, size_t len)
{
	size_t head = head_of(len), used = used_of(bytes, len);

	if (bout_random(bout, 2))
		change_words(bout, bytes, head, 1 + bout_random(bout, 4));
	else
		change_words(bout, bytes, used, 1 + bout_random(bout, 400));
	return bout_random(bout, 2) ? len : bout_random(bout, len);
}

static int make_file(struct bout *bout, const uint8_t *bytes, size_t len)
{
	int fd = memfd_create("damaged", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	if (bout_random(bout, 4) > 0)
		CHECK(fcntl(fd, F_ADD_SEALS, SEALS) == 0);
	return fd;
}

/* Attach as a process of the session, and hand the recording over. Returns the connection. */
static int add_recording(const struct bout *bout, int file)
{
	struct sim_msg msg = { .type = SIM_MSG_ATTACH, .body.attach.pid = getpid() };
	int sock = connect_to(bout), fd;

	strcpy(msg.body.attach.side, "host");
	CHECK(attack_call_with(sock, &msg, -1, &fd) == 0);
	if (fd >= 0)
		close(fd);
	msg = (struct sim_msg){ .type = SIM_MSG_ADD_RECORDING };
	CHECK(sim_msg_send(sock, &msg, file) == 0);
	msg = (struct sim_msg){ .type = SIM_MSG_STATUS }; /* its reply comes after the recording was taken */
	CHECK(attack_call_with(sock, &msg, -1, &fd) == 0);
	close(fd);
	return sock;
}

static void add_damaged(struct bout *bout, const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len);
	int file;

	CHECK(copy);
	memcpy(copy, bytes, len);
	file = make_file(bout, copy, damage(bout, copy, len));
	close(add_recording(bout, file));
	close(file);
	free(copy);
	bout->tally->tried++;
}

static int add_all(struct bout *bout, int sock)
{
	uint8_t *bytes;
	size_t len = read_recording(bout, &bytes);

	for (int i = 0; i < DAMAGED; i++)
		add_damaged(bout, bytes, len);
	free(bytes);
	return ROLE_DONE;
}

/* Until it is killed. */
static int scribble_live(struct bout *bout, int sock)
{
	uint8_t *bytes, *live;
	size_t len = read_recording(bout, &bytes), used = used_of(bytes, len);
	int file = memfd_create("live", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(file >= 0 && write(file, bytes, len) == (ssize_t)len && fcntl(file, F_ADD_SEALS, SEALS) == 0);
	live = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CHECK(live != MAP_FAILED);
	add_recording(bout, file);
	send(sock, "", 1, MSG_NOSIGNAL);
	for (;;) {
		change_words(bout, live, bout_random(bout, 2) ? used : head_of(len), 1 + bout_random(bout, 64));
		if (bout_random(bout, 4) == 0)
			memcpy(live, bytes, used); /* a reader gets behind its checks again */
		__atomic_fetch_add(&bout->tally->tried, 1, __ATOMIC_RELAXED);
	}
	return ROLE_DONE;
}

static void read_all(struct bout *bout, const char *dir)
{
	static const struct program readers[] = {
		{ NULL, "sim/cli/bfsim", { "", "trace", "-f", "perfetto", "-o", "trace" } },
		{ NULL, "sim/cli/bfsim", { "", "trace", "-f", "csv", "-o", "trace" } },
		{ NULL, "sim/cli/bfsim", { "", "stats" } },
		{ NULL, "sim/cli/bfsim", { "", "report", "-o", "out" } },
	};

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		struct program reader = readers[i];

		reader.dir = dir;
		program_run(bout, &reader);
	}
}

static void damage_recordings(struct bout *bout, const char *dir)
{
	if (!bout_wait(bout, bout_start(bout, "forger", "host", add_all, -1)))
		bout_defect(bout, &bout->tally->hung, "did not add the recordings", "forger");
	read_all(bout, dir);
}

static void scribble_recording(struct bout *bout, const char *dir)
{
	struct party *hostile;
	int socks[2];
	char byte;

	bout_pair(socks);
	hostile = bout_start(bout, "writer", "host", scribble_live, socks[0]);
	close(socks[0]);
	recv(socks[1], &byte, 1, 0);
	close(socks[1]);
	read_all(bout, dir);
	hostile->is_victim = true;
	kill(hostile->pid, SIGKILL);
}

static void attack_recordings(struct bout *bout)
{
	char dir[96];

	work_make(bout, dir);
	setenv("BFSIM_TRACE", "full", 1);
	bout_session(bout);
	program_run(bout, &(struct program){ dir, "tests/multi/trace_peer", { "", "20", "fail" } });
	setenv("BFSIM_TRACE", "off", 1);
	if (strcmp(bout->path, "live") == 0)
		scribble_recording(bout, dir);
	else
		damage_recordings(bout, dir);
	work_remove(dir);
}

static const char *const ways[] = { "damaged", "live", NULL };

const struct attack attack_recording = { "recording", ways, 60, 1, attack_recordings };
