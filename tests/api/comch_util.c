/* SPDX-License-Identifier: BSD-3-Clause */
/* The two sides of a Comch test: processes, their synchronisation, client and server, trace. */
#include "comch_util.h"
#include "under_valgrind.h"
#include "emulated.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE_S  300 /* for each test: a hang, as machines are busy and sanitizers slow */
#define LAST_WORD_S 60  /* of those, when the other side has ended */
#define DPU_DEVICE  "03:00.0"
#define HOST_DEVICE "b1:00.0"

static const char *const state_names[] = { "idle", "starting", "running", "stopping" };

/* ---- synchronisation ---- */

void comch_sync_send(struct side *side, uint64_t value)
{
	CHECK(write(side->sync_fd, &value, sizeof(value)) == sizeof(value));
}

uint64_t comch_sync_recv(struct side *side)
{
	uint64_t value;

	if (read(side->sync_fd, &value, sizeof(value)) != sizeof(value))
		check_fail(__FILE__, __LINE__, "the other side", "ended", "a value");
	return value;
}

void comch_meet(struct side *side)
{
	comch_sync_send(side, 0);
	comch_sync_recv(side);
}

void comch_meet_progressing(struct side *side)
{
	comch_sync_send(side, 0);
	comch_sync_recv_progressing(side);
}

/* ---- progress ---- */

/* Sleep until the engine has an event, or the other side's value arrives, if @events asks for that. */
static void wait_for_event(struct side *side, short events)
{
	doca_notification_handle_t handle;
	struct pollfd fds[2] = { { .fd = side->sync_fd, .events = events }, { .events = POLLIN } };

	MUST(doca_pe_get_notification_handle(side->pe, &handle));
	fds[1].fd = handle;
	MUST(doca_pe_request_notification(side->pe));
	CHECK(poll(fds, 2, -1) > 0);
	MUST(doca_pe_clear_notification(side->pe, 0));
	if (fds[0].revents & POLLHUP && !side->has_left) {
		side->has_left = true; /* the value arrives soon, or the socket closes */
		alarm(LAST_WORD_S);
	}
}

static void step(struct side *side, short events)
{
	if (!doca_pe_progress(side->pe) && !side->is_busy)
		wait_for_event(side, events);
}

void comch_step(struct side *side)
{
	step(side, 0);
}

uint64_t comch_sync_recv_progressing(struct side *side)
{
	struct pollfd fd = { .fd = side->sync_fd, .events = POLLIN };

	while (poll(&fd, 1, 0) == 0)
		step(side, POLLIN);
	return comch_sync_recv(side);
}

/* ---- the trace ---- */

void comch_note(struct side *side, const char *format, ...)
{
	size_t len = strlen(side->trace);
	va_list args;

	va_start(args, format);
	vsnprintf(side->trace + len, sizeof(side->trace) - len, format, args);
	va_end(args);
}

void comch_forget(struct side *side)
{
	side->trace[0] = '\0';
}

void comch_expect_at(struct side *side, const char *lines, const char *file, int line)
{
	size_t len = strlen(lines);

	while (strlen(side->trace) < len && strncmp(side->trace, lines, strlen(side->trace)) == 0)
		comch_step(side);
	if (strcmp(side->trace, lines) != 0)
		check_fail(file, line, "trace", side->trace, lines);
	comch_forget(side);
}

/* ---- callbacks ---- */

struct comch_actor *comch_actor_of(const struct doca_task *task)
{
	union doca_data data;

	MUST(doca_ctx_get_user_data(doca_task_get_ctx(task), &data));
	return data.ptr;
}

static void on_state(const union doca_data data, struct doca_ctx *ctx, enum doca_ctx_states prev,
		     enum doca_ctx_states next)
{
	struct comch_actor *actor = data.ptr;

	CHECK(ctx == actor->ctx);
	comch_note(actor->side, "%s: %s -> %s\n", actor->name, state_names[prev], state_names[next]);
	if (actor->on.state)
		actor->on.state(actor, next);
}

static struct comch_actor *actor_of_connection(const struct doca_comch_connection *connection)
{
	struct doca_comch_server *server = doca_comch_server_get_server_ctx(connection);
	struct doca_comch_client *client = doca_comch_client_get_client_ctx(connection);
	union doca_data data;

	CHECK(!server != !client);
	MUST(doca_ctx_get_user_data(server ? doca_comch_server_as_ctx(server) : doca_comch_client_as_ctx(client),
				    &data));
	return data.ptr;
}

static void on_status(struct doca_comch_connection *connection, const char *event, bool connected)
{
	struct comch_actor *actor = actor_of_connection(connection);

	actor->side->connection = connection;
	comch_note(actor->side, "%s\n", event);
	if (actor->on.status)
		actor->on.status(actor, connection, connected);
}

static void on_connected(struct doca_comch_event_connection_status_changed *event,
			 struct doca_comch_connection *connection, uint8_t change_successful)
{
	CHECK(event);
	on_status(connection, change_successful ? "connected" : "refused", change_successful);
}

static void on_disconnected(struct doca_comch_event_connection_status_changed *event,
			    struct doca_comch_connection *connection, uint8_t change_successful)
{
	CHECK(event && change_successful == 1);
	on_status(connection, "disconnected", false);
}

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *data, uint32_t len,
		       struct doca_comch_connection *connection)
{
	struct comch_actor *actor = actor_of_connection(connection);
	struct side *side = actor->side;

	CHECK(event && data && len > 0 && len <= sizeof(side->message));
	memcpy(side->message, data, len);
	side->message_len = len;
	side->connection = connection;
	side->num_messages++;
	if (!side->is_quiet)
		comch_note(side, "received \"%.*s\"\n", (int)len, (const char *)data);
	if (actor->on.message)
		actor->on.message(actor, connection);
}

static void on_consumer(struct doca_comch_connection *connection, const char *event, uint32_t id)
{
	struct comch_actor *actor = actor_of_connection(connection);

	CHECK(id > 0);
	actor->side->consumer = id;
	comch_note(actor->side, "%s consumer\n", event);
	if (actor->on.consumer)
		actor->on.consumer(actor, connection);
}

static void on_new_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
			    uint32_t id)
{
	CHECK(event);
	on_consumer(connection, "new", id);
}

static void on_expired_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection,
				uint32_t id)
{
	CHECK(event);
	on_consumer(connection, "expired", id);
}

static void on_sent(struct doca_comch_task_send *send, union doca_data number, union doca_data data)
{
	struct comch_actor *actor = data.ptr;
	struct doca_task *task = doca_comch_task_send_as_task(send);

	actor->side->num_sent++;
	CHECK(actor == comch_actor_of(task) && doca_task_get_user_data(task).u64 == number.u64);
	if (doca_task_get_status(task) != DOCA_SUCCESS)
		comch_note(actor->side, "send %u failed: %s\n", (unsigned int)number.u64,
			   doca_error_get_name(doca_task_get_status(task)));
	else if (!actor->side->is_quiet)
		comch_note(actor->side, "sent %u\n", (unsigned int)number.u64);
	if (actor->on.task)
		actor->on.task(actor, task);
	else
		doca_task_free(task);
}

static void on_send_failed(struct doca_comch_task_send *send, union doca_data number, union doca_data data)
{
	CHECK(doca_task_get_status(doca_comch_task_send_as_task(send)) != DOCA_SUCCESS);
	on_sent(send, number, data);
}

/* ---- devices ---- */

struct doca_dev *comch_open(const char *pci_addr)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t count;
	uint8_t is_equal;

	MUST(doca_devinfo_create_list(&list, &count));
	for (uint32_t i = 0; i < count && !dev; i++) {
		MUST(doca_devinfo_is_equal_pci_addr(list[i], pci_addr, &is_equal));
		if (is_equal)
			MUST(doca_dev_open(list[i], &dev));
	}
	MUST(doca_devinfo_destroy_list(list));
	CHECK(dev);
	return dev;
}

struct doca_dev_rep *comch_open_rep(struct doca_dev *dev, const char *pci_addr)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t count;
	uint8_t is_equal;

	MUST(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_ALL, &list, &count));
	for (uint32_t i = 0; i < count && !rep; i++) {
		MUST(doca_devinfo_rep_is_equal_pci_addr(list[i], pci_addr, &is_equal));
		if (is_equal)
			MUST(doca_dev_rep_open(list[i], &rep));
	}
	MUST(doca_devinfo_rep_destroy_list(list));
	CHECK(rep);
	return rep;
}

/* ---- actors ---- */

struct comch_actor *comch_actor(struct side *side, const char *name, struct doca_ctx *ctx)
{
	struct comch_actor *actor = calloc(1, sizeof(*actor));
	union doca_data data = { .ptr = actor };

	CHECK(actor && ctx);
	*actor = (struct comch_actor){ .side = side, .name = name, .ctx = ctx };
	MUST(doca_ctx_set_user_data(ctx, data));
	MUST(doca_ctx_set_state_changed_cb(ctx, on_state));
	MUST(doca_pe_connect_ctx(side->pe, ctx));
	return actor;
}

/* COMCH_TASKS, or as many as the device takes. */
static uint32_t num_tasks(struct doca_dev *dev)
{
	uint32_t max;

	MUST(doca_comch_cap_get_max_send_tasks(doca_dev_as_devinfo(dev), &max));
	return max < COMCH_TASKS ? max : COMCH_TASKS;
}

struct comch_actor *comch_server(struct side *side, struct doca_dev *dev, struct doca_dev_rep *rep, const char *name)
{
	struct doca_comch_server *server;
	struct comch_actor *actor;

	MUST(doca_comch_server_create(dev, rep, name, &server));
	actor = comch_actor(side, "server", doca_comch_server_as_ctx(server));
	actor->server = server;
	MUST(doca_comch_server_task_send_set_conf(server, on_sent, on_send_failed, num_tasks(dev)));
	MUST(doca_comch_server_event_msg_recv_register(server, on_message));
	MUST(doca_comch_server_event_connection_status_changed_register(server, on_connected, on_disconnected));
	MUST(doca_comch_server_event_consumer_register(server, on_new_consumer, on_expired_consumer));
	return actor;
}

struct comch_actor *comch_client(struct side *side, struct doca_dev *dev, const char *name)
{
	struct doca_comch_client *client;
	struct comch_actor *actor;

	MUST(doca_comch_client_create(dev, name, &client));
	actor = comch_actor(side, "client", doca_comch_client_as_ctx(client));
	actor->client = client;
	MUST(doca_comch_client_task_send_set_conf(client, on_sent, on_send_failed, num_tasks(dev)));
	MUST(doca_comch_client_event_msg_recv_register(client, on_message));
	MUST(doca_comch_client_event_consumer_register(client, on_new_consumer, on_expired_consumer));
	return actor;
}

void comch_start(struct comch_actor *actor)
{
	EXPECT(doca_ctx_start(actor->ctx), actor->server ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS);
}

struct comch_actor *comch_serve(struct side *side)
{
	struct comch_actor *server = comch_server(side, side->dev, side->rep, COMCH_NAME);

	comch_start(server);
	comch_expect(side, "server: idle -> running\nconnected\n");
	return server;
}

struct comch_actor *comch_call(struct side *side)
{
	struct comch_actor *client = comch_client(side, side->dev, COMCH_NAME);

	comch_start(client);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\n");
	MUST(doca_comch_client_get_connection(client->client, &side->connection));
	return client;
}

enum doca_ctx_states comch_state(const struct comch_actor *actor)
{
	enum doca_ctx_states state;

	MUST(doca_ctx_get_state(actor->ctx, &state));
	return state;
}

void comch_end(struct comch_actor *actor)
{
	doca_error_t result = doca_ctx_stop(actor->ctx);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	comch_until(actor->side, comch_state(actor) == DOCA_CTX_STATE_IDLE);
	if (actor->server)
		MUST(doca_comch_server_destroy(actor->server));
	else
		MUST(doca_comch_client_destroy(actor->client));
	free(actor);
}

/* ---- messages ---- */

struct doca_comch_task_send *comch_task(struct comch_actor *actor, struct doca_comch_connection *connection,
					uint64_t number, const void *data, uint32_t len)
{
	struct doca_comch_task_send *task;
	union doca_data user_data = { .u64 = number };

	if (actor->server)
		MUST(doca_comch_server_task_send_alloc_init(actor->server, connection, data, len, &task));
	else
		MUST(doca_comch_client_task_send_alloc_init(actor->client, connection, data, len, &task));
	doca_task_set_user_data(doca_comch_task_send_as_task(task), user_data);
	return task;
}

void comch_send(struct comch_actor *actor, struct doca_comch_connection *connection, uint64_t number, const char *text)
{
	struct doca_comch_task_send *task = comch_task(actor, connection, number, text, (uint32_t)strlen(text));

	MUST(doca_task_submit(doca_comch_task_send_as_task(task)));
}

/* ---- the two processes ---- */

void comch_nothing(struct side *side)
{
}

static int live(comch_half *half, bool is_dpu, int sync_fd)
{
	const char *wait = getenv("COMCH_WAIT");
	struct side side = { .is_dpu = is_dpu, .sync_fd = sync_fd, .is_busy = wait && strcmp(wait, "busy") == 0 };

	setenv("BFSIM_SIDE", is_dpu ? "dpu" : "host", 1);
	side.dev = comch_open(is_dpu ? DPU_DEVICE : HOST_DEVICE);
	if (is_dpu)
		side.rep = comch_open_rep(side.dev, HOST_DEVICE);
	MUST(doca_pe_create(&side.pe));
	comch_meet(
		&side); /* a client waits a few seconds only for its server, and a busy machine may start one side late */
	half(&side);
	MUST(doca_pe_destroy(side.pe));
	if (is_dpu)
		MUST(doca_dev_rep_close(side.rep));
	MUST(doca_dev_close(side.dev));
	return 0;
}

static pid_t start_half(comch_half *half, bool is_dpu, const int *words)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS };
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(DEADLINE_S);
	close(words[is_dpu]);
	exit(live(half, is_dpu, words[!is_dpu]));
}

static void reap(pid_t pid, const char *side)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		print_error("the %s's side was killed by signal %d\n", side, WTERMSIG(status));
	assert_int_equal(status, 0);
}

void comch_run_halves(void **state)
{
	const struct comch_halves *halves = *state;
	pid_t dpu, host;
	int words[2];

	fflush(NULL);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, words), 0);
	dpu = start_half(halves->dpu, true, words);
	host = start_half(halves->host, false, words);
	close(words[0]);
	close(words[1]);
	reap(dpu, "DPU");
	reap(host, "host");
}

void comch_run_natively(void **state)
{
	if (RUNNING_ON_VALGRIND)
		skip();
	comch_run_halves(state);
}

/* ---- the session ---- */

struct comch_session comch_session = { .topology = "comch.yaml", .clock = "functional" };

static char session_dir[64];
static pid_t daemon_pid;

static int session_start(void **state)
{
	int ready[2];
	char number[16], topology[4096], byte;

	snprintf(topology, sizeof(topology), "%s/%s", API_DATA_DIR, comch_session.topology);
	strcpy(session_dir, "/tmp/bfsim-test-XXXXXX");
	assert_non_null(mkdtemp(session_dir));
	assert_non_null(getenv("BFSIMD"));
	assert_int_equal(pipe(ready), 0);
	snprintf(number, sizeof(number), "%d", ready[1]);
	daemon_pid = fork();
	if (daemon_pid == 0) {
		char *argv[] = { getenv("BFSIMD"),
				 "--foreground",
				 "--die-with-parent",
				 "--ready-fd",
				 number,
				 "--session",
				 session_dir,
				 "--topology",
				 topology,
				 "--clock",
				 (char *)(uintptr_t)comch_session.clock,
				 NULL };

		close(ready[0]);
		exec_built(argv);
		_exit(127);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	unsetenv("BFSIM_TOPOLOGY");
	setenv("BFSIM_LOG_LEVEL", "0", 0); /* the tests provoke refusals; set it to 30 to read their log lines */
	return setenv("BFSIM_SESSION", session_dir, 1);
}

static int session_end(void **state)
{
	int status;

	if (daemon_pid <= 0) /* the setup failed */
		return 0;
	kill(daemon_pid, SIGTERM);
	waitpid(daemon_pid, &status, 0);
	assert_int_equal(status, 0);
	return rmdir(session_dir); /* the directory is empty */
}

int comch_run_all(const char *name, const struct CMUnitTest *tests, size_t num_tests)
{
	cmocka_set_test_filter(getenv("COMCH_TEST"));
	return _cmocka_run_group_tests(name, tests, num_tests, session_start, session_end);
}
