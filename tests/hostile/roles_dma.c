/* SPDX-License-Identifier: BSD-3-Clause */
/* Honest programs for memory: an exporter, and an importer that copies in both directions. */
#include "cmocka_test.h"
#include "hostile.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../api/dma_util.h"
#include "proc.h"

#define MEMORY_BYTES (256 * 1024)
#define PIECE_BYTES  16384
#define COPY_MS      60

struct exported {
	uint32_t len;
	uint8_t descriptor[4096];
};

/* Memory that the round's path can reach: a shared object for mapped, private memory for the others. */
static uint8_t *make_memory(void)
{
	bool shared = strcmp(getenv("BFSIM_PATH"), "mapped") == 0;
	int fd = shared ? memfd_create("hostile", MFD_CLOEXEC) : -1;
	uint8_t *memory;

	if (shared)
		CHECK(ftruncate(fd, MEMORY_BYTES) == 0);
	memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd,
		      0);
	CHECK(memory != MAP_FAILED);
	for (size_t i = 0; i < MEMORY_BYTES; i++)
		memory[i] = rig_byte(i);
	return memory;
}

void role_send_descriptor(int sock, const void *descriptor, size_t len)
{
	struct exported packet = { .len = (uint32_t)len };

	CHECK(len <= sizeof(packet.descriptor));
	memcpy(packet.descriptor, descriptor, len);
	send(sock, &packet, sizeof(packet), MSG_NOSIGNAL); /* the importer may be dead */
}

int role_exporter(struct bout *bout, int sock)
{
	uint8_t *memory = make_memory();
	struct doca_dev *dev = rig_open_dev(0);
	struct doca_mmap *mmap = rig_make_mmap(dev, memory, MEMORY_BYTES,
					       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	const void *descriptor;
	size_t len;
	char byte;

	MUST(doca_mmap_export_pci(mmap, dev, &descriptor, &len));
	role_send_descriptor(sock, descriptor, len);
	while (recv(sock, &byte, 1, 0) > 0)
		;
	MUST(doca_mmap_stop(mmap));
	MUST(doca_mmap_destroy(mmap));
	MUST(doca_dev_close(dev));
	munmap(memory, MEMORY_BYTES);
	return ROLE_DONE;
}

struct importer {
	struct rig *rig;
	struct doca_mmap *map;
	uint8_t *remote;
	struct doca_buf *near, *far;
	bool is_unchecked; /* any bytes may come */
	doca_error_t result;
};

static void on_task(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	struct importer *importer = rig->arg;

	importer->result = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static doca_error_t copy_one(struct importer *importer, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_dma_task_memcpy *task;
	doca_error_t result;

	MUST(doca_buf_reset_data_len(dst));
	MUST(doca_dma_task_memcpy_alloc_init(importer->rig->dma, src, dst, (union doca_data){ .u64 = 0 }, &task));
	importer->rig->trace->text[0] = '\0';
	result = doca_task_submit(doca_dma_task_memcpy_as_task(task));
	if (result != DOCA_SUCCESS) {
		doca_task_free(doca_dma_task_memcpy_as_task(task));
		return result;
	}
	rig_drain(importer->rig);
	return importer->result;
}

/* Read a piece, check it, and write it back to where it came from: the memory keeps its bytes. */
static int copy_piece(struct importer *importer, size_t at)
{
	struct rig *rig = importer->rig;

	MUST(doca_buf_set_data(importer->far, importer->remote + at, PIECE_BYTES));
	memset(rig->arena, 0xa5, PIECE_BYTES);
	if (copy_one(importer, importer->far, importer->near) != DOCA_SUCCESS)
		return ROLE_REFUSED;
	for (size_t i = 0; i < PIECE_BYTES && !importer->is_unchecked; i++)
		if (rig->arena[i] != rig_byte(at + i)) {
			fprintf(stderr, "byte %zu is %02x, expected %02x\n", at + i, rig->arena[i], rig_byte(at + i));
			return ROLE_WRONG;
		}
	return copy_one(importer, importer->near, importer->far) == DOCA_SUCCESS ? ROLE_DONE : ROLE_REFUSED;
}

static int copy_for(struct importer *importer, unsigned int ms)
{
	int64_t end = proc_now_ms() + ms;
	int result = ROLE_DONE;

	importer->near = rig_dst(importer->rig, 0, PIECE_BYTES);
	importer->far = rig_buf(importer->rig, importer->map, importer->remote, MEMORY_BYTES, 0, PIECE_BYTES);
	for (size_t at = 0; result == ROLE_DONE && proc_now_ms() < end;
	     at = (at + PIECE_BYTES - 256) % (MEMORY_BYTES - PIECE_BYTES))
		result = copy_piece(importer, at);
	return result;
}

static int copy_from(const void *descriptor, size_t len, unsigned int ms, bool is_unchecked)
{
	struct importer importer = { .is_unchecked = is_unchecked };
	struct rig *rig = rig_open(NULL);
	void *addr;
	size_t bytes;
	int end;
	doca_error_t result;

	importer.rig = rig;
	rig->arg = &importer;
	rig->on_task = on_task;
	MUST(doca_ctx_start(rig->ctx));
	result = doca_mmap_create_from_export(NULL, descriptor, len, rig->dev, &importer.map);
	if (result != DOCA_SUCCESS) {
		rig_close(rig);
		return ROLE_REFUSED;
	}
	MUST(doca_mmap_get_memrange(importer.map, &addr, &bytes));
	importer.remote = addr;
	end = bytes == MEMORY_BYTES ? copy_for(&importer, ms) : ROLE_WRONG;
	for (size_t i = 0; i < rig->num_bufs; i++)
		MUST(doca_buf_dec_refcount(rig->bufs[i], NULL));
	rig->num_bufs = 0;
	MUST(doca_mmap_destroy(importer.map));
	rig_close(rig);
	return end;
}

int role_copy_from(struct bout *bout, const void *descriptor, size_t len, unsigned int ms)
{
	return copy_from(descriptor, len, ms, false);
}

size_t role_read_descriptor(int sock, void *ret_bytes, size_t size)
{
	struct exported packet;

	if (recv(sock, &packet, sizeof(packet), 0) != (ssize_t)sizeof(packet) || packet.len > size)
		return 0;
	memcpy(ret_bytes, packet.descriptor, packet.len);
	return packet.len;
}

int role_importer(struct bout *bout, int sock)
{
	uint8_t descriptor[4096];
	size_t len = role_read_descriptor(sock, descriptor, sizeof(descriptor));

	return len ? role_copy_from(bout, descriptor, len, COPY_MS) : ROLE_REFUSED;
}

int role_unchecked_importer(struct bout *bout, int sock)
{
	uint8_t descriptor[4096];
	size_t len = role_read_descriptor(sock, descriptor, sizeof(descriptor));

	return len ? copy_from(descriptor, len, COPY_MS, true) : ROLE_REFUSED;
}
