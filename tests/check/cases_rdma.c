/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about RDMA: two peers in one process, or in two where the other one's report would stand before. */
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bfsim.h>

#include "cases.h"
#include "tests/api/rdma_util.h"

#define DETAILS_BYTES 64

struct pair {
	struct peer *a, *b;
};

/* Two peers that run, not connected. */
static struct pair start_pair(uint32_t access_of_b)
{
	struct pair pair = { peer_open(0, RDMA_ALL_ACCESS), peer_open(1, access_of_b) };

	peer_start(pair.a);
	peer_start(pair.b);
	return pair;
}

static struct pair connect_pair(void)
{
	struct pair pair = start_pair(RDMA_ALL_ACCESS);

	peers_connect(pair.a, pair.b);
	return pair;
}

static void close_pair(struct pair *pair)
{
	peer_close(pair->a);
	peer_close(pair->b);
}

static void drain(struct pair *pair)
{
	peers_drain(pair->a, pair->b, 0);
}

/* ---- states ---- */

static void export_idle(void)
{
	struct peer *peer = peer_open(0, RDMA_ALL_ACCESS);
	struct doca_rdma_connection *connection;
	const void *details;
	size_t len;

	CHECK(doca_rdma_export(peer->rdma, &details, &len, &connection) == DOCA_ERROR_BAD_STATE);
	peer_close(peer);
}

static void connect_twice(void)
{
	struct pair pair = connect_pair();
	struct doca_rdma_connection *connection;
	const void *details;
	size_t len;

	MUST(doca_rdma_export(pair.b->rdma, &details, &len, &connection));
	CHECK(doca_rdma_connect(pair.a->rdma, details, len, pair.a->connections[0]) == DOCA_ERROR_BAD_STATE);
	close_pair(&pair);
}

/* A connection for each time. */
static void connect_two(void)
{
	struct pair pair = connect_pair();

	peers_connect(pair.a, pair.b);
	close_pair(&pair);
}

/* ---- tasks and connections ---- */

static void send_unconnected(void)
{
	struct pair pair = start_pair(RDMA_ALL_ACCESS);
	const void *details;
	size_t len;

	MUST(doca_rdma_export(pair.a->rdma, &details, &len, &pair.a->connections[0]));
	pair.a->may_be_refused = true;
	peer_send(pair.a, 1, peer_buf(pair.a, 0, 64, 64));
	close_pair(&pair);
}

static void send_connected(void)
{
	struct pair pair = connect_pair();

	peer_receive(pair.b, 1, peer_buf(pair.b, 0, 64, 0));
	peer_send(pair.a, 2, peer_buf(pair.a, 0, 64, 64));
	drain(&pair);
	close_pair(&pair);
}

/* The program knows the end by the first failure. */
static void send_after_failure(void)
{
	struct pair pair = connect_pair();

	CHECK(bfsim_fault_add("rdma.send nth=1 fail=IO_FAILED", NULL) == 0);
	for (int i = 0; i < 2; i++) {
		pair.a->may_be_refused = i > 0;
		peer_send(pair.a, (uint64_t)i, peer_buf(pair.a, 0, 64, 64));
		peers_drain(pair.a, NULL, 0);
	}
	close_pair(&pair);
}

/* The second one is in flight when the first one fails. */
static void send_before_failure(void)
{
	struct pair pair = connect_pair();

	CHECK(bfsim_fault_add("rdma.send nth=1 fail=IO_FAILED", NULL) == 0);
	pair.a->may_be_refused = true;
	for (int i = 0; i < 2; i++)
		peer_send(pair.a, (uint64_t)i, peer_buf(pair.a, 0, 64, 64));
	peers_drain(pair.a, NULL, 0);
	close_pair(&pair);
}

/* ---- the peer's memory ---- */

/* Write @len bytes to @offset of the peer's memory; the buffer's data is moved there. */
static void write_at(size_t offset, size_t len)
{
	struct pair pair = connect_pair();
	struct doca_buf *to = peer_remote_buf(pair.a, pair.b, 0, PEER_ARENA_BYTES, 0);

	MUST(doca_buf_set_data(to, pair.b->arena + offset, 0));
	peer_write(pair.a, 1, peer_buf(pair.a, 0, len, len), to);
	drain(&pair);
	close_pair(&pair);
}

static void read_at(size_t offset, size_t len)
{
	struct pair pair = connect_pair();
	struct doca_buf *from = peer_remote_buf(pair.a, pair.b, 0, PEER_ARENA_BYTES, 0);

	MUST(doca_buf_set_data(from, pair.b->arena + offset, len));
	peer_read(pair.a, 1, from, peer_buf(pair.a, 0, len, 0));
	drain(&pair);
	close_pair(&pair);
}

static void read_outside(void)
{
	read_at(PEER_ARENA_BYTES - 32, 64);
}

static void read_inside(void)
{
	read_at(PEER_ARENA_BYTES - 64, 64);
}

static void write_inside(void)
{
	write_at(PEER_ARENA_BYTES - 64, 64);
}

static void add_at(size_t offset)
{
	struct pair pair = connect_pair();

	peer_fetch_add(pair.a, 1, peer_remote_buf(pair.a, pair.b, offset, 8, 8), peer_buf(pair.a, 0, 8, 0), 1);
	drain(&pair);
	close_pair(&pair);
}

static void add_unaligned(void)
{
	add_at(4);
}

static void add_aligned(void)
{
	add_at(8);
}

/* ---- permissions ---- */

static void write_to(uint32_t access_of_b)
{
	struct pair pair = start_pair(access_of_b);

	peers_connect(pair.a, pair.b);
	peer_write(pair.a, 1, peer_buf(pair.a, 0, 64, 64), peer_remote_buf(pair.a, pair.b, 0, 64, 0));
	drain(&pair);
	close_pair(&pair);
}

static void write_without_right(void)
{
	write_to(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ);
}

static void write_with_right(void)
{
	write_to(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE);
}

/* What the peers of two processes exchange. */
struct details {
	uint8_t connection[DETAILS_BYTES], memory[DETAILS_BYTES];
	uint8_t *arena;
};

static struct details export_peer(struct peer *peer)
{
	struct details details = { .arena = peer->arena };
	const void *bytes;
	size_t len;

	MUST(doca_rdma_export(peer->rdma, &bytes, &len, &peer->connections[0]));
	memcpy(details.connection, bytes, DETAILS_BYTES);
	MUST(doca_mmap_export_rdma(peer->mmap, peer->dev, &bytes, &len));
	memcpy(details.memory, bytes, DETAILS_BYTES);
	return details;
}

static void send_details(int fd, const struct details *details)
{
	CHECK(write(fd, details, sizeof(*details)) == sizeof(*details));
}

static struct details receive_details(int fd)
{
	struct details details;

	CHECK(read(fd, &details, sizeof(details)) == sizeof(details));
	return details;
}

static void connect_to(struct peer *peer, const struct details *other)
{
	MUST(doca_rdma_connect(peer->rdma, other->connection, DETAILS_BYTES, peer->connections[0]));
	MUST(doca_mmap_create_from_export(NULL, other->memory, DETAILS_BYTES, peer->dev, &peer->remote));
}

/* ---- two processes: the requester, on the host, and the owner of the memory, on the DPU, which starts it ---- */

struct requester {
	struct bfsim_session *session;
	pid_t pid;
	int in, out;            /* of the owner, from the requester and to it */
	struct details details; /* the requester's */
};

/* What the requester does with the owner's memory; with @in and @out, its own ends of the pipes. */
typedef void requester_work(struct peer *peer, const struct details *owner, int in, int out);

static struct doca_buf *buf_of_owner(struct peer *peer, const struct details *owner, size_t data_len)
{
	return peer_remote_buf(peer, &(struct peer){ .arena = owner->arena }, 0, 64, data_len);
}

/* Its reports do not count. */
static void run_requester(struct bfsim_session *session, requester_work *work, int in, int out)
{
	struct peer *peer;
	struct details mine, owner;

	CHECK(freopen("/dev/null", "w", stderr));
	CHECK(bfsim_session_enter(session, "host") == 0);
	peer = peer_open(0, RDMA_ALL_ACCESS);
	peer_start(peer);
	mine = export_peer(peer);
	send_details(out, &mine);
	owner = receive_details(in);
	connect_to(peer, &owner);
	work(peer, &owner, in, out);
	_exit(0);
}

/* Returns the owner's peer, connected to the requester's, which is at work. */
static struct peer *start_requester(struct requester *requester, requester_work *work, uint32_t access_of_map,
				    uint32_t access_of_context)
{
	int to_requester[2], to_owner[2];
	struct details mine;
	struct peer *peer;

	CHECK(bfsim_session_start(NULL, &requester->session) == 0);
	CHECK(pipe(to_requester) == 0 && pipe(to_owner) == 0);
	requester->pid = fork();
	CHECK(requester->pid >= 0);
	if (requester->pid == 0)
		run_requester(requester->session, work, to_requester[0], to_owner[1]);
	requester->in = to_owner[0];
	requester->out = to_requester[1];
	CHECK(bfsim_session_enter(requester->session, "dpu") == 0);
	peer = peer_open(0, access_of_map);
	MUST(doca_rdma_set_permissions(peer->rdma, access_of_context));
	peer_start(peer);
	requester->details = receive_details(requester->in);
	mine = export_peer(peer);
	connect_to(peer, &requester->details);
	send_details(requester->out, &mine);
	return peer;
}

/* The bytes say nothing: the requester is told to go on, and the owner that the requester has come so far. */
static void tell_requester(const struct requester *requester)
{
	send_details(requester->out, &requester->details);
}

static void await_requester(const struct requester *requester)
{
	receive_details(requester->in);
}

static void end_both(const struct requester *requester, struct peer *peer)
{
	int status;

	CHECK(waitpid(requester->pid, &status, 0) == requester->pid && status == 0);
	peer_close(peer);
	CHECK(bfsim_session_stop(requester->session) == 0);
}

static void write_to_owner(struct peer *peer, const struct details *owner, int in, int out)
{
	(void)in;
	peer_write(peer, 1, peer_buf(peer, 0, 64, 64), buf_of_owner(peer, owner, 0));
	peers_drain(peer, NULL, 0);
	send_details(out, owner);
}

static void own_memory(uint32_t access_of_map, uint32_t access_of_context)
{
	struct requester requester;
	struct peer *peer = start_requester(&requester, write_to_owner, access_of_map, access_of_context);

	await_requester(&requester);
	end_both(&requester, peer);
}

static void own_without_right(void)
{
	own_memory(RDMA_ALL_ACCESS, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ);
}

/* The owner disconnects before it stops. */
static void own_without_right_and_disconnect(void)
{
	struct requester requester;
	struct peer *peer = start_requester(&requester, write_to_owner, RDMA_ALL_ACCESS,
					    DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ);

	await_requester(&requester);
	MUST(doca_rdma_connection_disconnect(peer->connections[0]));
	end_both(&requester, peer);
}

static void own_map_without_right(void)
{
	own_memory(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ, RDMA_ALL_ACCESS);
}

static void own_with_right(void)
{
	own_memory(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE,
		   DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE);
}

/* A receive into memory that is for reading. */
static void receive_into(uint32_t access)
{
	struct pair pair = start_pair(access);

	peers_connect(pair.a, pair.b);
	pair.b->may_be_refused = true;
	peer_receive(pair.b, 1, peer_buf(pair.b, 0, 64, 0));
	close_pair(&pair);
}

static void receive_into_read_only(void)
{
	receive_into(DOCA_ACCESS_FLAG_RDMA_READ);
}

static void receive_into_writable(void)
{
	receive_into(DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
}

static void export_memory(uint32_t access)
{
	struct peer *peer = peer_open(0, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	void *memory = aligned_alloc(4096, 4096);
	struct doca_mmap *map;
	const void *bytes;
	size_t len;

	CHECK(memory);
	map = rig_make_mmap(peer->dev, memory, 4096, access);
	(void)!doca_mmap_export_rdma(map, peer->dev, &bytes, &len);
	MUST(doca_mmap_destroy(map));
	free(memory);
	peer_close(peer);
}

static void export_for_pci(void)
{
	export_memory(DOCA_ACCESS_FLAG_PCI_READ_WRITE);
}

static void export_for_rdma(void)
{
	export_memory(DOCA_ACCESS_FLAG_RDMA_READ);
}

/* ---- the end of memory ---- */

static void end_memory(bool ends_connection_first)
{
	struct pair pair = connect_pair();

	peers_drain(pair.a, pair.b, 0);
	if (ends_connection_first)
		peer_stop(pair.a);
	MUST(doca_mmap_stop(pair.b->mmap));
	close_pair(&pair);
}

static void end_memory_first(void)
{
	end_memory(false);
}

static void end_memory_last(void)
{
	end_memory(true);
}

static void read_ended(bool ends_first)
{
	struct pair pair = connect_pair();
	struct doca_buf *from = peer_remote_buf(pair.a, pair.b, 0, 64, 64);

	if (ends_first)
		MUST(doca_mmap_stop(pair.b->mmap));
	peer_read(pair.a, 1, from, peer_buf(pair.a, 0, 64, 0));
	peers_drain(pair.a, pair.b, 0);
	if (!ends_first)
		peer_stop(pair.b);
	close_pair(&pair);
}

static void read_after_end(void)
{
	read_ended(true);
}

static void read_before_end(void)
{
	read_ended(false);
}

/* A receive is in flight when its map ends. */
static void end_receives_memory(void)
{
	struct pair pair = connect_pair();

	peer_receive(pair.b, 1, peer_buf(pair.b, 0, 64, 0));
	CHECK(doca_mmap_stop(pair.b->mmap) != DOCA_SUCCESS);
	close_pair(&pair);
}

static void end_received_memory(void)
{
	struct pair pair = connect_pair();

	peer_receive(pair.b, 1, peer_buf(pair.b, 0, 64, 0));
	peer_send(pair.a, 2, peer_buf(pair.a, 0, 64, 64));
	drain(&pair);
	peer_stop(pair.a);
	MUST(doca_mmap_stop(pair.b->mmap));
	close_pair(&pair);
}

/* ---- events of the peer ---- */

static void end_event(bool waits)
{
	struct pair pair = connect_pair();

	peer_share_event(pair.b, pair.a);
	if (!waits)
		CHECK(bfsim_fault_add("rdma.event_set nth=1 hang", NULL) == 0);
	peer_event_set(pair.a, 1, peer_buf(pair.a, 0, 8, 8));
	if (waits)
		peers_drain(pair.a, NULL, 0);
	if (doca_sync_event_remote_net_destroy(pair.a->events[0]) == DOCA_SUCCESS)
		pair.a->events[0] = NULL;
	close_pair(&pair);
}

static void end_event_in_flight(void)
{
	end_event(false);
}

static void end_event_behind_task(void)
{
	end_event(true);
}

/* ---- receives ---- */

static void receive_late(bool posts)
{
	struct pair pair = connect_pair();

	if (posts)
		peer_receive(pair.b, 1, peer_buf(pair.b, 0, 64, 0));
	peer_send(pair.a, 2, peer_buf(pair.a, 0, 64, 64));
	drain(&pair);
	close_pair(&pair);
}

static void post_nothing(void)
{
	receive_late(false);
}

static void post_before(void)
{
	receive_late(true);
}

/* Without retries, the sender fails before its peer is told. */
static void send_without_retries(bool peer_posts)
{
	struct pair pair = { peer_open(0, RDMA_ALL_ACCESS), peer_open(1, RDMA_ALL_ACCESS) };

	MUST(doca_rdma_set_rnr_retry_count(pair.a->rdma, 0));
	peer_start(pair.a);
	peer_start(pair.b);
	peers_connect(pair.a, pair.b);
	if (peer_posts)
		peer_receive(pair.b, 1, peer_buf(pair.b, 0, 64, 0));
	peer_send(pair.a, 2, peer_buf(pair.a, 0, 64, 64));
	drain(&pair);
	close_pair(&pair);
}

static void send_to_nothing(void)
{
	send_without_retries(false);
}

static void send_to_receive(void)
{
	send_without_retries(true);
}

/* Sixteen messages at once, for so many receives at a time. */
static void receive_many(uint32_t num_posted)
{
	struct pair pair = connect_pair();
	uint32_t count = 16;

	for (uint32_t i = 0; i < num_posted; i++)
		peer_receive(pair.b, i, peer_buf(pair.b, i * 64, 64, 0));
	for (uint32_t i = 0; i < count; i++)
		peer_send(pair.a, i, peer_buf(pair.a, 0, 64, 64));
	for (uint32_t i = num_posted; i < count; i++) {
		while (pair.b->num_pending == num_posted)
			peer_progress(pair.b);
		peer_receive(pair.b, i, peer_buf(pair.b, i * 64, 64, 0));
	}
	drain(&pair);
	close_pair(&pair);
}

static void post_one_at_a_time(void)
{
	receive_many(1);
}

static void post_enough(void)
{
	receive_many(16);
}

/* ---- results ---- */

static struct doca_rdma_task_receive *received;
static struct doca_pe *other_engine; /* which the callback progresses before it asks; NULL = none */
static bool asks_in_callback;

static void on_receive(struct doca_rdma_task_receive *task, union doca_data user_data, union doca_data ctx_user_data)
{
	if (other_engine)
		doca_pe_progress(other_engine);
	if (asks_in_callback)
		CHECK(doca_rdma_task_receive_get_result_rdma_connection(task));
	received = task;
}

static void on_failed(struct doca_rdma_task_receive *task, union doca_data user_data, union doca_data ctx_user_data)
{
	CHECK(doca_task_get_status(doca_rdma_task_receive_as_task(task)) != DOCA_SUCCESS);
	received = task;
}

/* A message with a callback of this file. @asks_early: for its length, before it is here. */
static void ask(bool in_callback, bool asks_early)
{
	struct pair pair = { peer_open(0, RDMA_ALL_ACCESS), peer_open(1, RDMA_ALL_ACCESS) };
	struct doca_rdma_task_receive *task;

	asks_in_callback = in_callback;
	MUST(doca_rdma_task_receive_set_conf(pair.b->rdma, on_receive, on_failed, 4));
	peer_start(pair.a);
	peer_start(pair.b);
	peers_connect(pair.a, pair.b);
	MUST(doca_rdma_task_receive_allocate_init(pair.b->rdma, NULL, (union doca_data){ 0 }, &task));
	CHECK(!doca_rdma_task_receive_get_result_rdma_connection(task)); /* it has none yet */
	MUST(doca_task_submit(doca_rdma_task_receive_as_task(task)));
	if (asks_early)
		(void)doca_rdma_task_receive_get_result_len(task);
	peer_send(pair.a, 1, NULL);
	while (!received || pair.a->num_pending > 0) {
		peer_progress(pair.a);
		peer_progress(pair.b);
	}
	if (!in_callback && !asks_early)
		(void)doca_rdma_task_receive_get_result_rdma_connection(received);
	if (!asks_early)
		(void)doca_rdma_task_receive_get_result_len(received);
	doca_task_free(doca_rdma_task_receive_as_task(received));
	close_pair(&pair);
}

static void ask_later(void)
{
	ask(false, false);
}

static void ask_in_callback(void)
{
	ask(true, false);
}

static void ask_behind_other_engine(void)
{
	MUST(doca_pe_create(&other_engine));
	ask(true, false);
	MUST(doca_pe_destroy(other_engine));
}

static void ask_early(void)
{
	ask(true, true);
}

/* ---- descriptors ---- */

/* A process with a card of its own exports: to the parent, the descriptor is of another session. */
static void export_elsewhere(int fd)
{
	struct peer *peer = peer_open(0, RDMA_ALL_ACCESS);
	struct details details;

	peer_start(peer);
	details = export_peer(peer);
	send_details(fd, &details);
	_exit(0);
}

static struct details left_by_other_run(void)
{
	struct details details;
	int fds[2], status;
	pid_t child;

	CHECK(pipe(fds) == 0);
	child = fork();
	CHECK(child >= 0);
	if (child == 0)
		export_elsewhere(fds[1]);
	details = receive_details(fds[0]);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	return details;
}

static void connect_by(const uint8_t *details)
{
	struct peer *peer = peer_open(0, RDMA_ALL_ACCESS);
	const void *bytes;
	size_t len;

	peer_start(peer);
	MUST(doca_rdma_export(peer->rdma, &bytes, &len, &peer->connections[0]));
	CHECK(doca_rdma_connect(peer->rdma, details, DETAILS_BYTES, peer->connections[0]) ==
	      DOCA_ERROR_CONNECTION_ABORTED);
	peer_close(peer);
}

static void connect_to_left_file(void)
{
	struct details details = left_by_other_run();

	connect_by(details.connection);
}

static void import_left_file(void)
{
	struct details details = left_by_other_run();
	struct doca_dev *dev = rig_open_dev(0);
	struct doca_mmap *map;

	CHECK(doca_mmap_create_from_export(NULL, details.memory, DETAILS_BYTES, dev, &map) != DOCA_SUCCESS);
	MUST(doca_dev_close(dev));
}

/* The peer's context was stopped. */
static void connect_to_ended(void)
{
	struct pair pair = start_pair(RDMA_ALL_ACCESS);
	struct details details = export_peer(pair.b), mine = export_peer(pair.a);

	peer_stop(pair.b);
	CHECK(doca_rdma_connect(pair.a->rdma, details.connection, DETAILS_BYTES, pair.a->connections[0]) ==
	      DOCA_ERROR_CONNECTION_ABORTED);
	(void)mine;
	close_pair(&pair);
}

static void connect_by_memorys(void)
{
	struct pair pair = start_pair(RDMA_ALL_ACCESS);
	struct details details = export_peer(pair.b), mine = export_peer(pair.a);

	CHECK(doca_rdma_connect(pair.a->rdma, details.memory, DETAILS_BYTES, pair.a->connections[0]) ==
	      DOCA_ERROR_CONNECTION_ABORTED);
	(void)mine;
	close_pair(&pair);
}

/* ---- races ---- */

/* Memory that no peer imports. */
static struct pair connect_alone(void)
{
	struct pair pair = start_pair(DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct peer *peers[] = { pair.a, pair.b };
	const void *details[2];
	size_t lens[2];

	for (int i = 0; i < 2; i++)
		MUST(doca_rdma_export(peers[i]->rdma, &details[i], &lens[i], &peers[i]->connections[0]));
	for (int i = 0; i < 2; i++)
		MUST(doca_rdma_connect(peers[i]->rdma, details[!i], lens[!i], peers[i]->connections[0]));
	return pair;
}

static void send_and_write(bool writes_early)
{
	struct pair pair = connect_alone();
	volatile uint8_t *source = pair.a->arena;

	peer_receive(pair.b, 1, peer_buf(pair.b, 0, 64, 0));
	peer_send(pair.a, 2, peer_buf(pair.a, 0, 64, 64));
	if (writes_early)
		source[3] = 7;
	drain(&pair);
	source[3] = 8;
	close_pair(&pair);
}

static void send_then_write(void)
{
	send_and_write(true);
}

static void send_wait_write(void)
{
	send_and_write(false);
}

/* A map that tasks of the context have used ends before it; the peer has another one instead. */
static void end_map_of_sends(void)
{
	struct pair pair = connect_alone();

	peer_receive(pair.b, 1, peer_buf(pair.b, 0, 64, 0));
	peer_send(pair.a, 2, peer_buf(pair.a, 0, 64, 64));
	drain(&pair);
	MUST(doca_mmap_destroy(pair.a->mmap));
	MUST(doca_mmap_create(&pair.a->mmap));
	close_pair(&pair);
}

/* ---- tasks that overlap ---- */

/* The second task sends what the first one reads. */
static void read_and_send(bool waits)
{
	struct pair pair = connect_pair();

	peer_receive(pair.b, 1, peer_buf(pair.b, 4096, 64, 0));
	peer_read(pair.a, 2, peer_remote_buf(pair.a, pair.b, 0, 64, 64), peer_buf(pair.a, 0, 64, 0));
	if (waits)
		peers_drain(pair.a, NULL, 0);
	peer_send(pair.a, 3, peer_buf(pair.a, 0, 64, 64));
	drain(&pair);
	close_pair(&pair);
}

static void read_then_send(void)
{
	read_and_send(false);
}

static void read_wait_send(void)
{
	read_and_send(true);
}

/* The destination of a read. */
static void read_and_write(bool writes_early)
{
	struct pair pair = connect_pair();
	volatile uint8_t *destination = pair.a->arena;

	peer_read(pair.a, 1, peer_remote_buf(pair.a, pair.b, 0, 64, 64), peer_buf(pair.a, 0, 64, 0));
	if (writes_early)
		destination[3] = 7;
	drain(&pair);
	destination[3] = 8;
	close_pair(&pair);
}

static void read_then_write(void)
{
	read_and_write(true);
}

static void read_wait_write(void)
{
	read_and_write(false);
}

/* ---- tasks of two processes that overlap ---- */

/* A read of the owner's memory is in flight until the owner says so. */
static void read_from_owner(struct peer *peer, const struct details *owner, int in, int out)
{
	peer_read(peer, 1, buf_of_owner(peer, owner, 64), peer_buf(peer, 4096, 64, 0));
	send_details(out, owner);
	receive_details(in);
	peers_drain(peer, NULL, 0);
	send_details(out, owner);
	receive_details(in);
}

/* The owner reads from the requester into its own memory. */
static void fetch_at(struct peer *peer, const struct requester *requester, size_t offset)
{
	peer_read(peer, 2, buf_of_owner(peer, &requester->details, 64), peer_buf(peer, offset, 64, 0));
	peers_drain(peer, NULL, 0);
}

static void fetch_into_source_of_peer(bool in_turn)
{
	struct requester requester;
	struct peer *peer = start_requester(&requester, read_from_owner, RDMA_ALL_ACCESS, RDMA_ALL_ACCESS);

	await_requester(&requester);
	if (!in_turn)
		fetch_at(peer, &requester, 0);
	tell_requester(&requester);
	await_requester(&requester);
	if (in_turn)
		fetch_at(peer, &requester, 0);
	tell_requester(&requester);
	end_both(&requester, peer);
}

static void fetch_during_peers_read(void)
{
	fetch_into_source_of_peer(false);
}

static void fetch_after_peers_read(void)
{
	fetch_into_source_of_peer(true);
}

/* A write to the owner's memory that does not end. */
static void hang_at_owner(struct peer *peer, const struct details *owner, int in, int out)
{
	CHECK(bfsim_fault_add("rdma.write nth=1 hang", NULL) == 0);
	peer_write(peer, 1, peer_buf(peer, 4096, 64, 64), buf_of_owner(peer, owner, 0));
	send_details(out, owner);
	receive_details(in);
}

static void fetch_beside_write(size_t offset)
{
	struct requester requester;
	struct peer *peer = start_requester(&requester, hang_at_owner, RDMA_ALL_ACCESS, RDMA_ALL_ACCESS);

	await_requester(&requester);
	fetch_at(peer, &requester, offset);
	tell_requester(&requester);
	end_both(&requester, peer);
}

static void fetch_during_peers_write(void)
{
	fetch_beside_write(63);
}

static void fetch_behind_peers_write(void)
{
	fetch_beside_write(64);
}

const struct check_case rdma_cases[] = {
	{ "rdma-wrong-state", export_idle, connect_two },
	{ "rdma-wrong-state@twice", connect_twice, connect_two },
	{ "rdma-not-connected", send_unconnected, send_connected },
	{ "rdma-not-connected@failed", send_after_failure, send_before_failure },
	{ "rdma-outside-memory", read_outside, read_inside },
	{ "rdma-not-permitted", write_without_right, write_with_right },
	{ "rdma-not-permitted@owner", own_without_right, own_with_right },
	{ "rdma-not-permitted@disconnect", own_without_right_and_disconnect, own_with_right },
	{ "rdma-not-permitted@owners-map", own_map_without_right, own_with_right },
	{ "permission-missing@receive", receive_into_read_only, receive_into_writable },
	{ "permission-missing@rdma", export_for_pci, export_for_rdma },
	{ "rdma-memory-ended", end_memory_first, end_memory_last },
	{ "import-outlives-export@rdma", read_after_end, read_before_end },
	{ "mmap-destroyed-before-context@rdma", end_map_of_sends, send_wait_write },
	{ "mmap-ended-in-flight@rdma", end_receives_memory, end_received_memory },
	{ "rdma-event-ended-in-flight", end_event_in_flight, end_event_behind_task },
	{ "rdma-no-receive", post_nothing, post_before },
	{ "rdma-no-receive@sender", send_to_nothing, send_to_receive },
	{ "rdma-receives-run-out", post_one_at_a_time, post_enough },
	{ "rdma-connection-after-callback", ask_later, ask_in_callback },
	{ "rdma-connection-after-callback@engine", ask_later, ask_behind_other_engine },
	{ "result-not-ready@receive", ask_early, ask_in_callback },
	{ "rdma-atomic-unaligned", add_unaligned, add_aligned },
	{ "descriptor-stale", connect_to_left_file, connect_two },
	{ "descriptor-stale@memory", import_left_file, write_inside },
	{ "descriptor-stale@ended", connect_to_ended, connect_two },
	{ "descriptor-altered@rdma", connect_by_memorys, connect_two },
	{ "source-modified@send", send_then_write, send_wait_write },
	{ "destination-touched@read", read_then_write, read_wait_write },
	{ "tasks-overlap@rdma", read_then_send, read_wait_send },
	{ "tasks-overlap@peers-read", fetch_during_peers_read, fetch_after_peers_read },
	{ "tasks-overlap@peers-write", fetch_during_peers_write, fetch_behind_peers_write },
	{ 0 },
};
