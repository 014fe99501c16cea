/* SPDX-License-Identifier: BSD-3-Clause */
/* One end of a running exchange, with messages and fast path, is killed at a random moment; many times. The other
 * end gets the disconnect event and all its tasks, stops in order and leaks nothing, and neither does the card.
 * BFSIM_TEST_SEED repeats a run. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "comch_fast.h"
#include "comch_endpoint.h"

#define ROUNDS     50 /* of each of the four */
#define MAX_LINKS  8  /* connections at once: the disconnects of some are not reported yet */
#define WINDOW     40 /* messages in flight; more than the other end's queue takes */
#define RUNNING_AT 20 /* after this many messages the exchange runs */

static unsigned int seed;

/* ---- both ends: victims and survivors ---- */

struct party_arg {
	bool is_server, sleeps;
	bool uses_fast; /* a victim's exchange runs when it has exchanged messages on the fast path, too */
};

/* A connection, and its worker on the fast path. */
struct link {
	bool used;
	struct doca_comch_connection *connection; /* NULL = gone */
	uint32_t in, out, done;
	struct fast_consumers consumers;
	struct fast fast;
};

/* Reports of the survivors. */
struct toll {
	uint64_t failed_sends, failed_fast_sends, failed_receives;
};

struct party {
	struct party_arg arg;
	int ctl, done_fd;
	struct loop loop;
	struct endpoint endpoint;
	struct link links[MAX_LINKS];
	struct toll toll;
	bool is_victim, runs;
	bool started;               /* a survivor, which is to find a server ... */
	unsigned int num_connected; /* ... and had found so many before */
};

static void feed(struct endpoint *endpoint, struct link *link)
{
	while (link->connection && endpoint->state == DOCA_CTX_STATE_RUNNING && link->out - link->done < WINDOW &&
	       note_send(endpoint, link->connection, endpoint->server ? 2 : 1, link->out))
		link->out++;
}

static void on_connected(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct party *party = endpoint->cfg.owner;
	struct link *link = party->links;

	while (link->used)
		CHECK(++link < party->links + MAX_LINKS);
	*link = (struct link){ .used = true, .connection = connection };
	fast_consumers_init(&link->consumers);
	MUST(doca_comch_connection_set_user_data(connection, (union doca_data){ .ptr = link }));
	fast_start(&link->fast, &(struct fast_cfg){ .connection = connection,
						    .dev = endpoint->dev,
						    .consumers = &link->consumers,
						    .sleeps = party->arg.sleeps,
						    .consumes = true,
						    .produces = true,
						    .endless = true,
						    .num_peers = 1,
						    .max_len = 65536,
						    .freeze_fd = -1,
						    .done_fd = party->done_fd });
	feed(endpoint, link);
}

static void on_disconnected(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct link *link = doca_comch_connection_get_user_data(connection).ptr;

	CHECK(link->connection == connection);
	link->connection = NULL;
	fast_over(&link->consumers);
}

static void on_message(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
		       uint32_t len)
{
	struct party *party = endpoint->cfg.owner;
	struct link *link = doca_comch_connection_get_user_data(connection).ptr;

	CHECK(note_take(bytes, len, link->in++) == (endpoint->server ? 1 : 2));
	if (party->is_victim && !party->runs && link->in >= RUNNING_AT &&
	    (!party->arg.uses_fast || link->fast.received > 0)) {
		party->runs = true;
		proc_send(party->ctl, "x", 1);
	}
}

static void on_sent(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct link *link = doca_comch_connection_get_user_data(connection).ptr;

	link->done++;
	feed(endpoint, link);
}

static void on_consumer(struct endpoint *endpoint, struct doca_comch_connection *connection, uint32_t id, bool is_new)
{
	struct link *link = doca_comch_connection_get_user_data(connection).ptr;

	fast_learn(&link->consumers, id, is_new);
}

static void open_party(struct party *party, int ctl, struct doca_dev **ret_dev)
{
	struct endpoint_cfg cfg = { .name = "death",
				    .owner = party,
				    .connected = on_connected,
				    .disconnected = on_disconnected,
				    .message = on_message,
				    .sent = on_sent,
				    .consumer = on_consumer };

	party->ctl = ctl;
	party->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	proc_recv(ctl, &party->arg, sizeof(party->arg));
	loop_open(&party->loop, party->arg.sleeps);
	loop_watch(&party->loop, party->done_fd);
	loop_watch(&party->loop, ctl);
	*ret_dev = device_open(NULL);
	(party->arg.is_server ? endpoint_open_server : endpoint_open_client)(&party->endpoint, &cfg, &party->loop,
									     *ret_dev);
}

static void run_victim(int ctl)
{
	static struct party party;
	struct doca_dev *dev;

	party.is_victim = true;
	open_party(&party, ctl, &dev);
	endpoint_start(&party.endpoint);
	LOOP_UNTIL(&party.loop, false);
}

/* Workers that ended with their connection. Whether there are any others. */
static bool reap(struct party *party)
{
	bool left = false;
	eventfd_t unused;

	eventfd_read(party->done_fd, &unused);
	for (int i = 0; i < MAX_LINKS; i++) {
		struct link *link = &party->links[i];

		if (!link->used || link->connection || !link->fast.done) {
			left |= link->used;
			continue;
		}
		fast_join(&link->fast);
		party->toll.failed_fast_sends += link->fast.failed;
		party->toll.failed_receives += link->fast.unreceived;
		link->used = false;
	}
	return left;
}

/* After the peer's death: progress until all that belonged to the connection has ended. */
static void clean_up_peer(struct party *party)
{
	struct endpoint *endpoint = &party->endpoint;

	if (endpoint->client && endpoint->state == DOCA_CTX_STATE_STARTING) /* else it may wait for another server */
		doca_ctx_stop(endpoint->ctx);
	LOOP_UNTIL(&party->loop, !reap(party) && (endpoint->server || endpoint->state == DOCA_CTX_STATE_IDLE));
	CHECK(endpoint_in_flight(endpoint) == 0);
	party->toll.failed_sends = endpoint->failed;
	proc_send(party->ctl, &party->toll, sizeof(party->toll));
}

/* A client waits for its server for some seconds only, and a busy machine may take longer to start one. */
static void reconnect_until_done(struct party *party)
{
	if (party->endpoint.client && party->started && party->endpoint.state == DOCA_CTX_STATE_IDLE &&
	    party->endpoint.num_connected == party->num_connected)
		endpoint_start(&party->endpoint);
}

/* Sends 'o' when the device is open. Commands: 's' start, 'b' clean up after the killed peer, 'e' end. */
static void run_survivor(int ctl)
{
	static struct party party;
	struct doca_dev *dev;
	char byte;

	open_party(&party, ctl, &dev);
	proc_send(ctl, "o", 1);
	do {
		LOOP_UNTIL(&party.loop, (reap(&party), reconnect_until_done(&party), proc_readable_within(ctl, 0)));
		proc_recv(ctl, &byte, 1);
		party.started = byte == 's';
		party.num_connected = party.endpoint.num_connected;
		if (byte == 's')
			endpoint_start(&party.endpoint);
		else if (byte == 'b')
			clean_up_peer(&party);
	} while (byte != 'e');
	endpoint_stop(&party.endpoint);
	endpoint_close(&party.endpoint);
	loop_close(&party.loop);
	close(party.done_fd);
	MUST(doca_dev_close(dev));
}

/* ---- the test ---- */

static const struct peer_role victim_role = { "victim", run_victim }, survivor_role = { "survivor", run_survivor };

static void pause_us(long us)
{
	struct timespec pause = { .tv_nsec = us * 1000 };

	nanosleep(&pause, NULL);
}

/* Mostly when the victim is known to exchange; else at any point, unless it must have exchanged. */
static void kill_somewhere(struct proc *victim, bool must_run)
{
	char byte;

	if (rand_r(&seed) % 4 != 0 || must_run) {
		proc_recv(victim->ctl, &byte, 1);
		pause_us(rand_r(&seed) % 5000);
	} else {
		pause_us(rand_r(&seed) % 40000);
	}
	proc_signal(victim, SIGKILL);
}

static void expect_fds(int survivor_fds, const struct proc *survivor, int card_fds)
{
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;

	while (proc_num_fds(survivor->pid) > survivor_fds || card_num_fds() != card_fds) {
		if (proc_now_ms() > end)
			fail_msg("descriptors are left: the survivor has %d (%d before), the card %d (%d)",
				 proc_num_fds(survivor->pid), survivor_fds, card_num_fds(), card_fds);
		pause_us(1000);
	}
}

/* The card keeps nothing of killed processes: its counts equal those before the first. The survivor keeps what the
 * first exchange opened. */
static void run_survivor_test(bool as_server, bool sleeps)
{
	struct party_arg arg = { .is_server = as_server, .sleeps = sleeps };
	struct party_arg victim_arg = { .is_server = !as_server, .sleeps = sleeps };
	const char *side = as_server ? "dpu" : "host", *other_side = as_server ? "host" : "dpu";
	int survivor_fds = 0, card_fds;
	struct proc survivor, victim;
	struct toll toll;
	char byte;

	peer_start(&survivor, side, &survivor_role, &arg, sizeof(arg));
	proc_recv(survivor.ctl, &byte, 1);
	card_fds = card_num_fds();
	for (unsigned int round = 0; round < peer_rounds(ROUNDS); round++) {
		if (round == 0 || !as_server)
			proc_send(survivor.ctl, "s", 1);
		victim_arg.uses_fast = round % 2 == 0;
		peer_start(&victim, other_side, &victim_role, &victim_arg, sizeof(victim_arg));
		kill_somewhere(&victim, round == 0);
		proc_send(survivor.ctl, "b", 1);
		proc_recv(survivor.ctl, &toll, sizeof(toll));
		if (round == 0)
			survivor_fds = proc_num_fds(survivor.pid);
		expect_fds(survivor_fds, &survivor, card_fds);
	}
	assert_true(toll.failed_sends > 0 && toll.failed_receives > 0);
	proc_send(survivor.ctl, "e", 1);
	assert_int_equal(proc_wait(&survivor), 0);
	card_end();
}

static void test_server_survives_clients_that_are_killed(void **state)
{
	run_survivor_test(true, false);
}

static void test_sleeping_server_survives_clients_that_are_killed(void **state)
{
	run_survivor_test(true, true);
}

static void test_client_survives_servers_that_are_killed(void **state)
{
	run_survivor_test(false, false);
}

static void test_sleeping_client_survives_servers_that_are_killed(void **state)
{
	run_survivor_test(false, true);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, card_setup, card_teardown)

int main(void)
{
	const char *wanted = getenv("BFSIM_TEST_SEED");
	static const struct CMUnitTest tests[] = {
		TEST(test_server_survives_clients_that_are_killed),
		TEST(test_sleeping_server_survives_clients_that_are_killed),
		TEST(test_client_survives_servers_that_are_killed),
		TEST(test_sleeping_client_survives_servers_that_are_killed),
	};

	/* The card keeps a descriptor of each dead process's recording: recordings are off here, as descriptors
	 * are counted. */
	setenv("BFSIM_TRACE", "off", 1);
	seed = wanted ? (unsigned int)strtoul(wanted, NULL, 10) : (unsigned int)proc_now_ms();
	print_message("BFSIM_TEST_SEED=%u\n", seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
