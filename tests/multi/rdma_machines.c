/* SPDX-License-Identifier: BSD-3-Clause */
/* One of the programs of an RDMA test over several machines: does what its standard input says, and prints what came of it. It
 * knows nothing of machines: its calls are those of any program.
 *
 *   rdma_machines [DEVICE [dc|patient]]       dc: the transport, where the responder exports, and the requester alone connects;
 *                                             patient: a connection by an address may take a minute
 *
 *   export FILE             write what the other side needs to connect, and to reach the memory
 *   connect FILE            connect to the other side, and import its memory
 *   write|write_imm OFFSET TEXT, read OFFSET LENGTH, add OFFSET VALUE, swap OFFSET OLD NEW      of the other side's memory
 *   send TEXT, send_imm TEXT, send_bytes LENGTH, receive LENGTH
 *   event FILE, event_import FILE, event_set VALUE, event_add VALUE, event_get, event_value     a sync event
 *   listen PORT, dial ADDRESS PORT, disconnect                   connections by addresses
 *   until PENDING           progress until no more than so many tasks are pending, and print the completions
 *   sleep_until PENDING     the same, asleep between completions
 *   pending                 progress once, and print how many tasks are pending
 *   writes COUNT LENGTH     submit so many writes, each behind the one before in both memories
 *   fork                    a process that exits at once
 *   state                   progress until an event of the connection manager comes, and print it
 *   show OFFSET LENGTH, sum OFFSET LENGTH, fill OFFSET LENGTH    the own memory
 *   time COUNT LENGTH       write so often, one write after the other, and print the nanoseconds of one
 *   stop                    the context, and print the completions
 *
 * Each line is answered by lines of results and a line "ok" or "error NAME".
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rdma_util.h"

#define ARGS        4
#define DEADLINE_S  30
#define PATIENCE_MS 60000
#define SCRATCH     (PEER_ARENA_BYTES / 2) /* the local end of tasks: the upper half of the memory */
#define MAX_BYTES   (PEER_ARENA_BYTES / 4)

struct details {
	uint8_t connection[64], memory[64];
	uint64_t base;
};

static struct peer *self;
static struct peer other; /* its memory, as the other side sees it */
static uint64_t number;
static char *args[ARGS];
static char events[256];
static struct doca_rdma_connection *connection;
static size_t read_bytes;

static uint64_t arg(int i)
{
	return args[i] ? strtoull(args[i], NULL, 0) : 0;
}

static const char *text(int i)
{
	return args[i] ? args[i] : "";
}

static struct doca_buf *local(size_t len, size_t data_len)
{
	return peer_buf(self, SCRATCH, len, data_len);
}

static struct doca_buf *remote(size_t len, size_t data_len)
{
	return peer_remote_buf(self, &other, arg(1), len, data_len);
}

/* The text of argument @i, in the memory that tasks read. */
static size_t put_text(int i)
{
	size_t len = strlen(text(i));

	memcpy(self->arena + SCRATCH, text(i), len);
	return len;
}

static void print_trace(void)
{
	fputs(self->trace, stdout);
	self->trace[0] = '\0';
}

static bool is_late(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - start->tv_sec > DEADLINE_S;
}

/* ---- files ---- */

static doca_error_t write_file(const void *bytes, size_t len)
{
	FILE *file = fopen(text(1), "w");

	return file && fwrite(bytes, len, 1, file) == 1 && fclose(file) == 0 ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

static doca_error_t read_file(void *bytes, size_t len)
{
	FILE *file = fopen(text(1), "r");
	bool is_read = file && fread(bytes, len, 1, file) == 1;

	if (file)
		fclose(file);
	return is_read ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

static doca_error_t do_export(void)
{
	struct details details = { .base = (uintptr_t)self->arena };
	const void *bytes;
	size_t len;
	doca_error_t result = doca_rdma_export(self->rdma, &bytes, &len, &connection);

	if (result != DOCA_SUCCESS)
		return result;
	memcpy(details.connection, bytes, sizeof(details.connection));
	self->connections[0] = connection;
	result = doca_mmap_export_rdma(self->mmap, self->dev, &bytes, &len);
	if (result != DOCA_SUCCESS)
		return result;
	memcpy(details.memory, bytes, sizeof(details.memory));
	return write_file(&details, sizeof(details));
}

static doca_error_t import_memory(const struct details *details)
{
	other.arena = (uint8_t *)(uintptr_t)details->base;
	return doca_mmap_create_from_export(NULL, details->memory, sizeof(details->memory), self->dev, &self->remote);
}

static doca_error_t do_import(void)
{
	struct details details;
	doca_error_t result = read_file(&details, sizeof(details));

	return result == DOCA_SUCCESS ? import_memory(&details) : result;
}

static doca_error_t do_connect(void)
{
	struct details details;
	doca_error_t result = read_file(&details, sizeof(details));

	if (result == DOCA_SUCCESS)
		result = doca_rdma_connect(self->rdma, details.connection, sizeof(details.connection), connection);
	return result == DOCA_SUCCESS ? import_memory(&details) : result;
}

/* ---- tasks ---- */

static doca_error_t do_write(void)
{
	size_t len = put_text(2);

	peer_write(self, number, local(len, len), remote(len, 0));
	return DOCA_SUCCESS;
}

static doca_error_t do_write_imm(void)
{
	size_t len = put_text(2);

	peer_write_imm(self, number, local(len, len), remote(len, 0), 0xABCD);
	return DOCA_SUCCESS;
}

static doca_error_t do_read(void)
{
	read_bytes = arg(2);
	peer_read(self, number, remote(read_bytes, read_bytes), local(read_bytes, 0));
	return DOCA_SUCCESS;
}

static doca_error_t do_write_bytes(void)
{
	peer_write(self, number, local(arg(2), arg(2)), remote(arg(2), 0));
	return DOCA_SUCCESS;
}

static doca_error_t do_writes(void)
{
	for (size_t i = 0; i < arg(1); i++)
		peer_write(self, number, peer_buf(self, SCRATCH + i * arg(2), arg(2), arg(2)),
			   peer_remote_buf(self, &other, i * arg(2), arg(2), 0));
	return DOCA_SUCCESS;
}

static doca_error_t do_add(void)
{
	peer_fetch_add(self, number, remote(8, 8), local(8, 0), arg(2));
	return DOCA_SUCCESS;
}

static doca_error_t do_swap(void)
{
	peer_cmp_swp(self, number, remote(8, 8), local(8, 0), arg(2), arg(3));
	return DOCA_SUCCESS;
}

static doca_error_t do_send(void)
{
	size_t len = put_text(1);

	peer_send(self, number, local(len, len));
	return DOCA_SUCCESS;
}

static doca_error_t do_send_imm(void)
{
	size_t len = put_text(1);

	peer_send_imm(self, number, local(len, len), 0xABCD);
	return DOCA_SUCCESS;
}

static doca_error_t do_send_bytes(void)
{
	peer_send(self, number, local(arg(1), arg(1)));
	return DOCA_SUCCESS;
}

/* Into the begin of the memory. */
static doca_error_t do_receive(void)
{
	peer_receive(self, number, peer_buf(self, 0, arg(1), 0));
	return DOCA_SUCCESS;
}

static doca_error_t do_until(void)
{
	struct timespec start;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (self->num_pending > arg(1)) {
		peers_progress(self, NULL);
		if (is_late(&start))
			return DOCA_ERROR_TIME_OUT;
	}
	print_trace();
	return DOCA_SUCCESS;
}

static doca_error_t do_sleep_until(void)
{
	doca_event_handle_t handle;
	struct pollfd event;

	MUST(doca_pe_get_notification_handle(self->pe, &handle));
	event = (struct pollfd){ .fd = handle, .events = POLLIN };
	while (self->num_pending > arg(1)) {
		MUST(doca_pe_request_notification(self->pe));
		if (poll(&event, 1, DEADLINE_S * 1000) == 0)
			return DOCA_ERROR_TIME_OUT;
		MUST(doca_pe_clear_notification(self->pe, handle));
		while (doca_pe_progress(self->pe) > 0)
			;
	}
	print_trace();
	return DOCA_SUCCESS;
}

static doca_error_t do_pending(void)
{
	peer_progress(self);
	printf("%u\n", self->num_pending);
	return DOCA_SUCCESS;
}

static doca_error_t do_fork(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		exit(0);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

/* ---- a sync event ---- */

static doca_error_t do_event(void)
{
	const uint8_t *bytes;
	size_t len;

	MUST(doca_sync_event_create(&self->event));
	MUST(doca_sync_event_add_publisher_location_remote_net(self->event));
	MUST(doca_sync_event_add_subscriber_location_cpu(self->event, self->dev));
	MUST(doca_sync_event_start(self->event));
	MUST(doca_sync_event_export_to_remote_net(self->event, &bytes, &len));
	return write_file(bytes, len);
}

static doca_error_t do_event_import(void)
{
	uint8_t bytes[64];
	doca_error_t result = read_file(bytes, sizeof(bytes));

	if (result != DOCA_SUCCESS)
		return result;
	return doca_sync_event_remote_net_create_from_export(self->dev, bytes, sizeof(bytes), &self->events[0]);
}

static doca_error_t do_event_set(void)
{
	uint64_t value = arg(1);

	memcpy(self->arena + SCRATCH, &value, sizeof(value));
	peer_event_set(self, number, local(8, 8));
	return DOCA_SUCCESS;
}

static doca_error_t do_event_add(void)
{
	peer_event_add(self, number, local(8, 0), arg(1));
	return DOCA_SUCCESS;
}

static doca_error_t do_event_get(void)
{
	peer_event_get(self, number, local(8, 0));
	return DOCA_SUCCESS;
}

static doca_error_t do_event_value(void)
{
	uint64_t value;
	doca_error_t result = doca_sync_event_get(self->event, &value);

	printf("%" PRIu64 "\n", value);
	return result;
}

/* ---- the connection manager ---- */

static void on_request(struct doca_rdma_connection *of, union doca_data ctx_user_data)
{
	(void)ctx_user_data;
	MUST(doca_rdma_connection_accept(of, NULL, 0));
}

static void on_established(struct doca_rdma_connection *of, union doca_data user_data, union doca_data ctx_user_data)
{
	(void)user_data, (void)ctx_user_data;
	self->connections[0] = connection = of;
	strcat(events, "established\n");
}

static void on_failure(struct doca_rdma_connection *of, union doca_data user_data, union doca_data ctx_user_data)
{
	(void)of, (void)user_data, (void)ctx_user_data;
	strcat(events, "failed\n");
}

static void on_disconnected(struct doca_rdma_connection *of, union doca_data user_data, union doca_data ctx_user_data)
{
	(void)user_data, (void)ctx_user_data;
	MUST(doca_rdma_connection_disconnect(of));
	strcat(events, "disconnected\n");
}

static doca_error_t do_listen(void)
{
	return doca_rdma_start_listen_to_port(self->rdma, (uint16_t)arg(1));
}

static doca_error_t do_dial(void)
{
	struct doca_rdma_addr *addr;
	doca_error_t result = doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, text(1), (uint16_t)arg(2), &addr);

	return result == DOCA_SUCCESS ? doca_rdma_connect_to_addr(self->rdma, addr, (union doca_data){ .u64 = 0 }) :
					result;
}

static doca_error_t do_disconnect(void)
{
	return doca_rdma_connection_disconnect(connection);
}

static doca_error_t do_state(void)
{
	struct timespec start;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (!events[0]) {
		peers_progress(self, NULL);
		if (is_late(&start))
			return DOCA_ERROR_TIME_OUT;
	}
	fputs(events, stdout);
	events[0] = '\0';
	return DOCA_SUCCESS;
}

/* The descriptor of the memory alone. */
static doca_error_t do_export_memory(void)
{
	struct details details = { .base = (uintptr_t)self->arena };
	const void *bytes;
	size_t len;
	doca_error_t result = doca_mmap_export_rdma(self->mmap, self->dev, &bytes, &len);

	if (result != DOCA_SUCCESS)
		return result;
	memcpy(details.memory, bytes, sizeof(details.memory));
	return write_file(&details, sizeof(details));
}

/* ---- the own memory ---- */

static doca_error_t do_show(void)
{
	printf("%.*s\n", (int)arg(2), (const char *)self->arena + arg(1));
	return DOCA_SUCCESS;
}

static doca_error_t do_result(void)
{
	printf("%.*s\n", (int)read_bytes, (const char *)self->arena + SCRATCH);
	return DOCA_SUCCESS;
}

static doca_error_t do_value(void)
{
	uint64_t value;

	memcpy(&value, self->arena + arg(1), sizeof(value));
	printf("%" PRIu64 "\n", value);
	return DOCA_SUCCESS;
}

/* Bytes that differ at each place; and a number that says so. */
static doca_error_t do_fill(void)
{
	for (uint64_t i = 0; i < arg(2); i++)
		self->arena[arg(1) + i] = (uint8_t)((i * 2654435761u) >> 13);
	return DOCA_SUCCESS;
}

static doca_error_t do_sum(void)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < arg(2); i++)
		sum = sum * 31 + self->arena[arg(1) + i];
	printf("%" PRIx64 "\n", sum);
	return DOCA_SUCCESS;
}

static doca_error_t do_time(void)
{
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (uint64_t i = 0; i < arg(1); i++) {
		peer_write(self, number, local(arg(2), arg(2)), peer_remote_buf(self, &other, 0, arg(2), 0));
		while (self->num_pending > 0)
			peer_progress(self);
		self->trace[0] = '\0';
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.0f\n",
	       ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) / (double)arg(1));
	return DOCA_SUCCESS;
}

static doca_error_t do_stop(void)
{
	peer_stop(self);
	print_trace();
	return DOCA_SUCCESS;
}

static doca_error_t do_stop_memory(void)
{
	return doca_mmap_stop(self->mmap);
}

/* ---- commands ---- */

static const struct command {
	const char *name;
	doca_error_t (*run)(void);
} commands[] = {
	{ "export", do_export },
	{ "export_memory", do_export_memory },
	{ "connect", do_connect },
	{ "import", do_import },
	{ "write", do_write },
	{ "write_imm", do_write_imm },
	{ "write_bytes", do_write_bytes },
	{ "read", do_read },
	{ "add", do_add },
	{ "swap", do_swap },
	{ "send", do_send },
	{ "send_imm", do_send_imm },
	{ "send_bytes", do_send_bytes },
	{ "receive", do_receive },
	{ "until", do_until },
	{ "sleep_until", do_sleep_until },
	{ "pending", do_pending },
	{ "writes", do_writes },
	{ "fork", do_fork },
	{ "event", do_event },
	{ "event_import", do_event_import },
	{ "event_set", do_event_set },
	{ "event_add", do_event_add },
	{ "event_get", do_event_get },
	{ "event_value", do_event_value },
	{ "listen", do_listen },
	{ "dial", do_dial },
	{ "disconnect", do_disconnect },
	{ "state", do_state },
	{ "show", do_show },
	{ "result", do_result },
	{ "value", do_value },
	{ "fill", do_fill },
	{ "sum", do_sum },
	{ "time", do_time },
	{ "stop", do_stop },
	{ "stop_memory", do_stop_memory },
};

/* Returns whether to go on. */
static bool obey(char *line)
{
	doca_error_t result = DOCA_ERROR_NOT_SUPPORTED;
	char *save = NULL;

	for (int i = 0; i < ARGS; i++)
		args[i] = strtok_r(i == 0 ? line : NULL, " \n", &save);
	if (!args[0])
		return false;
	number++;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, args[0]) == 0)
			result = commands[i].run();
	if (result == DOCA_SUCCESS)
		puts("ok");
	else
		printf("error %s\n", doca_error_get_name(result));
	return fflush(stdout) == 0;
}

int main(int argc, char **argv)
{
	char line[512];

	self = peer_open(argc > 1 ? (uint32_t)atoi(argv[1]) : 0, RDMA_ALL_ACCESS);
	self->may_be_refused = true;
	if (argc > 2 && strcmp(argv[2], "dc") == 0)
		MUST(doca_rdma_set_transport_type(self->rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
	if (argc > 2 && strcmp(argv[2], "patient") == 0)
		MUST(doca_rdma_set_connection_request_timeout(self->rdma, PATIENCE_MS));
	MUST(doca_rdma_set_connection_state_callbacks(self->rdma, on_request, on_established, on_failure,
						      on_disconnected));
	peer_start(self);
	puts("ok");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && obey(line))
		;
	return EXIT_SUCCESS;
}
