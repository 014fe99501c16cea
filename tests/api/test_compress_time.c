/* SPDX-License-Identifier: BSD-3-Clause */
/* The model time of engines besides DMA: BlueField-3's decompression is as fast as was measured, an engine that was not measured
 * takes no time of its own, and a rate of the topology holds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <doca_clock.h>
#include <doca_compress.h>
#include <doca_sha.h>

#include "cmocka_test.h"
#include "accel_util.h"
#include "doca_check.h"
#include "time_util.h"

#define DEPTH     16
#define TASKS     64
#define MAX_BYTES ((size_t)2 << 20)

/* Uncompressed bytes, and Gib/s of output in thousandths: doca_bench on a BlueField-3 with DOCA 2.9.2005, host memory, deep queue
 * (experiment log of the WR-ZipGuard project, section M2 R005). */
static const struct {
	size_t bytes;
	uint64_t measured;
} rows[] = { { 4096, 6070 }, { 65536, 69800 }, { 262144, 131700 }, { 1048576, 167500 }, { 2097152, 174900 } };

#define NUM_ROWS (sizeof(rows) / sizeof(rows[0]))

/* ---- a worker with DEPTH tasks in flight ---- */

struct worker {
	struct accel *accel;
	struct doca_compress *compress;
	struct doca_clock *clock;
	struct doca_buf *dst[DEPTH];
	unsigned int left;
};

static struct worker worker;

static void on_inflated(struct doca_compress_task_decompress_deflate *task, union doca_data number,
			union doca_data data)
{
	MUST(doca_task_get_status(doca_compress_task_decompress_deflate_as_task(task)));
	if (worker.left == 0) {
		doca_task_free(doca_compress_task_decompress_deflate_as_task(task));
		return;
	}
	worker.left--;
	MUST(doca_buf_reset_data_len(worker.dst[number.u64]));
	MUST(doca_task_submit(doca_compress_task_decompress_deflate_as_task(task)));
}

/* A raw stream of that many bytes, of half its size. */
static size_t make_stream(size_t bytes, uint8_t *to)
{
	static uint8_t text[MAX_BYTES];
	z_stream stream = { .next_in = text, .avail_in = (uInt)bytes, .next_out = to, .avail_out = MAX_BYTES };

	for (size_t i = 0; i < bytes; i++)
		text[i] = (uint8_t)((uint32_t)i * 2654435761u >> 28);
	CHECK(deflateInit2(&stream, 1, Z_DEFLATED, -15, 8, Z_HUFFMAN_ONLY) == Z_OK);
	CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
	deflateEnd(&stream);
	return stream.total_out;
}

static void open_worker(void)
{
	worker.accel = accel_open();
	MUST(doca_clock_create(worker.accel->dev, &worker.clock));
	MUST(doca_compress_create(worker.accel->dev, &worker.compress));
	MUST(doca_compress_task_decompress_deflate_set_conf(worker.compress, on_inflated, on_inflated, DEPTH));
	accel_start(worker.accel, doca_compress_as_ctx(worker.compress));
}

/* All tasks write to the same destination, which the test does not read. */
static uint64_t measure_ns(size_t bytes)
{
	static uint8_t stream[MAX_BYTES];
	struct doca_compress_task_decompress_deflate *task;
	struct doca_buf *src;
	uint64_t begin_ns;

	accel_reset(worker.accel);
	src = accel_src(worker.accel, stream, make_stream(bytes, stream));
	worker.left = TASKS - DEPTH;
	begin_ns = now_ns(worker.clock);
	for (uint64_t i = 0; i < DEPTH; i++) {
		worker.accel->dst_used = 0;
		worker.dst[i] = accel_dst(worker.accel, bytes);
		MUST(doca_compress_task_decompress_deflate_alloc_init(worker.compress, src, worker.dst[i],
								      (union doca_data){ .u64 = i }, &task));
		MUST(doca_task_submit(doca_compress_task_decompress_deflate_as_task(task)));
	}
	accel_drain(worker.accel);
	return now_ns(worker.clock) - begin_ns;
}

static void inflate_rows(int out)
{
	open_worker();
	for (size_t i = 0; i < NUM_ROWS; i++) {
		/* Gib/s in thousandths */
		double rate = (double)rows[i].bytes * 8 * TASKS / (double)measure_ns(rows[i].bytes) * 1e9 / (1 << 30);

		dprintf(out, "%" PRIu64 "\n", (uint64_t)(rate * 1000));
	}
}

static void test_bluefield_3_inflates_as_fast_as_measured(void **state)
{
	struct text text;
	char *at = text.chars;

	run("virtual", inflate_rows, &text);
	print_message("%s", text.chars);
	for (size_t i = 0; i < NUM_ROWS; i++) {
		uint64_t rate = strtoull(at, &at, 10);

		assert_in_range(rate, rows[i].measured * 9 / 10, rows[i].measured * 11 / 10);
	}
}

/* ---- SHA, which was not measured ---- */

static void on_hash(struct doca_sha_task_hash *task, union doca_data user_data, union doca_data ctx_data)
{
}

/* Print the time of a task of 1 MiB. */
static void hash_once(int out)
{
	static uint8_t message[1 << 20];
	static struct accel *accel; /* as the program ends with it */
	struct doca_sha_task_hash *task;
	struct doca_clock *clock;
	struct doca_sha *sha;
	uint64_t begin_ns;

	accel = accel_open();
	MUST(doca_clock_create(accel->dev, &clock));
	MUST(doca_sha_create(accel->dev, &sha));
	MUST(doca_sha_task_hash_set_conf(sha, on_hash, on_hash, 0));
	accel_start(accel, doca_sha_as_ctx(sha));
	MUST(doca_sha_task_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, accel_src(accel, message, sizeof(message)),
					   accel_dst(accel, 32), (union doca_data){ 0 }, &task));
	begin_ns = now_ns(clock);
	MUST(accel_run(accel, doca_sha_task_hash_as_task(task)));
	dprintf(out, "%" PRIu64 "\n", now_ns(clock) - begin_ns);
}

/* A topology of the test's own, for the program that runs next. */
static void use_topology(const char *yaml)
{
	static char path[64];
	int fd = memfd_create("topology", 0);

	assert_true(fd >= 0 && write(fd, yaml, strlen(yaml)) == (ssize_t)strlen(yaml));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	setenv("BFSIM_TOPOLOGY", path, 1);
}

#define HOST_WITH(caps)                                      \
	"cards:\n  - profile: bluefield-2\n    functions:\n" \
	"      - {side: dpu, type: pf, pci: \"03:00.0\"}\n"  \
	"      - {side: host, type: pf, pci: \"3b:00.0\", caps: {" caps "}}\n"

static uint64_t hash_ns(const char *yaml)
{
	struct text text;

	use_topology(yaml);
	run("virtual", hash_once, &text);
	unsetenv("BFSIM_TOPOLOGY");
	return strtoull(text.chars, NULL, 10);
}

/* 8 Gb/s are 1 byte a nanosecond. */
static void test_rate_of_a_topology_holds(void **state)
{
	uint64_t unmeasured_ns = hash_ns(HOST_WITH("sha: true"));

	assert_in_range(unmeasured_ns, 1, 5000);
	assert_int_equal(hash_ns(HOST_WITH("sha-rate: 8 Gb/s")), unmeasured_ns + (1 << 20));
	assert_int_equal(hash_ns(HOST_WITH("sha-rate: 8 Gb/s, sha-task-ns: 700")), unmeasured_ns + (1 << 20) + 700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bluefield_3_inflates_as_fast_as_measured),
		cmocka_unit_test(test_rate_of_a_topology_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
