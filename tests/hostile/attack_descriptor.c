/* SPDX-License-Identifier: BSD-3-Clause */
/* Changed descriptors: flipped bits, random bytes, cut off, longer. The import is refused, or the copies are right. */
#include "cmocka_test.h"
#include "hostile.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_sync_event.h>

#include "../api/dma_util.h"

#define CHANGES 300 /* in one round */

/* Returns the new length. */
static size_t change(struct bout *bout, uint8_t *bytes, size_t len)
{
	size_t count = 1 + bout_random(bout, 8);

	switch (bout_random(bout, 5)) {
	case 0:
		return bout_random(bout, len);
	case 1:
		return len + 1 + bout_random(bout, 64);
	case 2:
		for (size_t i = 0; i < count; i++)
			bytes[bout_random(bout, len)] = (uint8_t)bout_random(bout, 256);
		return len;
	case 3:
		memset(bytes + bout_random(bout, len), (int)bout_random(bout, 2) * 255, 1);
		return len;
	default:
		bytes[bout_random(bout, len)] ^= (uint8_t)(1 << bout_random(bout, 8));
		return len;
	}
}

/* Exports an event until the socket is closed. */
static int export_event(struct bout *bout, int sock)
{
	struct doca_dev *dev = rig_open_dev(0);
	struct doca_sync_event *event;
	const uint8_t *bytes;
	size_t len;
	char byte;

	MUST(doca_sync_event_create(&event));
	MUST(doca_sync_event_add_publisher_location_remote_pci(event));
	MUST(doca_sync_event_add_subscriber_location_cpu(event, dev));
	MUST(doca_sync_event_start(event));
	MUST(doca_sync_event_export_to_remote_pci(event, dev, &bytes, &len));
	role_send_descriptor(sock, bytes, len);
	while (recv(sock, &byte, 1, 0) > 0)
		;
	MUST(doca_sync_event_stop(event));
	MUST(doca_sync_event_destroy(event));
	MUST(doca_dev_close(dev));
	return ROLE_DONE;
}

/* As a map and as a sync event: a descriptor is of one of them at most. */
static bool import_once(struct doca_dev *dev, const void *bytes, size_t len)
{
	struct doca_sync_event *event;
	struct doca_mmap *map;
	bool is_event = doca_sync_event_create_from_export(dev, bytes, len, &event) == DOCA_SUCCESS;
	bool is_map = doca_mmap_create_from_export(NULL, bytes, len, dev, &map) == DOCA_SUCCESS;

	if (is_event && is_map)
		_exit(ROLE_WRONG);
	if (is_event)
		MUST(doca_sync_event_destroy(event));
	if (is_map)
		MUST(doca_mmap_destroy(map));
	return is_event || is_map;
}

static int import_changed(struct bout *bout, int sock)
{
	uint8_t descriptor[4096], changed[8192] = { 0 };
	size_t len = role_read_descriptor(sock, descriptor, sizeof(descriptor));
	struct doca_dev *dev = rig_open_dev(0);

	CHECK(len > 0);
	for (int i = 0; i < CHANGES; i++) {
		size_t new_len;

		memcpy(changed, descriptor, sizeof(descriptor));
		new_len = change(bout, changed, len);
		bout->tally->tried++;
		if (import_once(dev, changed, new_len))
			bout->tally->survived++;
		else
			bout->tally->refused++;
	}
	MUST(doca_dev_close(dev));
	return ROLE_DONE;
}

/* Through the other card: every import is refused, also that of the true descriptor. */
static int import_elsewhere(struct bout *bout, int sock)
{
	uint8_t descriptor[4096], changed[8192] = { 0 };
	size_t len = role_read_descriptor(sock, descriptor, sizeof(descriptor));
	struct doca_dev *dev = rig_open_dev(0);
	int end = ROLE_DONE;

	CHECK(len > 0);
	for (int i = 0; i < CHANGES; i++) {
		size_t new_len = len;

		memcpy(changed, descriptor, sizeof(descriptor));
		if (i % 2)
			new_len = change(bout, changed, len);
		bout->tally->tried++;
		if (import_once(dev, changed, new_len))
			end = ROLE_WRONG;
		else
			bout->tally->refused++;
	}
	MUST(doca_dev_close(dev));
	return end;
}

/* The host exports on its first device, which is of the left card. */
static void import_across_cards(struct bout *bout)
{
	int socks[2];

	bout->topology = getenv("TWO_CARDS");
	bout_session(bout);
	bout_pair(socks);
	bout_start(bout, "exporter", "host", role_exporter, socks[0]);
	bout_start(bout, "importer", "right/dpu", import_elsewhere, socks[1]);
	close(socks[0]);
	close(socks[1]);
}

const struct attack attack_cards = { "cards", attack_all_paths, 10, 1, import_across_cards };

static const char *const paths[] = { "mapped", "procmem", "cma", "shm", "tcp", "event", NULL };

static void change_descriptors(struct bout *bout)
{
	bool is_event = strcmp(bout->path, "event") == 0;
	int socks[2];

	if (is_event)
		setenv("BFSIM_PATH", "", 1);
	bout_session(bout);
	bout_pair(socks);
	bout_start(bout, "exporter", "host", is_event ? export_event : role_exporter, socks[0]);
	bout_start(bout, "importer", "dpu", import_changed, socks[1]);
	close(socks[0]);
	close(socks[1]);
}

const struct attack attack_descriptor = { "descriptor", paths, 10, 1, change_descriptors };
