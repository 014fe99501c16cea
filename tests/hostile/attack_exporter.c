/* SPDX-License-Identifier: BSD-3-Clause */
/* A hostile exporter: while importers copy, its memory is unmapped, protected, cut off and back again, and it writes anything
 * into the memory and the connections that it shares with them. */
#include "cmocka_test.h"
#include "harm.h"
#include "hostile.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../api/dma_util.h"

#define MEMORY_BYTES  (256 * 1024)
#define PAGE          4096
#define NUM_IMPORTERS 2
#define HARM_MS       2

struct memory {
	int fd; /* -1 = private memory */
	uint8_t *bytes;
};

static void map(struct memory *memory, size_t at, size_t len, int prot)
{
	int flags = memory->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	off_t offset = memory->fd < 0 ? 0 : (off_t)at;

	CHECK(mmap(memory->bytes + at, len, prot, flags | MAP_FIXED, memory->fd, offset) != MAP_FAILED);
}

static struct memory make_memory(const struct bout *bout)
{
	struct memory memory = { .fd = -1 };

	if (strcmp(bout->path, "mapped") == 0) {
		memory.fd = memfd_create("hostile", MFD_CLOEXEC);
		CHECK(memory.fd >= 0 && ftruncate(memory.fd, MEMORY_BYTES) == 0);
	}
	memory.bytes = mmap(NULL, MEMORY_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory.bytes != MAP_FAILED);
	map(&memory, 0, MEMORY_BYTES, PROT_READ | PROT_WRITE);
	return memory;
}

/* Some pages, or all; back before the next change. */
static void change_memory(struct bout *bout, struct memory *memory)
{
	size_t at = bout_random(bout, MEMORY_BYTES / PAGE) * PAGE;
	size_t len = (1 + bout_random(bout, (MEMORY_BYTES - at) / PAGE)) * PAGE;

	switch (bout_random(bout, 4)) {
	case 0:
		munmap(memory->bytes + at, len);
		break;
	case 1:
		mprotect(memory->bytes + at, len, PROT_NONE);
		break;
	case 2:
		if (memory->fd >= 0)
			CHECK(ftruncate(memory->fd, (off_t)at) == 0);
		break;
	default:
		mprotect(memory->bytes + at, len, PROT_READ);
		break;
	}
	bout_pause(bout, 1);
	if (memory->fd >= 0)
		CHECK(ftruncate(memory->fd, MEMORY_BYTES) == 0);
	map(memory, at, len, PROT_READ | PROT_WRITE);
}

/* Into each connection over TCP: garbage, or its end. */
static void harm_connections(struct bout *bout)
{
	uint64_t garbage[16];

	for (size_t i = 0; i < 16; i++)
		garbage[i] = bout_random(bout, 2) ? bout_random(bout, 64) : bout_random(bout, UINT64_MAX);
	for (int fd = STDERR_FILENO + 1; fd < 256; fd++) {
		int domain = 0;
		socklen_t size = sizeof(domain);

		if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0 || domain != AF_INET)
			continue;
		if (bout_random(bout, 8) == 0)
			shutdown(fd, SHUT_RDWR);
		else
			send(fd, garbage, bout_random(bout, sizeof(garbage)), MSG_NOSIGNAL | MSG_DONTWAIT);
	}
}

/* Map the areas once more, as their owner may unmap them at any time. Returns the number of those that were there. */
static unsigned int map_again(struct harm_area *areas, unsigned int num_areas)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < num_areas; i++) {
		void *again = mremap(areas[i].words, 0, areas[i].num_words * 8, MREMAP_MAYMOVE);

		if (again != MAP_FAILED)
			areas[count++] = (struct harm_area){ .words = again, .num_words = areas[i].num_words };
	}
	return count;
}

static void harm_areas(struct bout *bout, const struct harm_area *own, unsigned int num_own)
{
	struct harm_area shared[HARM_AREAS];
	unsigned int num_shared = map_again(shared, harm_list_areas(shared, own, num_own));

	if (num_shared > 0)
		harm_for(bout, shared, num_shared, HARM_MS);
	for (unsigned int i = 0; i < num_shared; i++)
		munmap(shared[i].words, shared[i].num_words * 8);
}

/* Until it is killed. */
static int export_and_harm(struct bout *bout, int sock)
{
	struct harm_area own[HARM_AREAS];
	struct memory memory = make_memory(bout);
	struct doca_dev *dev = rig_open_dev(0);
	struct doca_mmap *mmap = rig_make_mmap(dev, memory.bytes, MEMORY_BYTES,
					       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	unsigned int num_own = harm_list_areas(own, NULL, 0); /* the session's */
	const void *descriptor;
	size_t len;

	MUST(doca_mmap_export_pci(mmap, dev, &descriptor, &len));
	for (int i = 0; i < NUM_IMPORTERS; i++)
		role_send_descriptor(sock, descriptor, len);
	for (;;) {
		if (bout_random(bout, 2))
			change_memory(bout, &memory);
		if (bout_random(bout, 2))
			harm_areas(bout, own, num_own);
		if (bout_random(bout, 2))
			harm_connections(bout);
		__atomic_fetch_add(&bout->tally->tried, 1, __ATOMIC_RELAXED);
	}
	return ROLE_DONE;
}

static void attack_importers(struct bout *bout)
{
	struct party *importers[NUM_IMPORTERS], *exporter;
	int socks[2];

	setenv("BFSIM_PATH", bout->path, 1);
	bout_session(bout);
	bout_pair(socks);
	exporter = bout_start(bout, "exporter", "host", export_and_harm, socks[0]);
	close(socks[0]);
	for (int i = 0; i < NUM_IMPORTERS; i++)
		importers[i] = bout_start(bout, "importer", "dpu", role_unchecked_importer, socks[1]);
	close(socks[1]);
	for (int i = 0; i < NUM_IMPORTERS; i++)
		bout_wait(bout, importers[i]);
	exporter->is_victim = true;
	kill(exporter->pid, SIGKILL);
}

const struct attack attack_exporter = { "exporter", attack_all_paths, 100, 3, attack_importers };
