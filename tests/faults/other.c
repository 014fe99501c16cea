/* SPDX-License-Identifier: BSD-3-Clause */
/* The second connection, which no fault hits. */
#include "other.h"

#define OTHER "other"

struct comch_actor *other_serve(struct side *side)
{
	struct comch_actor *other = comch_server(side, side->dev, side->rep, OTHER);

	comch_start(other);
	comch_expect(side, "server: idle -> running\n");
	comch_sync_send(side, 'r');
	comch_expect(side, "connected\n");
	return other;
}

struct comch_actor *other_call(struct side *side)
{
	struct comch_actor *other = comch_client(side, side->dev, OTHER);

	comch_sync_recv(side);
	comch_start(other);
	comch_expect(side, "client: idle -> starting\nclient: starting -> running\n");
	return other;
}

void other_use_dpu(struct side *side, struct comch_actor *other)
{
	comch_expect(side, "received \"ping\"\n");
	comch_send(other, side->connection, 9, "pong");
	comch_expect(side, "sent 9\ndisconnected\n");
	comch_end(other);
	comch_forget(side);
	comch_meet(side);
}

void other_use_host(struct side *side, struct comch_actor *other)
{
	struct doca_comch_connection *connection;

	MUST(doca_comch_client_get_connection(other->client, &connection));
	comch_send(other, connection, 9, "ping");
	comch_until(side, strstr(side->trace, "sent 9\n") && strstr(side->trace, "received \"pong\"\n"));
	comch_forget(side);
	comch_end(other);
	comch_forget(side);
	comch_meet(side);
}
