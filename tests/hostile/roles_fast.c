/* SPDX-License-Identifier: BSD-3-Clause */
/* Honest programs for Comch's data path: a server and a client with a consumer and a producer each. One of them leaves
 * in the middle of the exchange, with all open; the other one then ends in order. */
#include "cmocka_test.h"
#include "hostile.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include "../multi/comch_endpoint.h"
#include "../multi/comch_fast.h"
#include "proc.h"

#define TALK_MS 60

struct side {
	struct endpoint endpoint;
	struct loop loop;
	struct doca_dev *dev;
	struct fast_consumers consumers;
	struct fast fast;
	int done_fd;
	bool has_started;
};

static void on_connected(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	struct side *side = endpoint->cfg.owner;

	if (side->has_started)
		return;
	side->has_started = true;
	fast_start(&side->fast, &(struct fast_cfg){ .connection = connection,
						    .dev = endpoint->dev,
						    .consumers = &side->consumers,
						    .sleeps = side->loop.sleeps,
						    .consumes = true,
						    .produces = true,
						    .endless = true,
						    .num_peers = 1,
						    .max_len = 65536,
						    .freeze_fd = -1,
						    .done_fd = side->done_fd });
}

static void on_disconnected(struct endpoint *endpoint, struct doca_comch_connection *connection)
{
	fast_over(&((struct side *)endpoint->cfg.owner)->consumers);
}

static void on_consumer(struct endpoint *endpoint, struct doca_comch_connection *connection, uint32_t id, bool is_new)
{
	fast_learn(&((struct side *)endpoint->cfg.owner)->consumers, id, is_new);
}

static void open_side(struct side *side, bool is_server, bool sleeps)
{
	struct endpoint_cfg cfg = { .name = "hostile",
				    .owner = side,
				    .connected = on_connected,
				    .disconnected = on_disconnected,
				    .consumer = on_consumer };

	side->dev = device_open(NULL);
	side->done_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	CHECK(side->done_fd >= 0);
	fast_consumers_init(&side->consumers);
	loop_open(&side->loop, sleeps);
	loop_watch(&side->loop, side->done_fd);
	(is_server ? endpoint_open_server : endpoint_open_client)(&side->endpoint, &cfg, &side->loop, side->dev);
	endpoint_start(&side->endpoint);
}

static void close_side(struct side *side)
{
	if (side->has_started)
		fast_join(&side->fast);
	if (side->endpoint.state != DOCA_CTX_STATE_IDLE)
		endpoint_stop(&side->endpoint);
	endpoint_close(&side->endpoint);
	loop_close(&side->loop);
	close(side->done_fd);
	MUST(doca_dev_close(side->dev));
}

/* A server that is not there yet refuses a client, which tries again. Returns whether there is a connection. */
static bool await_connection(struct side *side, unsigned int ms)
{
	int64_t end = proc_now_ms() + ms;

	while (!side->has_started && proc_now_ms() < end) {
		if (side->endpoint.state == DOCA_CTX_STATE_IDLE && side->endpoint.server)
			break; /* the daemon is gone */
		if (side->endpoint.state == DOCA_CTX_STATE_IDLE)
			endpoint_start(&side->endpoint);
		loop_turn(&side->loop, 100);
	}
	return side->has_started;
}

static int run_side(const struct bout *bout, bool is_server)
{
	static struct side side;
	bool leaves = is_server == (bout->round % 2 == 0);
	int64_t end;

	open_side(&side, is_server, bout->round % 3 == 0);
	if (!await_connection(&side, bout->connect_ms)) {
		close_side(&side);
		return ROLE_REFUSED;
	}
	end = proc_now_ms() + TALK_MS;
	while (!side.fast.done && (!leaves || proc_now_ms() < end))
		loop_turn(&side.loop, 20);
	if (!side.fast.done)
		_exit(ROLE_DONE);
	close_side(&side);
	return ROLE_DONE;
}

int role_fast_server(struct bout *bout, int sock)
{
	return run_side(bout, true);
}

int role_fast_client(struct bout *bout, int sock)
{
	return run_side(bout, false);
}
