/* SPDX-License-Identifier: BSD-3-Clause */
/* The exporting process of test_two_sides.c, and the test's end of its pipes. */
#include "cmocka_test.h"
#include "two_sides.h"
#include "doca_device.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_dev.h>
#include <doca_mmap.h>

/* The roles are exchanged with EXPORTER=dpu. */
bool dpu_exports(void)
{
	const char *exporter = getenv("EXPORTER");

	return exporter && strcmp(exporter, "dpu") == 0;
}

static void set_side(bool is_exporter)
{
	setenv("BFSIM_SIDE", is_exporter == dpu_exports() ? "dpu" : "host", 1);
}

static char session_dir[64];
static pid_t daemon_pid;

uint8_t host_pattern(size_t offset)
{
	return (uint8_t)(offset * 131 + (offset >> 9));
}

void host_pattern_fill(uint8_t *memory, size_t bytes)
{
	size_t period = 256 << 9;

	for (size_t i = 0; i < bytes && i < period; i++)
		memory[i] = host_pattern(i);
	for (size_t at = period; at < bytes; at += period)
		memcpy(memory + at, memory, bytes - at < period ? bytes - at : period);
}

/* ---- pipes ---- */

static bool read_all(int fd, void *data, size_t len)
{
	while (len > 0) {
		ssize_t got = read(fd, data, len);

		if (got <= 0)
			return false;
		data = (char *)data + got;
		len -= (size_t)got;
	}
	return true;
}

static void write_all(int fd, const void *data, size_t len)
{
	if (write(fd, data, len) != (ssize_t)len)
		exit(90);
}

/* Run PROGRAM with a pipe to its fd 3 and one from its fd 4. */
static pid_t spawn(char *const argv[], int *ret_to, int *ret_from)
{
	int down[2], up[2];
	pid_t pid;

	assert_int_equal(pipe(down), 0);
	assert_int_equal(pipe(up), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (dup2(down[0], 60) < 0 || dup2(up[1], 61) < 0 || dup2(60, 3) < 0 || dup2(61, 4) < 0)
			_exit(91);
		closefrom(5);
		execv(argv[0], argv);
		_exit(92);
	}
	close(down[0]);
	close(up[1]);
	*ret_to = down[1];
	*ret_from = up[0];
	return pid;
}

/* ---- the host's side ---- */

static uint8_t *get_memory(size_t bytes, bool shared, int *ret_fd)
{
	int fd = *ret_fd = shared ? memfd_create("host-memory", MFD_CLOEXEC) : -1;
	uint8_t *memory;

	if (shared && ftruncate(fd, (off_t)bytes) < 0)
		exit(95);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	if (memory == MAP_FAILED)
		exit(95);
	host_pattern_fill(memory, bytes);
	return memory;
}

static uint64_t checksum(const uint8_t *memory, size_t bytes)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes; i++)
		sum += memory[i] * (uint64_t)(i + 1);
	return sum;
}

/* The next command; a computing host uses its CPU until a command arrives. */
static char next_command(enum host_wait wait)
{
	struct pollfd pipe_end = { .fd = 3, .events = POLLIN };
	volatile uint64_t work = 1;
	char command;

	while (wait == HOST_COMPUTES && poll(&pipe_end, 1, 0) == 0)
		for (int i = 0; i < 100000; i++)
			work = work * 6364136223846793005u + 1;
	return read_all(3, &command, 1) ? command : 'q';
}

static int drop_half(uint8_t *memory, size_t *mapped_bytes, int fd)
{
	size_t half = *mapped_bytes / 2;

	if (fd >= 0)
		return ftruncate(fd, (off_t)half);
	*mapped_bytes = half;
	return munmap(memory + half, half);
}

static int be_host(size_t bytes, bool writable, bool shared, enum host_wait wait, useconds_t exit_after_us)
{
	int fd;
	uint8_t *memory = get_memory(bytes, shared, &fd);
	size_t mapped_bytes = bytes;
	static struct doca_dev *dev; /* static: no leaks where the process exits with them */
	static struct doca_mmap *mmap;
	const void *descriptor;
	size_t descriptor_bytes;
	uint64_t answer = (uintptr_t)memory;
	char command;

	dev = device_open(dpu_exports() ? "03:00.0" : "b1:00.0");
	MUST(doca_mmap_create(&mmap));
	MUST(doca_mmap_set_memrange(mmap, memory, bytes));
	MUST(doca_mmap_add_dev(mmap, dev));
	MUST(doca_mmap_set_permissions(mmap,
				       writable ? DOCA_ACCESS_FLAG_PCI_READ_WRITE : DOCA_ACCESS_FLAG_PCI_READ_ONLY));
	MUST(doca_mmap_start(mmap));
	MUST(doca_mmap_export_pci(mmap, dev, &descriptor, &descriptor_bytes));
	write_all(4, &answer, sizeof(answer));
	write_all(4, &descriptor_bytes, sizeof(descriptor_bytes));
	write_all(4, descriptor, descriptor_bytes);
	if (exit_after_us) {
		usleep(exit_after_us);
		return 0;
	}
	while ((command = next_command(wait)) != 'q') {
		answer = 0;
		if (command == 'k')
			answer = checksum(memory, bytes);
		else if (command == 'd')
			answer = (uint64_t)drop_half(memory, &mapped_bytes, fd);
		else
			MUST(doca_mmap_stop(mmap));
		write_all(4, &answer, sizeof(answer));
	}
	MUST(doca_mmap_destroy(mmap));
	MUST(doca_dev_close(dev));
	munmap(memory, mapped_bytes);
	return 0;
}

void two_sides_main(int argc, char **argv)
{
	if (argc == 7 && strcmp(argv[1], "host") == 0)
		exit(be_host(strtoull(argv[2], NULL, 10), argv[3][0] == 'w', argv[4][0] == 's',
			     (enum host_wait)argv[5][0], (useconds_t)atoi(argv[6])));
}

/* ---- the test's side ---- */

static char *self_path(void)
{
	static char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(len > 0);
	path[len] = '\0';
	return path;
}

/* HOST_WRAPPER, if set, is a command that starts the host in other namespaces. */
void host_start(struct host *host, const struct host_cfg *cfg)
{
	char bytes[32], exit_after_us[16], wait[2] = { (char)cfg->wait, 0 };
	char *argv[] = { "/bin/sh",
			 "-c",
			 "exec $HOST_WRAPPER \"$@\"",
			 "host",
			 self_path(),
			 "host",
			 bytes,
			 cfg->writable ? "w" : "r",
			 cfg->shared ? "s" : "p",
			 wait,
			 exit_after_us,
			 NULL };

	snprintf(bytes, sizeof(bytes), "%zu", cfg->bytes);
	snprintf(exit_after_us, sizeof(exit_after_us), "%u", cfg->exit_after_us);
	set_side(true);
	host->pid = spawn(argv, &host->to, &host->from);
	set_side(false);
	host->bytes = cfg->bytes;
	assert_true(read_all(host->from, &host->addr, sizeof(host->addr)));
	assert_true(read_all(host->from, &host->descriptor_bytes, sizeof(host->descriptor_bytes)));
	assert_true(host->descriptor_bytes <= DESCRIPTOR_MAX);
	assert_true(read_all(host->from, host->descriptor, host->descriptor_bytes));
}

static uint64_t ask(struct host *host, char command)
{
	uint64_t answer;

	assert_int_equal(write(host->to, &command, 1), 1);
	assert_true(read_all(host->from, &answer, sizeof(answer)));
	return answer;
}

uint64_t host_checksum(struct host *host)
{
	return ask(host, 'k');
}

void host_stop_map(struct host *host)
{
	ask(host, 's');
}

void host_drop_half(struct host *host)
{
	assert_int_equal(ask(host, 'd'), 0);
}

static int reap(struct host *host)
{
	int status = -1;

	close(host->to);
	close(host->from);
	waitpid(host->pid, &status, 0);
	host->pid = 0;
	return status;
}

void host_end(struct host *host)
{
	assert_int_equal(reap(host), 0); /* the pipe closes, and the host process exits in order */
}

void host_kill(struct host *host)
{
	kill(host->pid, SIGKILL);
	reap(host);
}

int session_start(void **state)
{
	char *clock = getenv("CLOCK"), *topology = getenv("TOPOLOGY");
	char *daemon_argv[] = { getenv("BFSIMD"),
				"--foreground",
				"--die-with-parent",
				"--ready-fd",
				"4",
				"--session",
				session_dir,
				"--clock",
				clock ? clock : "functional",
				topology ? "--topology" : NULL,
				topology,
				NULL, /* for DAEMON_OPTION */
				NULL };
	size_t num_args = 0;
	int to, from;
	char ready;

	snprintf(session_dir, sizeof(session_dir), "/tmp/bfsim-test-XXXXXX");
	assert_non_null(mkdtemp(session_dir));
	assert_non_null(daemon_argv[0]);
	while (daemon_argv[num_args])
		num_args++;
	daemon_argv[num_args] = getenv("DAEMON_OPTION");
	setenv("BFSIM_SESSION", session_dir, 1);
	set_side(false);
	daemon_pid = spawn(daemon_argv, &to, &from);
	assert_true(read_all(from, &ready, 1));
	close(from);
	return 0;
}

static unsigned int entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

int session_end(void **state)
{
	int status;

	kill(daemon_pid, SIGTERM);
	waitpid(daemon_pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(entries(session_dir), 2); /* "." and "..": the directory is empty */
	rmdir(session_dir);
	return 0;
}
