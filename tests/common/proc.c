/* SPDX-License-Identifier: BSD-3-Clause */
/* Forks test processes, exchanges packets with them, waits with a deadline. */
#include "cmocka_test.h"
#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_PROCS 256

/* Running processes: proc_kill_all() kills them, and later children close their sockets. */
static struct proc alive[MAX_PROCS];
static int num_alive;
static bool in_process;

/* An error: the test fails, or the process ends. */
#define NEED(condition, what)                                               \
	do {                                                                \
		if (condition)                                              \
			break;                                              \
		if (in_process)                                             \
			check_fail(__FILE__, __LINE__, what, "failed", ""); \
		fail_msg("%s (errno: %s)", what, strerror(errno));          \
	} while (0)

static void forget(pid_t pid)
{
	for (int i = 0; i < num_alive; i++)
		if (alive[i].pid == pid)
			alive[i--] = alive[--num_alive];
}

/* A crash ends the process: the test library's handlers would continue with the next test in the child. */
static void crash_plainly(void)
{
	static const int crashes[] = { SIGFPE, SIGILL, SIGSEGV, SIGBUS, SIGSYS };

	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		signal(crashes[i], SIG_DFL);
}

static void run(proc_body *body, int ctl, const void *arg, pid_t parent)
{
	in_process = true;
	crash_plainly();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CHECK(getppid() == parent);
	for (int i = 0; i < num_alive; i++)
		close(alive[i].ctl);
	num_alive = 0;
	body(ctl, arg);
	exit(0); /* not _exit(): leak checkers look now */
}

void proc_start(struct proc *proc, proc_body *body, const void *arg)
{
	pid_t parent = getpid();
	int ctl[2];

	assert_true(num_alive < MAX_PROCS);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl), 0);
	fflush(NULL);
	proc->ctl = ctl[0];
	proc->pid = fork();
	assert_true(proc->pid >= 0);
	if (proc->pid == 0) {
		close(ctl[0]);
		run(body, ctl[1], arg, parent);
	}
	close(ctl[1]);
	alive[num_alive++] = *proc;
}

void proc_become(void)
{
	in_process = true;
}

void proc_send(int ctl, const void *data, size_t len)
{
	NEED(send(ctl, data, len, MSG_NOSIGNAL) == (ssize_t)len, "the other process is gone");
}

bool proc_readable_within(int ctl, int ms)
{
	struct pollfd poll_fd = { .fd = ctl, .events = POLLIN };
	int64_t end = proc_now_ms() + ms, left = ms;
	int rc;

	do {
		rc = poll(&poll_fd, 1, left > 0 ? (int)left : 0);
		left = end - proc_now_ms();
	} while (rc < 0 && errno == EINTR);
	return rc == 1;
}

void proc_recv(int ctl, void *data, size_t len)
{
	ssize_t got;

	NEED(proc_readable_within(ctl, PROC_DEADLINE_MS), "the other process sends nothing");
	got = recv(ctl, data, len, MSG_TRUNC);
	NEED(got != 0, "the other process ended");
	NEED(got == (ssize_t)len, "the other process said something else");
}

void proc_signal(struct proc *proc, int signal)
{
	siginfo_t info;

	assert_int_equal(kill(proc->pid, signal), 0);
	if (signal == SIGKILL)
		proc_wait(proc);
	else if (signal == SIGSTOP)
		assert_int_equal(waitid(P_PID, (id_t)proc->pid, &info, WSTOPPED), 0);
}

/* ---- a process that does not end ---- */

static void print_file(pid_t pid, const char *thread, const char *name)
{
	char path[320], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/%s", (int)pid, thread, name);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		fprintf(stderr, "  %s: %s%s", name, line, strchr(line, '\n') ? "" : "\n");
	if (file)
		fclose(file);
}

/* The first of these programs that is there prints the stacks in user space. */
static void print_user_stacks(pid_t pid)
{
	char number[16];
	pid_t child;

	snprintf(number, sizeof(number), "%d", (int)pid);
	child = fork();
	if (child == 0) {
		alarm(30); /* it may wait for the process, too */
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execlp("eu-stack", "eu-stack", "-p", number, (char *)NULL);
		execlp("gdb", "gdb", "-batch", "-nx", "-p", number, "-ex", "thread apply all bt", (char *)NULL);
		_exit(127);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* It may be one of them that it waits for. */
static void print_children(pid_t pid)
{
	char path[64];
	FILE *children;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	children = fopen(path, "re");
	while (children && fscanf(children, "%d", &child) == 1)
		proc_print_waits(child);
	if (children)
		fclose(children);
}

void proc_print_waits(pid_t pid)
{
	static const char *const files[] = { "comm", "wchan", "syscall", "stack" }; /* stack: root only */
	char path[64];
	const struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		fprintf(stderr, "thread %s of process %d\n", entry->d_name, (int)pid);
		for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
			print_file(pid, entry->d_name, files[i]);
	}
	if (dir)
		closedir(dir);
	print_user_stacks(pid);
	print_children(pid);
}

int proc_wait(struct proc *proc)
{
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;
	struct timespec pause = { .tv_nsec = 1000000 };
	int status = 0;
	pid_t pid;

	if (proc->pid <= 0)
		return 0;
	while ((pid = waitpid(proc->pid, &status, WNOHANG)) == 0) {
		if (proc_now_ms() > end) {
			proc_print_waits(proc->pid);
			fail_msg("process %d does not end", (int)proc->pid);
		}
		nanosleep(&pause, NULL);
	}
	assert_int_equal(pid, proc->pid);
	forget(pid);
	if (proc->ctl >= 0)
		close(proc->ctl);
	*proc = (struct proc){ .pid = 0, .ctl = -1 };
	return status;
}

void proc_end(struct proc *proc)
{
	int status;

	if (proc->pid <= 0)
		return;
	shutdown(proc->ctl, SHUT_WR);
	status = proc_wait(proc);
	if (status != 0)
		fail_msg("a process did not end well: status %#x", (unsigned int)status);
}

void proc_adopt(pid_t pid)
{
	assert_true(num_alive < MAX_PROCS);
	alive[num_alive++] = (struct proc){ .pid = pid, .ctl = -1 };
}

void proc_kill_all(void)
{
	for (; num_alive > 0; num_alive--) {
		struct proc *last = &alive[num_alive - 1];

		kill(last->pid, SIGKILL);
		waitpid(last->pid, NULL, 0);
		close(last->ctl);
	}
}

int64_t proc_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int proc_num_files(const char *path)
{
	DIR *dir = opendir(path);
	int count = -2; /* . and .. */

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

int proc_num_fds(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	return proc_num_files(path);
}

void proc_await_fds(pid_t pid, int count)
{
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;
	struct timespec pause = { .tv_nsec = 1000000 };

	while (proc_num_fds(pid) != count) {
		if (proc_now_ms() > end)
			fail_msg("process %d has %d descriptors open, not %d", (int)pid, proc_num_fds(pid), count);
		nanosleep(&pause, NULL);
	}
}

char *proc_make_dir(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir;

	assert_true(asprintf(&dir, "%s/bfsim-test-XXXXXX", tmp && tmp[0] ? tmp : "/tmp") > 0);
	assert_non_null(mkdtemp(dir));
	return dir;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

void proc_remove_dir(char *dir)
{
	if (dir)
		nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(dir);
}
