/* SPDX-License-Identifier: BSD-3-Clause */
/* The two sides of a Comm Channel test: processes, words between them, endpoints. */
#include "channel_util.h"
#include "emulated.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE_MS 60000 /* a hang, not a slow machine */

static char session_dir[64];
static pid_t daemon_pid;

/* ---- the session ---- */

static void be_daemon(int ready_fd)
{
	char *argv[] = {
		getenv("BFSIMD"), "--foreground", "--die-with-parent", "--ready-fd", "3", "--session", session_dir, NULL
	};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argv[0] && dup2(ready_fd, 3) == 3)
		exec_built(argv);
	_exit(90);
}

int channel_session_start(void **state)
{
	char ready;
	int fds[2];

	snprintf(session_dir, sizeof(session_dir), "/tmp/bfsim-test-XXXXXX");
	if (!mkdtemp(session_dir) || pipe(fds) < 0)
		return -1;
	setenv("BFSIM_SESSION", session_dir, 1);
	daemon_pid = fork();
	if (daemon_pid == 0)
		be_daemon(fds[1]);
	close(fds[1]);
	if (read(fds[0], &ready, 1) != 1)
		return -1;
	close(fds[0]);
	return 0;
}

int channel_session_end(void **state)
{
	int status;

	if (daemon_pid <= 0) /* the setup failed */
		return 0;
	kill(daemon_pid, SIGTERM);
	waitpid(daemon_pid, &status, 0);
	return status != 0 || rmdir(session_dir) < 0;
}

/* ---- the processes ---- */

static void open_device(struct side *side, bool is_dpu)
{
	struct doca_devinfo_rep **reps;
	struct doca_devinfo **devs;
	uint32_t count;

	MUST(doca_devinfo_create_list(&devs, &count));
	MUST(doca_dev_open(devs[0], &side->dev));
	MUST(doca_devinfo_destroy_list(devs));
	if (!is_dpu)
		return;
	MUST(doca_devinfo_rep_create_list(side->dev, DOCA_DEVINFO_REP_FILTER_NET, &reps, &count));
	MUST(doca_dev_rep_open(reps[0], &side->rep));
	MUST(doca_devinfo_rep_destroy_list(reps));
}

/* A test may leave the endpoint in any state. */
static void run_half(channel_half *half, bool is_dpu, int sync_fd)
{
	struct side side = { .sync_fd = sync_fd };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("BFSIM_SIDE", is_dpu ? "dpu" : "host", 1);
	open_device(&side, is_dpu);
	MUST(doca_comm_channel_ep_create(&side.ep));
	MUST(doca_comm_channel_ep_set_device(side.ep, side.dev));
	if (is_dpu)
		MUST(doca_comm_channel_ep_set_device_rep(side.ep, side.rep));
	half(&side);
	if (side.ep)
		MUST(doca_comm_channel_ep_destroy(side.ep));
	if (is_dpu)
		MUST(doca_dev_rep_close(side.rep));
	MUST(doca_dev_close(side.dev));
	exit(0);
}

static pid_t start_half(channel_half *half, bool is_dpu, const int fds[2])
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid != 0)
		return pid;
	close(fds[!is_dpu]);
	run_half(half, is_dpu, fds[is_dpu]);
	return -1;
}

/* A process that fails closes its end of the synchronisation socket: the other process notices and ends, too. */
void channel_run_halves(void **state)
{
	const struct channel_halves *halves = *state;
	int fds[2], status[2];
	pid_t pids[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	pids[0] = start_half(halves->dpu, true, fds);
	pids[1] = start_half(halves->host, false, fds);
	close(fds[0]);
	close(fds[1]);
	for (int i = 0; i < 2; i++)
		assert_int_equal(waitpid(pids[i], &status[i], 0), pids[i]);
	assert_int_equal(status[0], 0);
	assert_int_equal(status[1], 0);
}

/* ---- synchronisation ---- */

void channel_sync_send(struct side *side, char value)
{
	CHECK(send(side->sync_fd, &value, 1, MSG_NOSIGNAL) == 1);
}

void channel_sync_recv(struct side *side, char value)
{
	char received = 0;

	channel_sleep(side->sync_fd);
	CHECK(read(side->sync_fd, &received, 1) == 1);
	CHECK(received == value);
}

void channel_sleep(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	CHECK(poll(&wait, 1, DEADLINE_MS) == 1);
}

/* ---- messages ---- */

static int send_channel(struct side *side)
{
	doca_event_channel_t fd;

	MUST(doca_comm_channel_ep_get_event_channel(side->ep, &fd, NULL));
	return fd;
}

static int recv_channel(struct side *side)
{
	doca_event_channel_t fd;

	MUST(doca_comm_channel_ep_get_event_channel(side->ep, NULL, &fd));
	return fd;
}

void channel_connect(struct side *side)
{
	doca_error_t result;

	MUST(doca_comm_channel_ep_connect(side->ep, CHANNEL_NAME, &side->peer));
	while ((result = doca_comm_channel_peer_addr_update_info(side->peer)) == DOCA_ERROR_CONNECTION_INPROGRESS) {
		MUST(doca_comm_channel_ep_event_handle_arm_send(side->ep));
		channel_sleep(send_channel(side));
	}
	MUST(result);
}

void channel_say(struct side *side, const char *text)
{
	doca_error_t result;

	while ((result = doca_comm_channel_ep_sendto(side->ep, text, strlen(text), DOCA_CC_MSG_FLAG_NONE,
						     side->peer)) == DOCA_ERROR_AGAIN) {
		MUST(doca_comm_channel_ep_event_handle_arm_send(side->ep));
		channel_sleep(send_channel(side));
	}
	MUST(result);
}

doca_error_t channel_receive(struct side *side)
{
	doca_error_t result;

	for (;;) {
		side->message_len = sizeof(side->message);
		result = doca_comm_channel_ep_recvfrom(side->ep, side->message, &side->message_len,
						       DOCA_CC_MSG_FLAG_NONE, &side->peer);
		if (result != DOCA_ERROR_AGAIN)
			return result;
		MUST(doca_comm_channel_ep_event_handle_arm_recv(side->ep));
		channel_sleep(recv_channel(side));
	}
}

void channel_expect(struct side *side, const char *text)
{
	MUST(channel_receive(side));
	CHECK(side->message_len == strlen(text));
	CHECK(memcmp(side->message, text, side->message_len) == 0);
}
