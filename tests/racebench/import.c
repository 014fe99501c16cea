/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of two processes: the importer, on the DPU, copies from and to memory that the exporter, on the host, uses.
 * The exporter does what the importer's messages say, so that each touch has its place in the importer's program. */
#include "racebench.h"

#include <bfsim.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORT_BYTES     AREA_BYTES
#define DESCRIPTOR_BYTES 64

enum order { WRITE = 'w', READ = 'r', POLL = 'p', END = 'e' };

/* What the exporter sends first. Its memory begins as rig_byte(). */
struct offer {
	uint8_t *addr;
	uint8_t bytes[DESCRIPTOR_BYTES];
};

struct importer {
	struct rig *rig;
	const struct racebench_args *args;
	struct bfsim_session *session;
	struct doca_mmap *mmap;
	struct offer offer;
	pid_t exporter;
	int socket;
};

/* ---- the exporter ---- */

static bool has_copy(const uint8_t *memory, const struct racebench_args *args)
{
	for (size_t i = 0; i < args->len; i++)
		if (memory[i] != rig_byte(DST + i))
			return false;
	return true;
}

/* The card writes the last byte last. */
static void poll_last_byte(const uint8_t *memory, const struct racebench_args *args)
{
	const volatile uint8_t *last = memory + args->len - 1;

	while (*last != rig_byte(DST + args->len - 1))
		;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

static void do_order(uint8_t *memory, const struct racebench_args *args, char order)
{
	if (order == WRITE)
		memory[args->at] = rig_byte(args->at) ^ 0x55;
	if (order == POLL)
		poll_last_byte(memory, args);
	if (order == READ || order == POLL)
		racebench_use(has_copy(memory, args));
}

static void export_memory(struct doca_dev *dev, struct offer *offer, struct doca_mmap **ret_mmap)
{
	size_t len;
	const void *bytes;
	uint8_t is_supported;

	offer->addr = malloc(EXPORT_BYTES);
	CHECK(offer->addr);
	for (size_t i = 0; i < EXPORT_BYTES; i++)
		offer->addr[i] = rig_byte(i);
	MUST(doca_mmap_cap_is_export_pci_supported(doca_dev_as_devinfo(dev), &is_supported));
	*ret_mmap = rig_make_mmap(dev, offer->addr, EXPORT_BYTES, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	MUST(doca_mmap_export_pci(*ret_mmap, dev, &bytes, &len));
	CHECK(len <= DESCRIPTOR_BYTES);
	memcpy(offer->bytes, bytes, len);
}

static void run_exporter(struct bfsim_session *session, const struct racebench_args *args, int socket)
{
	struct offer offer = { 0 };
	struct doca_mmap *mmap;
	struct doca_dev *dev;
	char order = END;

	CHECK(bfsim_session_enter(session, "host") == 0);
	dev = rig_open_dev(0);
	export_memory(dev, &offer, &mmap);
	CHECK(write(socket, &offer, sizeof(offer)) == sizeof(offer));
	while (read(socket, &order, 1) == 1 && order != END) {
		do_order(offer.addr, args, order);
		CHECK(write(socket, &order, 1) == 1);
	}
	MUST(doca_mmap_destroy(mmap));
	MUST(doca_dev_close(dev));
	free(offer.addr);
	exit(0);
}

/* ---- the importer ---- */

static void tell(const struct importer *importer, char order)
{
	CHECK(write(importer->socket, &order, 1) == 1);
}

/* An exporter that found wrong data has ended. */
static void await_answer(const struct importer *importer)
{
	char answer;

	if (read(importer->socket, &answer, 1) != 1)
		exit(1);
}

static void order(const struct importer *importer, char order)
{
	tell(importer, order);
	await_answer(importer);
}

static struct importer open_importer(const struct racebench_args *args)
{
	struct importer importer = { .args = args };
	uint8_t is_supported;
	int sockets[2];

	CHECK(bfsim_session_start(NULL, &importer.session) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	importer.exporter = fork();
	CHECK(importer.exporter >= 0);
	if (importer.exporter == 0) {
		close(sockets[0]);
		run_exporter(importer.session, args, sockets[1]);
	}
	close(sockets[1]);
	importer.socket = sockets[0];
	CHECK(recv(importer.socket, &importer.offer, sizeof(importer.offer), MSG_WAITALL) == sizeof(importer.offer));
	CHECK(bfsim_session_enter(importer.session, "dpu") == 0);
	importer.rig = racebench_rig();
	MUST(doca_mmap_cap_is_create_from_export_pci_supported(doca_dev_as_devinfo(importer.rig->dev), &is_supported));
	MUST(doca_mmap_create_from_export(NULL, importer.offer.bytes, DESCRIPTOR_BYTES, importer.rig->dev,
					  &importer.mmap));
	return importer;
}

static void close_importer(struct importer *importer)
{
	struct doca_buf **bufs = importer->rig->bufs;
	int status;

	rig_drain(importer->rig);
	for (size_t i = 0; i < importer->rig->num_bufs; i++)
		MUST(doca_buf_dec_refcount(bufs[i], NULL));
	importer->rig->num_bufs = 0;
	MUST(doca_mmap_destroy(importer->mmap));
	rig_close(importer->rig);
	tell(importer, END);
	CHECK(waitpid(importer->exporter, &status, 0) == importer->exporter && status == 0);
	close(importer->socket);
	CHECK(bfsim_session_stop(importer->session) == 0);
}

static struct doca_buf *remote(const struct importer *importer, size_t data_len)
{
	return rig_buf(importer->rig, importer->mmap, importer->offer.addr, importer->args->len, 0, data_len);
}

/* From the exporter's memory to DST, and from DST to the exporter's memory. */
static void fetch(const struct importer *importer)
{
	MUST(doca_task_submit(rig_task(importer->rig, 1, remote(importer, importer->args->len),
				       rig_dst(importer->rig, DST, importer->args->len))));
}

static void deliver(const struct importer *importer)
{
	MUST(doca_task_submit(
		rig_task(importer->rig, 1, rig_src(importer->rig, DST, importer->args->len), remote(importer, 0))));
}

/* ---- programs: begin a copy, do something in either process, perhaps after the completion ---- */

enum direction { FETCH, DELIVER };

static struct importer begin(const struct racebench_args *args, enum direction direction, bool awaits)
{
	struct importer importer = open_importer(args);

	if (direction == FETCH)
		fetch(&importer);
	else
		deliver(&importer);
	if (awaits)
		rig_drain(importer.rig);
	return importer;
}

#define EXPORTER_PROGRAM(name, direction, awaits, what)                        \
	static void name(const struct racebench_args *args)                    \
	{                                                                      \
		struct importer importer = begin(args, (direction), (awaits)); \
                                                                               \
		order(&importer, (what));                                      \
		close_importer(&importer);                                     \
	}

EXPORTER_PROGRAM(source_written_early, FETCH, false, WRITE)
EXPORTER_PROGRAM(source_written_in_time, FETCH, true, WRITE)
EXPORTER_PROGRAM(destination_written_early, DELIVER, false, WRITE)
EXPORTER_PROGRAM(destination_written_in_time, DELIVER, true, WRITE)
EXPORTER_PROGRAM(destination_read_early, DELIVER, false, READ)
EXPORTER_PROGRAM(destination_read_in_time, DELIVER, true, READ)

/* The exporter waits for the data itself. The importer progresses meanwhile. */
static void exporter_polls(const struct racebench_args *args)
{
	struct importer importer = begin(args, DELIVER, false);

	tell(&importer, POLL);
	rig_drain(importer.rig);
	await_answer(&importer);
	close_importer(&importer);
}

#define IMPORTER_PROGRAM(name, direction, awaits, touch)                       \
	static void name(const struct racebench_args *args)                    \
	{                                                                      \
		struct importer importer = begin(args, (direction), (awaits)); \
                                                                               \
		touch;                                                         \
		close_importer(&importer);                                     \
	}

IMPORTER_PROGRAM(fetched_written_early, FETCH, false, racebench_write(importer.rig, args, DST))
IMPORTER_PROGRAM(fetched_read_early, FETCH, false, racebench_read(importer.rig, args, DST, 0))
IMPORTER_PROGRAM(delivered_written_early, DELIVER, false, racebench_write(importer.rig, args, DST))
IMPORTER_PROGRAM(fetched_written_in_time, FETCH, true, racebench_write(importer.rig, args, DST))
IMPORTER_PROGRAM(fetched_read_in_time, FETCH, true, racebench_read(importer.rig, args, DST, 0))
IMPORTER_PROGRAM(delivered_written_in_time, DELIVER, true, racebench_write(importer.rig, args, DST))

/* ---- the table ---- */

#define P(name, run, ...)                          \
	{                                          \
		"import_" #name, "import", 2, run, \
		{                                  \
			__VA_ARGS__                \
		}                                  \
	}

const struct racebench_program import_programs[] = {
	P(exporter_writes_source_racy, source_written_early, RACEBENCH_SMALL),
	P(exporter_writes_source_64k_racy, source_written_early, RACEBENCH_BYTES(65536, 65535)),
	P(exporter_writes_destination_racy, destination_written_early, RACEBENCH_SMALL),
	P(exporter_writes_destination_64k_racy, destination_written_early, RACEBENCH_BYTES(65536, 0)),
	P(exporter_reads_destination_racy, destination_read_early, RACEBENCH_SMALL),
	P(exporter_reads_destination_64k_racy, destination_read_early, RACEBENCH_LARGE),
	P(importer_writes_destination_racy, fetched_written_early, RACEBENCH_SMALL),
	P(importer_writes_destination_by_thread_racy, fetched_written_early, RACEBENCH_SMALL, .in_other_thread = true),
	P(importer_reads_destination_racy, fetched_read_early, RACEBENCH_SMALL),
	P(importer_reads_destination_64k_racy, fetched_read_early, RACEBENCH_LARGE),
	P(importer_writes_source_racy, delivered_written_early, RACEBENCH_SMALL),
	P(importer_writes_source_64k_racy, delivered_written_early, RACEBENCH_BYTES(65536, 0)),
	P(exporter_writes_source_after_message_clean, source_written_in_time, RACEBENCH_SMALL),
	P(exporter_writes_source_after_message_64k_clean, source_written_in_time, RACEBENCH_LARGE),
	P(exporter_writes_destination_after_message_clean, destination_written_in_time, RACEBENCH_SMALL),
	P(exporter_reads_destination_after_message_clean, destination_read_in_time, RACEBENCH_SMALL),
	P(exporter_reads_destination_after_message_64k_clean, destination_read_in_time, RACEBENCH_LARGE),
	P(exporter_polls_last_byte_clean, exporter_polls, RACEBENCH_SMALL),
	P(importer_writes_destination_after_clean, fetched_written_in_time, RACEBENCH_SMALL),
	P(importer_reads_destination_after_clean, fetched_read_in_time, RACEBENCH_SMALL),
	P(importer_reads_destination_after_64k_clean, fetched_read_in_time, RACEBENCH_LARGE),
	P(importer_writes_source_after_clean, delivered_written_in_time, RACEBENCH_SMALL),
	{ 0 },
};
