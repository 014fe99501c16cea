/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread's account, from the files stat and schedstat in its folder of /proc (proc(5)). */
#include "thread_account.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint32_t sim_thread_pid_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 ? (uint32_t)status.st_ino : 0;
}

uint32_t sim_thread_num_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) < 0 ? 1 : (uint32_t)CPU_COUNT(&cpus);
}

static bool read_path(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, text, size - 1);
	close(fd);
	if (len <= 0)
		return false;
	text[len] = '\0';
	return true;
}

static bool read_file(uint32_t pid, uint32_t thread_id, const char *name, char *text, size_t size)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/%s", pid, thread_id, name);
	return read_path(path, text, size);
}

uint32_t sim_thread_count_ready(void)
{
	uint32_t count;
	char text[128];

	return read_path("/proc/loadavg", text, sizeof(text)) &&
			       sscanf(text, "%*s %*s %*s %" SCNu32 "/", &count) == 1 && count > 0 ?
		       count - 1 :
		       0;
}

/* The letter behind the program's name, which is in brackets and may have any bytes; or 0. */
static char letter_of(const char *stat)
{
	const char *end = strrchr(stat, ')');

	return end && end[1] == ' ' ? end[2] : '\0';
}

static enum sim_thread_state state_from(char letter)
{
	switch (letter) {
	case '\0':
		return SIM_THREAD_UNKNOWN;
	case 'Z':
	case 'X':
		return SIM_THREAD_ENDED;
	case 'T':
	case 't':
		return SIM_THREAD_STOPPED;
	case 'R':
	case 'D': /* inside the kernel, for a disk or a page: it goes on without anybody */
		return SIM_THREAD_RUNS;
	default:
		return SIM_THREAD_SLEEPS;
	}
}

static bool has_ended(uint32_t pid)
{
	return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

void sim_thread_account_read(uint32_t pid, uint32_t thread_id, struct sim_thread_account *ret_account)
{
	uint64_t ran_ns, ready_ns;
	char text[512], letter;

	*ret_account = (struct sim_thread_account){ .state = SIM_THREAD_UNKNOWN };
	if (pid == 0)
		return;
	if (!read_file(pid, thread_id, "stat", text, sizeof(text))) {
		ret_account->state =
			errno == ENOENT || errno == ESRCH || has_ended(pid) ? SIM_THREAD_ENDED : SIM_THREAD_UNKNOWN;
		return;
	}
	letter = letter_of(text);
	ret_account->state = state_from(letter);
	if (ret_account->state != SIM_THREAD_RUNS && ret_account->state != SIM_THREAD_SLEEPS)
		return;
	if (read_file(pid, thread_id, "schedstat", text, sizeof(text)) &&
	    sscanf(text, "%" SCNu64 " %" SCNu64, &ran_ns, &ready_ns) == 2) {
		ret_account->active_ns = ran_ns + ready_ns;
		ret_account->ran_ns = ran_ns;
		ret_account->is_ready = letter == 'R';
	} else {
		ret_account->state = SIM_THREAD_UNKNOWN;
	}
}

int sim_thread_read_system_call(uint32_t pid, uint32_t thread_id)
{
	char text[256];
	int number;

	return read_file(pid, thread_id, "syscall", text, sizeof(text)) && sscanf(text, "%d", &number) == 1 ? number :
													      -1;
}
