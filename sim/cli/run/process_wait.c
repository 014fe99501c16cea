/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a process's main thread, and the system call that it sleeps in. */
#include "process_wait.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

/* System calls that programs wait in. Some exist on one architecture only. */
static const struct {
	long number;
	const char *name;
} calls[] = {
#ifdef SYS_epoll_wait
	{ SYS_epoll_wait, "epoll_wait()" },
#endif
	{ SYS_epoll_pwait, "epoll_wait()" },
#ifdef SYS_poll
	{ SYS_poll, "poll()" },
#endif
	{ SYS_ppoll, "poll()" },
#ifdef SYS_select
	{ SYS_select, "select()" },
#endif
	{ SYS_pselect6, "select()" },
#ifdef SYS_pause
	{ SYS_pause, "pause()" },
#endif
	{ SYS_read, "read()" },
	{ SYS_readv, "readv()" },
	{ SYS_write, "write()" },
	{ SYS_recvfrom, "recv()" },
	{ SYS_recvmsg, "recvmsg()" },
	{ SYS_accept, "accept()" },
	{ SYS_accept4, "accept()" },
	{ SYS_connect, "connect()" },
	{ SYS_futex, "a wait for another thread (futex)" },
	{ SYS_nanosleep, "sleep()" },
	{ SYS_clock_nanosleep, "sleep()" },
	{ SYS_wait4, "a wait for a child process" },
	{ SYS_waitid, "a wait for a child process" },
	{ SYS_rt_sigtimedwait, "a wait for a signal" },
	{ SYS_rt_sigsuspend, "a wait for a signal" },
};

/* The begin of a file in /proc. Returns whether there is one. */
static int read_text(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
	return text[0] != '\0';
}

/* The state's letter follows the program's name, which is in parentheses and may contain any character. */
static char read_state(pid_t pid)
{
	char text[512];
	const char *end;

	if (!read_text(pid, "stat", text, sizeof(text)) || !(end = strrchr(text, ')')) || !end[1])
		return '\0';
	return end[2];
}

/* The system call that the process sleeps in; NULL = not known. */
static const char *read_call(pid_t pid)
{
	char text[512];
	long number;

	if (!read_text(pid, "syscall", text, sizeof(text)) || sscanf(text, "%ld", &number) != 1)
		return NULL;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number)
			return calls[i].name;
	return NULL;
}

int cli_process_wait(pid_t pid, char text[CLI_PROCESS_WAIT_SIZE])
{
	const char *call;

	switch (read_state(pid)) {
	case 'R':
		snprintf(text, CLI_PROCESS_WAIT_SIZE, "computes or polls");
		return 0;
	case 'S':
	case 'D':
		call = read_call(pid);
		snprintf(text, CLI_PROCESS_WAIT_SIZE, "sleeps%s%s", call ? " in " : "", call ? call : "");
		return 0;
	case 'T':
	case 't':
		snprintf(text, CLI_PROCESS_WAIT_SIZE, "is stopped by a signal or a debugger");
		return 0;
	default:
		return -1;
	}
}
