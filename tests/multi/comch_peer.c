/* SPDX-License-Identifier: BSD-3-Clause */
/* A daemon, peer processes and their event loops, for tests of Comch. */
#include "cmocka_test.h"
#include "comch_peer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_PEERS 256

/* ---- processes ---- */

static pid_t peers[MAX_PEERS]; /* all processes of the card; the last ones, if there were more */
static unsigned int num_peers;

struct start {
	const char *side;
	const struct peer_role *role;
};

/* Enter other namespaces: run the program anew, with its socket as descriptor 3. */
static void exec_wrapped(int ctl, const struct start *start)
{
	char self[4096], name[64];
	char *argv[] = { "/bin/sh", "-c", "exec $HOST_WRAPPER \"$@\"", "peer", self, "peer", name, NULL };
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	CHECK(len > 0);
	self[len] = '\0';
	snprintf(name, sizeof(name), "%s", start->role->name);
	CHECK(ctl == 3 || dup2(ctl, 3) == 3);
	CHECK(fcntl(3, F_SETFD, 0) == 0);
	execv(argv[0], argv);
	CHECK(!"/bin/sh can be started");
}

static void run_role(int ctl, const void *arg)
{
	const struct start *start = arg;

	setenv("BFSIM_SIDE", start->side, 1);
	if (strcmp(start->side, "host") == 0 && getenv("HOST_WRAPPER"))
		exec_wrapped(ctl, start);
	start->role->run(ctl);
}

void peer_start(struct proc *proc, const char *side, const struct peer_role *role, const void *arg, size_t len)
{
	struct start start = { .side = side, .role = role };

	proc_start(proc, run_role, &start);
	proc_send(proc->ctl, arg, len);
	peers[num_peers++ % MAX_PEERS] = proc->pid;
}

void peer_main(int argc, char **argv, const struct peer_role *roles)
{
	if (argc != 3 || strcmp(argv[1], "peer") != 0)
		return;
	proc_become();
	while (roles->name && strcmp(roles->name, argv[2]) != 0)
		roles++;
	CHECK(roles->name);
	roles->run(3);
	exit(0);
}

/* ---- the card ---- */

static struct proc card;
static char *card_dir;
static struct timespec card_since;

struct card_arg {
	const char *topology, *clock;
};

static void run_daemon(int ctl, const void *arg)
{
	const struct card_arg *how = arg;
	char ready[16];
	char *argv[] = { getenv("BFSIMD"),
			 "--foreground",
			 "--die-with-parent",
			 "--ready-fd",
			 ready,
			 "--session",
			 card_dir,
			 "--clock",
			 (char *)(uintptr_t)how->clock,
			 how->topology ? "--topology" : NULL,
			 (char *)(uintptr_t)how->topology,
			 NULL, /* for DAEMON_OPTION */
			 NULL };
	size_t num_args = 0;

	CHECK(argv[0]);
	while (argv[num_args])
		num_args++;
	argv[num_args] = getenv("DAEMON_OPTION");
	snprintf(ready, sizeof(ready), "%d", ctl);
	CHECK(fcntl(ctl, F_SETFD, 0) == 0);
	execv(argv[0], argv);
	CHECK(!"the daemon can be started");
}

void card_start(const char *topology)
{
	card_start_with(topology, "functional");
}

static void start_daemon(const struct card_arg *arg)
{
	char ready;

	proc_start(&card, run_daemon, arg);
	proc_recv(card.ctl, &ready, 1);
}

void card_start_with(const char *topology, const char *clock)
{
	const struct card_arg arg = { .topology = topology, .clock = clock };

	card_dir = proc_make_dir();
	clock_gettime(CLOCK_REALTIME_COARSE, &card_since); /* the clock of file times */
	num_peers = 0;
	setenv("BFSIM_SESSION", card_dir, 1);
	start_daemon(&arg);
}

void card_kill_daemon(void)
{
	proc_signal(&card, SIGKILL);
}

void card_restart(void)
{
	start_daemon(&(struct card_arg){ .clock = "functional" });
}

static void remove_dir(void)
{
	proc_remove_dir(card_dir);
	card_dir = NULL;
}

/* Returns true if the file is named after an ended peer. A running process may have the same number and own files. */
static bool is_of_a_peer(const char *name)
{
	long pid = strtol(name + strcspn(name, "0123456789"), NULL, 10);
	unsigned int i = 0;

	while (i < num_peers && i < MAX_PEERS && pid != peers[i])
		i++;
	return i < num_peers && i < MAX_PEERS && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

/* Returns true if a file in /dev/shm is named after the pid of a peer and younger than the card. Killed processes
 * of other tests may have left files, and pids repeat. */
static bool left_in_shm(void)
{
	DIR *dir = opendir("/dev/shm");
	const struct dirent *entry;
	bool found = false;
	struct stat st;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		/* Check in this order: a process that ended in between has removed its file. */
		found |= is_of_a_peer(entry->d_name) && fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 &&
			 st.st_ctim.tv_sec >= card_since.tv_sec;
	}
	closedir(dir);
	return found;
}

void card_end(void)
{
	int left;

	proc_signal(&card, SIGTERM);
	assert_int_equal(proc_wait(&card), 0);
	left = proc_num_files(card_dir);
	remove_dir();
	assert_int_equal(left, 0);
	assert_false(left_in_shm());
}

int card_setup(void **state)
{
	card_start(NULL);
	return 0;
}

int card_teardown(void **state)
{
	proc_kill_all();
	remove_dir();
	return 0;
}

int card_num_fds(void)
{
	return proc_num_fds(card.pid);
}

unsigned int peer_rounds(unsigned int count)
{
	const char *wanted = getenv("BFSIM_TEST_ROUNDS");

	if (wanted)
		return (unsigned int)strtoul(wanted, NULL, 10);
	return PROC_IS_SLOW && count > 10 ? 8 + count / 5 : count;
}

/* ---- loops ---- */

void loop_watch(struct loop *loop, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	CHECK(epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0);
}

void loop_open(struct loop *loop, bool sleeps)
{
	doca_notification_handle_t handle;

	*loop = (struct loop){ .sleeps = sleeps, .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	CHECK(loop->epoll_fd >= 0);
	MUST(doca_pe_create(&loop->pe));
	MUST(doca_pe_get_notification_handle(loop->pe, &handle));
	loop_watch(loop, handle);
}

void loop_close(struct loop *loop)
{
	MUST(doca_pe_destroy(loop->pe));
	close(loop->epoll_fd);
}

static int sleep_on(struct loop *loop, int ms)
{
	struct epoll_event event;
	int rc;

	MUST(doca_pe_request_notification(loop->pe));
	do {
		rc = epoll_wait(loop->epoll_fd, &event, 1, ms);
	} while (rc < 0 && errno == EINTR);
	CHECK(rc >= 0);
	MUST(doca_pe_clear_notification(loop->pe, 0));
	return rc;
}

void loop_turn(struct loop *loop, int ms)
{
	if (doca_pe_progress(loop->pe)) {
		loop->quiet_ms = 0;
		return;
	}
	if (loop->quiet_ms == 0)
		loop->quiet_ms = proc_now_ms();
	if (!loop->sleeps)
		sched_yield();
	else if (sleep_on(loop, ms < 0 ? PROC_DEADLINE_MS : ms) > 0)
		return;
	CHECK(proc_now_ms() - loop->quiet_ms < PROC_DEADLINE_MS);
}

/* ---- messages ---- */

/* A message's words rise by PATTERN_STEP from its first: tests, which are not optimized, have gigabytes of them. */
#define PATTERN_STEP UINT64_C(0x9e3779b97f4a7c15)

static uint64_t first_word(uint32_t sender, uint32_t seq)
{
	uint64_t mixed = ((uint64_t)sender << 32 | seq) * PATTERN_STEP;

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return mixed ^ mixed >> 27;
}

typedef uint64_t __attribute__((may_alias, aligned(1))) any_word;

void pattern_fill(uint8_t *bytes, size_t len, uint32_t sender, uint32_t seq)
{
	uint64_t word = first_word(sender, seq);

	for (size_t i = 0; i < len / 8; i++, word += PATTERN_STEP)
		((any_word *)bytes)[i] = word;
	for (size_t i = len / 8 * 8; i < len; i++, word >>= 8)
		bytes[i] = (uint8_t)word;
}

/* Not instrumented: the thread sanitizer cannot see the ordering by another process (tests/tsan.supp). Suppressing
 * a race per word would take minutes per message. So no memcmp() either. */
__attribute__((no_sanitize("thread"))) bool pattern_is(const uint8_t *bytes, size_t len, uint32_t sender, uint32_t seq)
{
	uint64_t word = first_word(sender, seq);

	for (size_t i = 0; i < len / 8; i++, word += PATTERN_STEP)
		if (((const any_word *)bytes)[i] != word)
			return false;
	for (size_t i = len / 8 * 8; i < len; i++, word >>= 8)
		if (bytes[i] != (uint8_t)word)
			return false;
	return true;
}
