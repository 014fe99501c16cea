/* SPDX-License-Identifier: BSD-3-Clause */
/* One round: a session, its processes, and the judgement of their ends. */
#include "hostile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proc.h"

#define LOG_TAIL 2000

const char *const attack_no_path[] = { "-", NULL };
const char *const attack_all_paths[] = { "mapped", "procmem", "cma", "shm", "tcp", NULL };

/* ---- randomness ---- */

uint64_t bout_random(struct bout *bout, uint64_t limit)
{
	uint64_t mixed = bout->random += 0x9e3779b97f4a7c15u;

	mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
	mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
	return (mixed ^ (mixed >> 31)) % limit;
}

static uint64_t hash(uint64_t from, const char *text)
{
	for (; *text; text++)
		from = (from ^ (uint8_t)*text) * 0x100000001b3u;
	return from;
}

/* ---- reports ---- */

static void print_log(const struct bout *bout)
{
	char text[LOG_TAIL + 1];
	FILE *log = fopen(bout->log, "r");
	size_t got;

	if (!log)
		return;
	if (fseek(log, -LOG_TAIL, SEEK_END) < 0)
		rewind(log);
	got = fread(text, 1, LOG_TAIL, log);
	text[got] = '\0';
	printf("%s\n", text);
	fclose(log);
}

void bout_defect(struct bout *bout, unsigned int *count, const char *what, const char *name)
{
	(*count)++;
	printf("--- %s: %s. To repeat: --seed %llu --only %s/%s --round %u\n", name, what,
	       (unsigned long long)bout->seed, bout->attack, bout->path, bout->round);
	print_log(bout);
	fflush(stdout);
}

/* ---- processes ---- */

static struct party *add_party(struct bout *bout, const char *name)
{
	struct party *party = &bout->parties[bout->num_parties++];

	CHECK(bout->num_parties <= BOUT_PARTIES);
	*party = (struct party){ .name = name };
	return party;
}

/* In the child. */
static void become(struct bout *bout)
{
	sigset_t none;
	int log = open(bout->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	CHECK(log >= 0 && dup2(log, 1) == 1 && dup2(log, 2) == 2);
}

struct party *bout_start(struct bout *bout, const char *name, const char *side, role_body *body, int sock)
{
	struct party *party = add_party(bout, name);

	party->pid = fork();
	CHECK(party->pid >= 0);
	if (party->pid == 0) {
		become(bout);
		if (sock > 3)
			CHECK(dup2(sock, 3) == 3);
		closefrom(sock >= 0 ? 4 : 3);
		setenv("BFSIM_SIDE", side, 1);
		exit(body(bout, sock >= 0 ? 3 : -1));
	}
	return party;
}

static void exec_daemon(struct bout *bout, int ready_fd)
{
	char *argv[] = { getenv("BFSIMD"),
			 "--foreground",
			 "--die-with-parent",
			 "--ready-fd",
			 "3",
			 "--session",
			 bout->dir,
			 "--clock",
			 (char *)(uintptr_t)(bout->clock ? bout->clock : "functional"),
			 bout->topology ? "--topology" : NULL,
			 (char *)(uintptr_t)bout->topology,
			 NULL };

	become(bout);
	CHECK(ready_fd == 3 ? fcntl(3, F_SETFD, 0) == 0 : dup2(ready_fd, 3) == 3);
	closefrom(4);
	execv(argv[0], argv);
	CHECK(!"the daemon can be started");
}

void bout_session(struct bout *bout)
{
	int ready[2];
	char byte;

	CHECK(pipe2(ready, O_CLOEXEC) == 0);
	bout->daemon = add_party(bout, "daemon");
	bout->daemon->pid = fork();
	CHECK(bout->daemon->pid >= 0);
	if (bout->daemon->pid == 0)
		exec_daemon(bout, ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		bout_defect(bout, &bout->tally->wrong, "does not start", "daemon");
	close(ready[0]);
}

void bout_pair(int ret_socks[2])
{
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_socks) == 0);
}

void bout_pause(struct bout *bout, unsigned int ms)
{
	struct timespec pause = { .tv_nsec = (long)(bout_random(bout, ms * 1000) * 1000) };

	while (pause.tv_nsec >= 1000000000) {
		pause.tv_sec++;
		pause.tv_nsec -= 1000000000;
	}
	nanosleep(&pause, NULL);
}

void bout_kill_within(struct bout *bout, struct party *victim, unsigned int ms)
{
	if (bout->tally->is_spared)
		return;
	bout_pause(bout, ms);
	victim->is_victim = true;
	kill(victim->pid, SIGKILL);
	bout->tally->tried++;
}

/* Take the ends of all children that have ended. Returns false if there are no children any more. */
static bool reap(struct bout *bout)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (unsigned int i = 0; i < bout->num_parties; i++)
			if (bout->parties[i].pid == pid) {
				bout->parties[i].has_ended = true;
				bout->parties[i].status = status;
			}
	return pid == 0;
}

/* Sleep until a child ends. Returns false at the deadline. */
static bool await_child(int64_t deadline_ms)
{
	int64_t left = deadline_ms - proc_now_ms();
	struct timespec wait = { .tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000 };
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	return left > 0 && (sigtimedwait(&child, NULL, &wait) > 0 || errno == EINTR);
}

bool bout_poll(struct bout *bout, struct party *party, unsigned int ms)
{
	int64_t deadline = proc_now_ms() + ms;

	reap(bout);
	while (!party->has_ended && await_child(deadline))
		reap(bout);
	reap(bout);
	return party->has_ended;
}

bool bout_wait(struct bout *bout, struct party *party)
{
	return bout_poll(bout, party, 1000 * bout->patience_s);
}

/* ---- judgement ---- */

static void judge(struct bout *bout, struct party *party)
{
	char text[64];

	if (WIFSIGNALED(party->status)) {
		if (party->is_victim && WTERMSIG(party->status) == SIGKILL)
			return;
		snprintf(text, sizeof(text), "ended by signal %d", WTERMSIG(party->status));
		bout_defect(bout, &bout->tally->crashed, text, party->name);
	} else if (WEXITSTATUS(party->status) == ROLE_DONE) {
		bout->tally->survived++;
	} else if (WEXITSTATUS(party->status) == ROLE_FAILED || WEXITSTATUS(party->status) == ROLE_REFUSED) {
		bout->tally->refused++;
	} else {
		snprintf(text, sizeof(text), "exit status %d", WEXITSTATUS(party->status));
		bout_defect(bout, &bout->tally->wrong, text, party->name);
	}
}

static void end_party(struct bout *bout, struct party *party)
{
	if (bout_wait(bout, party)) {
		judge(bout, party);
		return;
	}
	bout_defect(bout, &bout->tally->hung, "still runs", party->name);
	if (getenv("HOSTILE_STOP")) {
		printf("process %d waits for a debugger\n", (int)party->pid);
		fflush(stdout);
		pause();
	}
	party->is_victim = true;
	kill(party->pid, SIGKILL);
	bout_wait(bout, party);
}

static void end_daemon(struct bout *bout)
{
	if (bout->daemon->is_victim) {
		end_party(bout, bout->daemon);
		bout_session(bout);
	}
	kill(bout->daemon->pid, SIGTERM);
	if (!bout_wait(bout, bout->daemon))
		end_party(bout, bout->daemon);
	else if (bout->daemon->status != 0)
		bout_defect(bout, WIFSIGNALED(bout->daemon->status) ? &bout->tally->crashed : &bout->tally->wrong,
			    "did not end well", "daemon");
}

/* Whether a file in /dev/shm is of a process of this round: an older process may have had the same number. */
static bool is_ours(const struct bout *bout, int dir_fd, const char *name)
{
	char prefix[32];
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_ctim.tv_sec < bout->since.tv_sec)
		return false;

	for (unsigned int i = 0; i < bout->num_parties; i++) {
		snprintf(prefix, sizeof(prefix), "bfsim-%d-", (int)bout->parties[i].pid);
		if (strncmp(name, prefix, strlen(prefix)) == 0)
			return true;
	}
	return false;
}

static void find_files(struct bout *bout, const char *path, bool all)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && (all || is_ours(bout, dirfd(dir), entry->d_name)))
			bout_defect(bout, &bout->tally->left, path, entry->d_name);
	if (dir)
		closedir(dir);
}

static void kill_children(void)
{
	char path[64];
	FILE *children;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	children = fopen(path, "r");
	while (children && fscanf(children, "%d", &pid) == 1)
		kill(pid, SIGKILL);
	if (children)
		fclose(children);
}

/* Processes of processes: they are this one's children since their parents ended. */
static void find_processes(struct bout *bout)
{
	int64_t deadline = proc_now_ms() + 1000 * bout->patience_s;

	while (reap(bout) && await_child(deadline))
		;
	if (!reap(bout))
		return;
	bout_defect(bout, &bout->tally->left, "a process is left", "-");
	kill_children();
	while (reap(bout) && await_child(deadline + 1000))
		;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

void bout_connect_within(struct bout *bout, unsigned int ms)
{
	char text[16];

	if (bout->tally->is_spared)
		ms = 1000 * bout->patience_s;
	bout->connect_ms = ms;
	snprintf(text, sizeof(text), "%u", ms);
	setenv("BFSIM_COMCH_WAIT", text, 1);
}

void bout_begin(struct bout *bout)
{
	char text[160];

	snprintf(text, sizeof(text), "%s/%s/%u", bout->attack, bout->path, bout->round);
	clock_gettime(CLOCK_REALTIME_COARSE, &bout->since); /* the clock of file times */
	bout_connect_within(bout, 5000);
	bout->random = hash(bout->seed ^ 0xcbf29ce484222325u, text);
	snprintf(bout->dir, sizeof(bout->dir), "/tmp/bfsim-hostile-XXXXXX");
	CHECK(mkdtemp(bout->dir));
	snprintf(bout->log, sizeof(bout->log), "%s.log", bout->dir);
	setenv("BFSIM_SESSION", bout->dir, 1);
	setenv("BFSIM_PATH", strcmp(bout->path, "-") == 0 ? "" : bout->path, 1);
}

void bout_end(struct bout *bout)
{
	for (unsigned int i = 0; i < bout->num_parties; i++)
		if (&bout->parties[i] != bout->daemon)
			end_party(bout, &bout->parties[i]);
	if (bout->daemon)
		end_daemon(bout);
	find_processes(bout);
	find_files(bout, bout->dir, true);
	find_files(bout, "/dev/shm", false);
	nftw(bout->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	unlink(bout->log);
}
