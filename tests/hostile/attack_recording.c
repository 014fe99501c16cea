/* SPDX-License-Identifier: BSD-3-Clause */
/* Damaged recordings: the daemon keeps them, and the commands that read a session's recordings end with a message. */
#include "hostile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

/* In the head, anywhere in what is used, or all of it; half of the copies have another length. */
static size_t damage(struct bout *bout, uint8_t *bytes, size_t len)
{
	size_t used = len, head = len < 512 ? len : 512;

	while (used > head && bytes[used - 1] == 0)
		used--;
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

static void add_damaged(struct bout *bout, const uint8_t *bytes, size_t len)
{
	struct sim_msg msg = { .type = SIM_MSG_ATTACH, .body.attach.pid = getpid() };
	int sock = connect_to(bout), fd;
	uint8_t *copy = malloc(len);

	CHECK(copy);
	memcpy(copy, bytes, len);
	strcpy(msg.body.attach.side, "host");
	CHECK(attack_call_with(sock, &msg, -1, &fd) == 0);
	if (fd >= 0)
		close(fd);
	fd = make_file(bout, copy, damage(bout, copy, len));
	msg = (struct sim_msg){ .type = SIM_MSG_ADD_RECORDING };
	CHECK(sim_msg_send(sock, &msg, fd) == 0);
	msg = (struct sim_msg){ .type = SIM_MSG_STATUS }; /* its reply comes after the recording was taken */
	close(fd);
	CHECK(attack_call_with(sock, &msg, -1, &fd) == 0);
	close(fd);
	close(sock);
	free(copy);
	bout->tally->tried++;
}

static int add_all(struct bout *bout, int sock)
{
	uint8_t *bytes;
	size_t len = read_recording(bout, &bytes);

	(void)sock;
	for (int i = 0; i < DAMAGED; i++)
		add_damaged(bout, bytes, len);
	free(bytes);
	return ROLE_DONE;
}

static void damage_recordings(struct bout *bout)
{
	static const struct program readers[] = {
		{ NULL, "sim/cli/bfsim", { "", "trace", "-f", "perfetto", "-o", "trace" } },
		{ NULL, "sim/cli/bfsim", { "", "trace", "-f", "csv", "-o", "trace" } },
		{ NULL, "sim/cli/bfsim", { "", "stats" } },
		{ NULL, "sim/cli/bfsim", { "", "report", "-o", "out" } },
	};
	char dir[96];

	work_make(bout, dir);
	setenv("BFSIM_TRACE", "full", 1);
	bout_session(bout);
	program_run(bout, &(struct program){ dir, "tests/multi/trace_peer", { "", "20", "fail" } });
	setenv("BFSIM_TRACE", "off", 1);
	if (!bout_wait(bout, bout_start(bout, "forger", "host", add_all, -1)))
		bout_defect(bout, &bout->tally->hung, "did not add the recordings", "forger");
	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		struct program reader = readers[i];

		reader.dir = dir;
		program_run(bout, &reader);
	}
	work_remove(dir);
}

const struct attack attack_recording = { "recording", attack_no_path, 60, 1, damage_recordings };
