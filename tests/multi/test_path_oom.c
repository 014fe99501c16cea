/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes that export, import and copy over one data path (BFSIM_PATH) while allocations fail at random in all
 * their threads: calls and tasks may fail, but nobody crashes or hangs, and afterwards all works.
 *
 * FAILURES is the number of failed allocations to reach in each process, else 200. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "cmocka_test.h"
#include "session_util.h"
#include "doca_device.h"
#include "failing_malloc.h"

#define MEMORY_BYTES (200 * 1024)
#define ONE_IN       24 /* allocations fail */

/* ---- the two processes ---- */

struct offer {
	uint64_t addr;
	size_t desc_len; /* 0 = the export failed */
	uint8_t desc[256];
};

static unsigned long wanted_failures(void)
{
	return getenv("FAILURES") ? strtoul(getenv("FAILURES"), NULL, 10) : 200;
}

static void export_once(int ctl, struct doca_dev *dev, uint8_t *memory)
{
	struct offer offer = { .addr = (uintptr_t)memory };
	struct doca_mmap *mmap = NULL;
	const void *desc;
	char done;

	if (doca_mmap_create(&mmap) == DOCA_SUCCESS &&
	    doca_mmap_set_memrange(mmap, memory, MEMORY_BYTES) == DOCA_SUCCESS &&
	    doca_mmap_add_dev(mmap, dev) == DOCA_SUCCESS &&
	    doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE) == DOCA_SUCCESS &&
	    doca_mmap_start(mmap) == DOCA_SUCCESS &&
	    doca_mmap_export_pci(mmap, dev, &desc, &offer.desc_len) == DOCA_SUCCESS)
		memcpy(offer.desc, desc, offer.desc_len);
	else
		offer.desc_len = 0;
	proc_send(ctl, &offer, sizeof(offer));
	proc_recv(ctl, &done, 1);
	if (mmap)
		MUST(doca_mmap_destroy(mmap));
}

/* Each time with a session of its own, so that the helper thread opens the paths anew. */
static void host(int ctl, const void *unused)
{
	int fd = memfd_create("exported", MFD_CLOEXEC); /* any path reaches it */
	uint8_t *memory;
	char is_last = 0;

	setenv("BFSIM_SIDE", "host", 1);
	CHECK(ftruncate(fd, MEMORY_BYTES) == 0);
	memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(memory != MAP_FAILED);
	memset(memory, 'm', MEMORY_BYTES);
	while (!is_last) {
		struct doca_dev *dev;
		unsigned long failures;

		proc_recv(ctl, &is_last, 1);
		dev = device_open(NULL);
		failing_malloc_set(is_last ? 0 : ONE_IN, 0);
		export_once(ctl, dev, memory);
		failing_malloc_set(0, 0);
		MUST(doca_dev_close(dev));
		failures = failing_malloc_count();
		proc_send(ctl, &failures, sizeof(failures));
	}
}

struct dpu {
	struct doca_dev *dev;
	struct doca_mmap *local;
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;
	struct doca_dma *dma;
	uint8_t *memory;
	int num_done, num_failed;
};

static void on_done(struct doca_dma_task_memcpy *task, union doca_data user_data, union doca_data ctx_data)
{
	((struct dpu *)ctx_data.ptr)->num_done++;
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void on_failed(struct doca_dma_task_memcpy *task, union doca_data user_data, union doca_data ctx_data)
{
	((struct dpu *)ctx_data.ptr)->num_failed++;
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void dpu_open(struct dpu *dpu)
{
	union doca_data self = { .ptr = dpu };

	dpu->dev = device_open(NULL);
	MUST(doca_mmap_create(&dpu->local));
	MUST(doca_mmap_set_memrange(dpu->local, dpu->memory, MEMORY_BYTES));
	MUST(doca_mmap_add_dev(dpu->local, dpu->dev));
	MUST(doca_mmap_start(dpu->local));
	MUST(doca_buf_inventory_create(4, &dpu->inventory));
	MUST(doca_buf_inventory_start(dpu->inventory));
	MUST(doca_pe_create(&dpu->pe));
	MUST(doca_dma_create(dpu->dev, &dpu->dma));
	MUST(doca_pe_connect_ctx(dpu->pe, doca_dma_as_ctx(dpu->dma)));
	MUST(doca_ctx_set_user_data(doca_dma_as_ctx(dpu->dma), self));
	MUST(doca_dma_task_memcpy_set_conf(dpu->dma, on_done, on_failed, 1));
	MUST(doca_ctx_start(doca_dma_as_ctx(dpu->dma)));
}

static void dpu_close(struct dpu *dpu)
{
	enum doca_ctx_states state;

	doca_ctx_stop(doca_dma_as_ctx(dpu->dma));
	do {
		doca_pe_progress(dpu->pe);
		MUST(doca_ctx_get_state(doca_dma_as_ctx(dpu->dma), &state));
	} while (state != DOCA_CTX_STATE_IDLE);
	MUST(doca_dma_destroy(dpu->dma));
	MUST(doca_pe_destroy(dpu->pe));
	MUST(doca_buf_inventory_destroy(dpu->inventory));
	MUST(doca_mmap_destroy(dpu->local));
	MUST(doca_dev_close(dpu->dev));
}

/* Returns whether the copy succeeded. */
static bool copy(struct dpu *dpu, struct doca_mmap *remote, const struct offer *offer)
{
	struct doca_buf *src = NULL, *dst = NULL;
	struct doca_dma_task_memcpy *task;
	union doca_data none = { 0 };
	void *from = (void *)(uintptr_t)offer->addr;

	dpu->num_done = dpu->num_failed = 0;
	memset(dpu->memory, 0, MEMORY_BYTES);
	if (doca_buf_inventory_buf_get_by_data(dpu->inventory, remote, from, MEMORY_BYTES, &src) == DOCA_SUCCESS &&
	    doca_buf_inventory_buf_get_by_addr(dpu->inventory, dpu->local, dpu->memory, MEMORY_BYTES, &dst) ==
		    DOCA_SUCCESS &&
	    doca_dma_task_memcpy_alloc_init(dpu->dma, src, dst, none, &task) == DOCA_SUCCESS) {
		if (doca_task_submit(doca_dma_task_memcpy_as_task(task)) != DOCA_SUCCESS)
			doca_task_free(doca_dma_task_memcpy_as_task(task));
		else
			while (dpu->num_done + dpu->num_failed == 0)
				doca_pe_progress(dpu->pe);
	}
	if (src)
		MUST(doca_buf_dec_refcount(src, NULL));
	if (dst)
		MUST(doca_buf_dec_refcount(dst, NULL));
	if (dpu->num_done == 1)
		for (int i = 0; i < MEMORY_BYTES; i++)
			CHECK(dpu->memory[i] == 'm');
	return dpu->num_done == 1;
}

static void dpu(int ctl, const void *unused)
{
	struct dpu dpu = { .memory = malloc(MEMORY_BYTES) };
	struct offer offer;
	char is_last = 0;

	setenv("BFSIM_SIDE", "dpu", 1);
	while (!is_last) {
		struct doca_mmap *remote = NULL;
		unsigned long failures;
		bool is_copied = false;

		proc_recv(ctl, &is_last, 1);
		proc_recv(ctl, &offer, sizeof(offer));
		dpu_open(&dpu);
		failing_malloc_set(is_last ? 0 : ONE_IN, 0);
		if (offer.desc_len > 0 &&
		    doca_mmap_create_from_export(NULL, offer.desc, offer.desc_len, dpu.dev, &remote) == DOCA_SUCCESS) {
			is_copied = copy(&dpu, remote, &offer);
			MUST(doca_mmap_destroy(remote));
		}
		failing_malloc_set(0, 0);
		CHECK(is_copied || !is_last);
		dpu_close(&dpu);
		failures = failing_malloc_count();
		proc_send(ctl, &failures, sizeof(failures));
	}
	free(dpu.memory);
}

static void run_round(struct proc *exporter, struct proc *importer, char is_last, unsigned long ret_failures[2])
{
	struct offer offer;

	proc_send(exporter->ctl, &is_last, 1);
	proc_recv(exporter->ctl, &offer, sizeof(offer));
	proc_send(importer->ctl, &is_last, 1);
	proc_send(importer->ctl, &offer, sizeof(offer));
	proc_recv(importer->ctl, &ret_failures[1], sizeof(ret_failures[1]));
	proc_send(exporter->ctl, "", 1);
	proc_recv(exporter->ctl, &ret_failures[0], sizeof(ret_failures[0]));
}

static void test_failing_allocations_crash_nobody(void **state)
{
	unsigned long failures[2] = { 0 };
	struct proc exporter, importer;

	proc_start(&exporter, host, NULL);
	proc_start(&importer, dpu, NULL);
	while (failures[0] < wanted_failures() || failures[1] < wanted_failures())
		run_round(&exporter, &importer, false, failures);
	run_round(&exporter, &importer, true, failures);
	assert_int_equal(proc_wait(&exporter), 0);
	assert_int_equal(proc_wait(&importer), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(test_failing_allocations_crash_nobody,
									    session_setup, session_stop_teardown) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
