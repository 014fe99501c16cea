/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of two processes: the importer, on the DPU, copies from and to memory that the exporter, on the host, uses.
 * The exporter does what the importer's messages say, so that each touch has its place in the importer's program. */
#include "racebench.h"

#include <bfsim.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORT_BYTES     AREA_BYTES
#define DESCRIPTOR_BYTES 64

/* COPY_IN, COPY_OUT: by tasks of the exporter, to the memory and from it. */
enum order { WRITE = 'w', READ = 'r', POLL = 'p', COPY_IN = 'i', COPY_OUT = 'o', STOP = 's', FREE = 'f', END = 'e' };

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
	pid_t exporter, second; /* second: another importer, or 0 */
	int socket, second_socket;
	bool is_second; /* this process */
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

struct exporter {
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	struct offer offer;
	const struct racebench_args *args;
};

/* Copy between the memory, from byte @args->at on, and an area. */
static void copy(const struct exporter *exporter, bool is_in)
{
	size_t len = exporter->args->len;
	struct rig *rig = racebench_rig();
	uint8_t *addr = exporter->offer.addr + exporter->args->at;
	struct doca_buf *shared = rig_buf(rig, exporter->mmap, addr, len, 0, is_in ? 0 : len);

	MUST(doca_task_submit(is_in ? rig_task(rig, 1, rig_src(rig, SRC, len), shared) :
				      rig_task(rig, 1, shared, rig_dst(rig, DST, len))));
	racebench_finish(rig);
}

static void free_memory(struct exporter *exporter)
{
	if (!exporter->offer.addr)
		return;
	if (exporter->args->is_mapping)
		CHECK(munmap(exporter->offer.addr, EXPORT_BYTES) == 0);
	else
		free(exporter->offer.addr);
	exporter->offer.addr = NULL;
}

static void do_order(struct exporter *exporter, char order)
{
	const struct racebench_args *args = exporter->args;
	uint8_t *memory = exporter->offer.addr;

	if (order == WRITE)
		memory[args->at] = rig_byte(args->at) ^ 0x55;
	if (order == POLL)
		poll_last_byte(memory, args);
	if (order == READ || order == POLL)
		racebench_use(has_copy(memory, args));
	if (order == COPY_IN || order == COPY_OUT)
		copy(exporter, order == COPY_IN);
	if (order == STOP)
		MUST(doca_mmap_stop(exporter->mmap));
	if (order == FREE)
		free_memory(exporter);
}

static void export_memory(struct exporter *exporter)
{
	struct offer *offer = &exporter->offer;
	size_t len;
	const void *bytes;
	uint8_t is_supported;

	offer->addr = exporter->args->is_mapping ?
			      mmap(NULL, EXPORT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) :
			      malloc(EXPORT_BYTES);
	CHECK(offer->addr && offer->addr != MAP_FAILED);
	for (size_t i = 0; i < EXPORT_BYTES; i++)
		offer->addr[i] = rig_byte(i);
	MUST(doca_mmap_cap_is_export_pci_supported(doca_dev_as_devinfo(exporter->dev), &is_supported));
	exporter->mmap = rig_make_mmap(exporter->dev, offer->addr, EXPORT_BYTES,
				       DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	MUST(doca_mmap_export_pci(exporter->mmap, exporter->dev, &bytes, &len));
	CHECK(len <= DESCRIPTOR_BYTES);
	memcpy(offer->bytes, bytes, len);
}

static void run_exporter(struct bfsim_session *session, const struct racebench_args *args, int socket)
{
	struct exporter exporter = { .args = args };
	char order = END;

	CHECK(bfsim_session_enter(session, "host") == 0);
	exporter.dev = rig_open_dev(0);
	export_memory(&exporter);
	CHECK(write(socket, &exporter.offer, sizeof(exporter.offer)) == sizeof(exporter.offer));
	while (read(socket, &order, 1) == 1 && order != END) {
		do_order(&exporter, order);
		CHECK(write(socket, &order, 1) == 1);
	}
	MUST(doca_mmap_destroy(exporter.mmap));
	MUST(doca_dev_close(exporter.dev));
	free_memory(&exporter);
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

static void import_memory(struct importer *importer)
{
	uint8_t is_supported;

	CHECK(bfsim_session_enter(importer->session, "dpu") == 0);
	importer->rig = racebench_rig();
	MUST(doca_mmap_cap_is_create_from_export_pci_supported(doca_dev_as_devinfo(importer->rig->dev), &is_supported));
	MUST(doca_mmap_create_from_export(NULL, importer->offer.bytes, DESCRIPTOR_BYTES, importer->rig->dev,
					  &importer->mmap));
}

static void start_second(struct importer *importer);

static struct importer open_importer(const struct racebench_args *args)
{
	struct importer importer = { .args = args };
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
	if (args->has_second)
		start_second(&importer);
	import_memory(&importer);
	return importer;
}

static void release_import(struct importer *importer)
{
	struct doca_buf **bufs = importer->rig->bufs;

	rig_drain(importer->rig);
	for (size_t i = 0; i < importer->rig->num_bufs; i++)
		MUST(doca_buf_dec_refcount(bufs[i], NULL));
	importer->rig->num_bufs = 0;
	MUST(doca_mmap_destroy(importer->mmap));
	rig_close(importer->rig);
}

static void close_importer(struct importer *importer)
{
	int status;

	release_import(importer);
	tell(importer, END);
	CHECK(waitpid(importer->exporter, &status, 0) == importer->exporter && status == 0);
	close(importer->socket);
	CHECK(bfsim_session_stop(importer->session) == 0);
}

/* The second importer's begins at byte @at. */
static struct doca_buf *remote(const struct importer *importer, size_t data_len)
{
	uint8_t *addr = importer->offer.addr + (importer->is_second ? importer->args->at : 0);

	return rig_buf(importer->rig, importer->mmap, addr, importer->args->len, 0, data_len);
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

/* ---- a second importer: it has a task in flight until its socket is closed ---- */

static void run_second(struct importer *importer, int socket)
{
	char order = 0;

	importer->is_second = true;
	import_memory(importer);
	deliver(importer);
	CHECK(write(socket, &order, 1) == 1);
	(void)!read(socket, &order, 1);
	release_import(importer);
	exit(0);
}

static void start_second(struct importer *importer)
{
	int sockets[2];
	char order;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	importer->second = fork();
	CHECK(importer->second >= 0);
	if (importer->second == 0) {
		close(sockets[0]);
		run_second(importer, sockets[1]);
	}
	close(sockets[1]);
	importer->second_socket = sockets[0];
	CHECK(read(sockets[0], &order, 1) == 1);
}

static void end_second(struct importer *importer)
{
	int status;

	close(importer->second_socket);
	CHECK(waitpid(importer->second, &status, 0) == importer->second && status == 0);
}

static void kill_second(struct importer *importer)
{
	CHECK(kill(importer->second, SIGKILL) == 0);
	CHECK(waitpid(importer->second, NULL, 0) == importer->second);
	close(importer->second_socket);
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

EXPORTER_PROGRAM(fetched_and_copied, FETCH, false, COPY_IN)
EXPORTER_PROGRAM(fetched_then_copied, FETCH, true, COPY_IN)
EXPORTER_PROGRAM(fetched_and_read, FETCH, false, COPY_OUT)
EXPORTER_PROGRAM(delivered_and_copied, DELIVER, false, COPY_IN)
EXPORTER_PROGRAM(delivered_and_read, DELIVER, false, COPY_OUT)
EXPORTER_PROGRAM(delivered_then_read, DELIVER, true, COPY_OUT)
EXPORTER_PROGRAM(map_stopped_in_time, FETCH, true, STOP)

/* The copy may fail. */
static void end_memory(const struct racebench_args *args, enum direction direction, enum order how)
{
	struct importer importer = begin(args, direction, false);

	order(&importer, how);
	close_importer(&importer);
}

static void map_stopped_early(const struct racebench_args *args)
{
	end_memory(args, FETCH, STOP);
}

static void source_freed_early(const struct racebench_args *args)
{
	end_memory(args, FETCH, FREE);
}

static void destination_freed_early(const struct racebench_args *args)
{
	end_memory(args, DELIVER, FREE);
}

static void freed_in_time(const struct racebench_args *args)
{
	struct importer importer = begin(args, FETCH, true);

	order(&importer, STOP);
	order(&importer, FREE);
	close_importer(&importer);
}

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

static void two_deliver(const struct racebench_args *args)
{
	struct importer importer = begin(args, DELIVER, true);

	end_second(&importer);
	close_importer(&importer);
}

static void first_delivers_then_second(const struct racebench_args *args)
{
	struct importer importer = open_importer(args);

	end_second(&importer);
	deliver(&importer);
	close_importer(&importer);
}

/* What the second one had in flight is gone with it. */
static void second_is_killed(const struct racebench_args *args)
{
	struct importer importer = open_importer(args);

	kill_second(&importer);
	deliver(&importer);
	close_importer(&importer);
}

/* ---- the table ---- */

#define P(name, function, ...) RACEBENCH_PROGRAM(import, name, 2, run, function, __VA_ARGS__)

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
	P(exporter_task_writes_source_racy, fetched_and_copied, RACEBENCH_BYTES(64, 63)),
	P(exporter_task_writes_source_64k_racy, fetched_and_copied, RACEBENCH_LARGE),
	P(exporter_task_writes_destination_racy, delivered_and_copied, RACEBENCH_BYTES(64, 0)),
	P(exporter_task_reads_destination_racy, delivered_and_read, RACEBENCH_BYTES(64, 20)),
	P(exporter_stops_map_racy, map_stopped_early, RACEBENCH_SMALL),
	P(exporter_frees_source_racy, source_freed_early, RACEBENCH_SMALL),
	P(exporter_frees_destination_racy, destination_freed_early, RACEBENCH_SMALL),
	P(exporter_unmaps_source_racy, source_freed_early, RACEBENCH_SMALL, .is_mapping = true),
	P(exporter_unmaps_destination_racy, destination_freed_early, RACEBENCH_SMALL, .is_mapping = true),
	P(two_importers_racy, two_deliver, RACEBENCH_BYTES(64, 0), .has_second = true),
	P(two_importers_overlap_64k_racy, two_deliver, RACEBENCH_BYTES(65536, 65535), .has_second = true),
	P(two_importers_side_by_side_clean, two_deliver, RACEBENCH_BYTES(64, 64), .has_second = true),
	P(two_importers_in_turn_clean, first_delivers_then_second, RACEBENCH_BYTES(64, 0), .has_second = true),
	P(second_importer_killed_clean, second_is_killed, RACEBENCH_BYTES(64, 0), .has_second = true),
	P(exporter_task_writes_behind_source_clean, fetched_and_copied, RACEBENCH_BYTES(64, 64)),
	P(exporter_task_writes_source_after_clean, fetched_then_copied, RACEBENCH_BYTES(64, 0)),
	P(exporter_task_reads_source_clean, fetched_and_read, RACEBENCH_BYTES(64, 0)),
	P(exporter_task_writes_behind_destination_clean, delivered_and_copied, RACEBENCH_BYTES(64, 64)),
	P(exporter_task_reads_destination_after_clean, delivered_then_read, RACEBENCH_BYTES(64, 0)),
	P(exporter_stops_map_after_clean, map_stopped_in_time, RACEBENCH_SMALL),
	P(exporter_frees_memory_after_clean, freed_in_time, RACEBENCH_SMALL),
	P(exporter_unmaps_memory_after_clean, freed_in_time, RACEBENCH_SMALL, .is_mapping = true),
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
