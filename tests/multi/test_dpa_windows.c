/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel of the DPU's process and the private memory of the host's process: windows, copies to the heap, and the end of the host. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dpa.h>
#include <doca_mmap.h>

#include "cmocka_test.h"
#include "doca_device.h"
#include "session_util.h"

#define MEMORY_BYTES 8192

extern struct doca_dpa_app *dpa_msgq_app;
doca_dpa_func_t load_by_map, store_by_map;

struct offer {
	uint64_t addr;
	size_t desc_len;
	uint8_t desc[256];
};

/* ---- the two processes ---- */

/* Export memory, and answer each word with the one at the place that it names. */
static void host(int ctl, const void *unused)
{
	uint8_t *memory = aligned_alloc(64, MEMORY_BYTES);
	struct offer offer = { .addr = (uintptr_t)memory };
	struct doca_mmap *map;
	struct doca_dev *dev;
	const void *desc;
	uint64_t word;

	setenv("BFSIM_SIDE", "host", 1);
	memset(memory, 'm', MEMORY_BYTES);
	dev = device_open(NULL);
	MUST(doca_mmap_create(&map));
	MUST(doca_mmap_set_memrange(map, memory, MEMORY_BYTES));
	MUST(doca_mmap_add_dev(map, dev));
	MUST(doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	MUST(doca_mmap_start(map));
	MUST(doca_mmap_export_pci(map, dev, &desc, &offer.desc_len));
	memcpy(offer.desc, desc, offer.desc_len);
	proc_send(ctl, &offer, sizeof(offer));
	for (;;) {
		proc_recv(ctl, &word, sizeof(word));
		memcpy(&word, memory + word, sizeof(word));
		proc_send(ctl, &word, sizeof(word));
	}
}

struct dpu {
	struct doca_dev *dev;
	struct doca_dpa *dpa;
	struct doca_mmap *map;
	doca_dpa_dev_mmap_t handle;
	uint64_t addr;
};

static void open_dpu(struct dpu *dpu, const struct offer *offer)
{
	setenv("BFSIM_SIDE", "dpu", 1);
	dpu->dev = device_open(NULL);
	dpu->addr = offer->addr;
	MUST(doca_dpa_create(dpu->dev, &dpu->dpa));
	MUST(doca_dpa_set_app(dpu->dpa, dpa_msgq_app));
	MUST(doca_dpa_start(dpu->dpa));
	MUST(doca_mmap_create_from_export(NULL, offer->desc, offer->desc_len, dpu->dev, &dpu->map));
	MUST(doca_mmap_dev_get_dpa_handle(dpu->map, dpu->dev, &dpu->handle));
}

static uint64_t load(const struct dpu *dpu, uint64_t at)
{
	uint64_t value;

	MUST(doca_dpa_rpc(dpu->dpa, load_by_map, &value, dpu->handle, dpu->addr + at));
	return value;
}

static void store(const struct dpu *dpu, uint64_t at, uint64_t value)
{
	uint64_t unused;

	MUST(doca_dpa_rpc(dpu->dpa, store_by_map, &unused, dpu->handle, dpu->addr + at, value));
}

/* The test tells when the host has ended. */
static void dpu(int ctl, const void *arg)
{
	struct dpu dpu;
	char has_ended;

	open_dpu(&dpu, arg);
	CHECK(load(&dpu, 0) == UINT64_C(0x6d6d6d6d6d6d6d6d));
	store(&dpu, MEMORY_BYTES - 8, 77);
	CHECK(load(&dpu, MEMORY_BYTES - 8) == 77);
	proc_send(ctl, "s", 1);
	proc_recv(ctl, &has_ended, 1);
	CHECK(load(&dpu, 0) == UINT64_MAX);
	store(&dpu, 0, 5);
	CHECK(load(&dpu, 0) == UINT64_MAX);
	MUST(doca_mmap_destroy(dpu.map));
	MUST(doca_dpa_destroy(dpu.dpa));
	MUST(doca_dev_close(dpu.dev));
}

static void test_kernel_reaches_the_hosts_memory_up_to_its_end(void **state)
{
	struct proc host_proc, dpu_proc;
	uint64_t word = MEMORY_BYTES - 8;
	struct offer offer;
	char has_stored;

	proc_start(&host_proc, host, NULL);
	proc_recv(host_proc.ctl, &offer, sizeof(offer));
	proc_start(&dpu_proc, dpu, &offer);
	proc_recv(dpu_proc.ctl, &has_stored, 1);
	proc_send(host_proc.ctl, &word, sizeof(word));
	proc_recv(host_proc.ctl, &word, sizeof(word));
	assert_int_equal(word, 77);
	proc_signal(&host_proc, SIGKILL);
	proc_wait(&host_proc);
	assert_true(daemon_forgets(test_session.dir, host_proc.pid));
	proc_send(dpu_proc.ctl, "e", 1);
	assert_int_equal(proc_wait(&dpu_proc), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kernel_reaches_the_hosts_memory_up_to_its_end, session_setup,
						session_stop_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
