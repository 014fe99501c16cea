/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about exports and imports. The exporter is a process of its own, on the host side. */
#include "cases.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bfsim.h>

#define MEMORY_BYTES     4096
#define DESCRIPTOR_BYTES 64

enum order { END_EXPORT = 'e', EXIT = 'x' };

/* What the exporter sends. */
struct offer {
	uint8_t *addr;
	size_t len;
	uint8_t bytes[DESCRIPTOR_BYTES];
};

struct exporter {
	struct bfsim_session *session;
	pid_t pid;
	int orders, replies; /* of pipes */
};

static void query(struct doca_dev *dev)
{
	uint8_t exports, imports;

	MUST(doca_mmap_cap_is_export_pci_supported(doca_dev_as_devinfo(dev), &exports));
	MUST(doca_mmap_cap_is_create_from_export_pci_supported(doca_dev_as_devinfo(dev), &imports));
}

static struct offer export_memory(struct doca_dev *dev, struct doca_mmap **ret_map)
{
	struct offer offer = { .addr = calloc(1, MEMORY_BYTES), .len = DESCRIPTOR_BYTES };
	const void *bytes;

	CHECK(offer.addr);
	*ret_map = rig_make_mmap(dev, offer.addr, MEMORY_BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	query(dev);
	MUST(doca_mmap_export_pci(*ret_map, dev, &bytes, &offer.len));
	CHECK(offer.len == DESCRIPTOR_BYTES);
	memcpy(offer.bytes, bytes, offer.len);
	return offer;
}

/* The exporter's process. It ends with the case, whose end of the pipe is closed then. */
static void serve(const struct exporter *exporter, int orders, int replies)
{
	struct doca_mmap *map;
	struct doca_dev *dev;
	struct offer offer;
	char order = EXIT;

	CHECK(bfsim_session_enter(exporter->session, "host") == 0);
	dev = rig_open_dev(0);
	offer = export_memory(dev, &map);
	CHECK(write(replies, &offer, sizeof(offer)) == sizeof(offer));
	if (read(orders, &order, 1) == 1 && order == END_EXPORT) {
		MUST(doca_mmap_destroy(map));
		CHECK(write(replies, &order, 1) == 1);
		(void)!read(orders, &order, 1);
	}
	_exit(0);
}

/* Start a session and the exporter. This process is on the DPU's side then. */
static struct exporter start_exporter(struct offer *ret_offer)
{
	struct exporter exporter;
	int orders[2], replies[2];

	CHECK(bfsim_session_start(NULL, &exporter.session) == 0);
	CHECK(pipe(orders) == 0 && pipe(replies) == 0);
	exporter.pid = fork();
	CHECK(exporter.pid >= 0);
	if (exporter.pid == 0) {
		close(orders[1]);
		serve(&exporter, orders[0], replies[1]);
	}
	close(orders[0]);
	close(replies[1]);
	exporter.orders = orders[1];
	exporter.replies = replies[0];
	CHECK(read(exporter.replies, ret_offer, sizeof(*ret_offer)) == sizeof(*ret_offer));
	CHECK(bfsim_session_enter(exporter.session, "dpu") == 0);
	return exporter;
}

static void end_export(const struct exporter *exporter)
{
	char order = END_EXPORT;

	CHECK(write(exporter->orders, &order, 1) == 1);
	CHECK(read(exporter->replies, &order, 1) == 1);
}

/* Returns how it ended. */
static int wait_for_exporter(struct exporter *exporter)
{
	int status;

	close(exporter->orders);
	close(exporter->replies);
	CHECK(waitpid(exporter->pid, &status, 0) == exporter->pid);
	CHECK(bfsim_session_stop(exporter->session) == 0);
	return status;
}

static void end_exporter(struct exporter *exporter)
{
	CHECK(wait_for_exporter(exporter) == 0);
}

static doca_error_t import(struct doca_dev *dev, const struct offer *offer, struct doca_mmap **ret_map)
{
	query(dev);
	return doca_mmap_create_from_export(NULL, offer->bytes, offer->len, dev, ret_map);
}

/* Import on the @index-th device. */
static void import_on(uint32_t index, bool works)
{
	struct offer offer;
	struct exporter exporter = start_exporter(&offer);
	struct doca_dev *dev = rig_open_dev(index);
	struct doca_mmap *map;

	CHECK((import(dev, &offer, &map) == DOCA_SUCCESS) == works);
	if (works)
		MUST(doca_mmap_destroy(map));
	MUST(doca_dev_close(dev));
	end_exporter(&exporter);
}

static void import_on_other_port(void)
{
	import_on(1, false);
}

static void import_on_same_port(void)
{
	import_on(0, true);
}

static void import_cut_message(void)
{
	struct offer offer;
	struct exporter exporter = start_exporter(&offer);
	struct doca_dev *dev = rig_open_dev(0);
	struct doca_mmap *map;

	offer.len = 0;
	CHECK(import(dev, &offer, &map) == DOCA_ERROR_INVALID_VALUE);
	MUST(doca_dev_close(dev));
	end_exporter(&exporter);
}

static void import_ended(void)
{
	struct offer offer;
	struct exporter exporter = start_exporter(&offer);
	struct doca_dev *dev = rig_open_dev(0);
	struct doca_mmap *map;

	end_export(&exporter);
	CHECK(import(dev, &offer, &map) != DOCA_SUCCESS);
	MUST(doca_dev_close(dev));
	end_exporter(&exporter);
}

/* Copy from imported memory, before or after the export ended. */
static void copy_imported(bool ends_first)
{
	struct offer offer;
	struct exporter exporter = start_exporter(&offer);
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_mmap *map;
	struct doca_buf *src;

	MUST(import(rig->dev, &offer, &map));
	src = rig_buf(rig, map, offer.addr, 64, 0, 64);
	if (ends_first)
		end_export(&exporter);
	MUST(doca_task_submit(rig_task(rig, 1, src, rig_dst(rig, 0, 64))));
	if (ends_first)
		rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	else
		rig_drain(rig);
	rig->bufs[0] = NULL;
	MUST(doca_buf_dec_refcount(src, NULL));
	if (!ends_first)
		end_export(&exporter);
	MUST(doca_mmap_destroy(map));
	rig_close(rig);
	end_exporter(&exporter);
}

/* ---- an import that a fault ends ---- */

/* An importer with a copy in flight, and the exporter, which does nothing. */
struct importer {
	struct exporter exporter;
	struct rig *rig;
	struct doca_mmap *map;
	struct doca_buf *src;
};

static struct importer import_memory(void)
{
	struct importer importer;
	struct offer offer;

	importer.exporter = start_exporter(&offer);
	importer.rig = rig_start(rig_open(NULL));
	MUST(import(importer.rig->dev, &offer, &importer.map));
	importer.src = rig_buf(importer.rig, importer.map, offer.addr, 64, 0, 64);
	return importer;
}

static void submit_copy(const struct importer *importer, struct doca_buf *dst)
{
	MUST(doca_task_submit(rig_task(importer->rig, 1, importer->src, dst)));
}

static void end_importer(struct importer *importer)
{
	struct rig *rig = importer->rig;

	CHECK(strstr(rig->trace->text, "DOCA_ERROR_IO_FAILED"));
	rig->bufs[0] = NULL;
	MUST(doca_buf_dec_refcount(importer->src, NULL));
	end_context(rig);
	MUST(doca_mmap_destroy(importer->map));
	rig_close(rig);
}

/* The importer's function fails with a copy in flight. */
static void copy_during(const char *fault)
{
	struct importer importer = import_memory();

	CHECK(bfsim_fault_add("dma.memcpy nth=1 hang", NULL) == 0);
	submit_copy(&importer, rig_dst(importer.rig, 0, 64));
	CHECK(bfsim_fault_add(fault, NULL) == 0);
	rig_progress_to(importer.rig, DOCA_CTX_STATE_IDLE);
	end_importer(&importer);
	end_exporter(&importer.exporter);
}

static void copy_during_own_reset(void)
{
	copy_during("function device=03:00.0 reset");
}

static void copy_during_own_removal(void)
{
	copy_during("function device=03:00.0 remove");
}

/* The importer learns of the end of the export a little later. */
static void copy_until_failure(const struct importer *importer)
{
	struct doca_buf *dst = rig_dst(importer->rig, 0, 64);

	while (rig_state(importer->rig) == DOCA_CTX_STATE_RUNNING) {
		MUST(doca_buf_reset_data_len(dst));
		submit_copy(importer, dst);
		rig_drain(importer->rig);
	}
}

static void copy_after_exporters_reset(void)
{
	struct importer importer = import_memory();

	CHECK(bfsim_fault_add("function device=b1:00.0 reset", NULL) == 0);
	copy_until_failure(&importer);
	end_importer(&importer);
	end_exporter(&importer.exporter);
}

static void copy_after_exporters_death(void)
{
	struct importer importer = import_memory();

	CHECK(bfsim_fault_add("peer side=host kill", NULL) == 0);
	copy_until_failure(&importer);
	end_importer(&importer);
	CHECK(wait_for_exporter(&importer.exporter) == SIGKILL);
}

/* The export ended, as its function was reset: the descriptor is good no more. */
static void import_after_exporters_reset(void)
{
	struct offer offer;
	struct exporter exporter = start_exporter(&offer);
	struct doca_dev *dev = rig_open_dev(0);
	struct doca_mmap *map;

	CHECK(bfsim_fault_add("function device=b1:00.0 reset", NULL) == 0);
	CHECK(import(dev, &offer, &map) != DOCA_SUCCESS);
	MUST(doca_dev_close(dev));
	end_exporter(&exporter);
}

static void copy_after_end(void)
{
	copy_imported(true);
}

static void copy_before_end(void)
{
	copy_imported(false);
}

/* ---- the hint to ask for capabilities ---- */

static void export_once(bool asks)
{
	struct doca_mmap *map;
	struct doca_dev *dev;
	const void *bytes;
	uint8_t *memory;
	size_t len;

	setenv("BFSIM_SIDE", "host", 1);
	dev = rig_open_dev(0);
	if (asks)
		query(dev);
	memory = calloc(1, MEMORY_BYTES);
	CHECK(memory);
	map = rig_make_mmap(dev, memory, MEMORY_BYTES, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
	MUST(doca_mmap_export_pci(map, dev, &bytes, &len));
	MUST(doca_mmap_destroy(map));
	MUST(doca_dev_close(dev));
	free(memory);
}

static void export_without_query(void)
{
	export_once(false);
}

static void export_with_query(void)
{
	export_once(true);
}

const struct check_case import_cases[] = {
	{ "export-gone", import_ended, import_on_same_port },
	{ "export-gone@exporters-reset", import_ended, import_after_exporters_reset },
	{ "import-unrelated", import_on_other_port, import_on_same_port },
	{ "descriptor-altered", import_cut_message, import_on_same_port },
	{ "import-outlives-export", copy_after_end, copy_before_end },
	{ "import-outlives-export@own-reset", copy_after_end, copy_during_own_reset },
	{ "import-outlives-export@own-removal", copy_after_end, copy_during_own_removal },
	{ "import-outlives-export@exporters-reset", copy_after_end, copy_after_exporters_reset },
	{ "import-outlives-export@exporters-death", copy_after_end, copy_after_exporters_death },
	{ "capability-not-queried", export_without_query, export_with_query },
	{ 0 },
};
