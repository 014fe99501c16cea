/* SPDX-License-Identifier: BSD-3-Clause */
/* A sync event of the server, which the two ends increment in turns. The server sends its descriptor in a Comch message. */
#include <stdlib.h>
#include <string.h>

#include <doca_sync_event.h>

#include "repeat_peer.h"

#define TURNS 20

static uint8_t descriptor[1024];
static uint32_t descriptor_len;

static void on_message(struct endpoint *endpoint, struct doca_comch_connection *connection, const uint8_t *bytes,
		       uint32_t len)
{
	CHECK(len <= sizeof(descriptor));
	memcpy(descriptor, bytes, len);
	descriptor_len = len;
}

static struct doca_sync_event *export_event(void)
{
	struct doca_sync_event *event;
	const uint8_t *bytes;
	size_t len;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_remote_pci(event));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, self.dev));
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_export_to_remote_pci(event, self.dev, &bytes, &len));
	LOOP_UNTIL(&self.loop, self.endpoint.num_connected == 1);
	CHECK(endpoint_send(&self.endpoint, self.endpoint.connection, bytes, (uint32_t)len));
	return event;
}

static struct doca_sync_event *import_event(void)
{
	struct doca_sync_event *event;

	LOOP_UNTIL(&self.loop, descriptor_len > 0);
	MUST(doca_sync_event_create_from_export(self.dev, descriptor, descriptor_len, &event));
	MUST(doca_sync_event_start(event));
	return event;
}

/* The server makes the value odd, the client makes it even. */
static void take_turns(struct doca_sync_event *event)
{
	for (uint64_t value = 0; value < TURNS; value++) {
		if ((value % 2 == 0) == self.is_server) {
			MUST(doca_sync_event_update_set(event, value + 1));
			note("set", value + 1);
		} else {
			MUST(doca_sync_event_wait_eq(event, value + 1, UINT64_MAX));
			note("saw", value + 1);
		}
	}
}

void repeat_run_sync(void)
{
	const struct endpoint_cfg cfg = { .name = self.name, .message = on_message };
	struct doca_sync_event *event;

	run_endpoint(&cfg);
	event = self.is_server ? export_event() : import_event();
	take_turns(event);
	if (!self.is_server)
		MUST(doca_sync_event_destroy(event));
	end_endpoint();
	if (self.is_server)
		MUST(doca_sync_event_destroy(event));
}
