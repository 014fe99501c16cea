/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs with one task of an engine other than DMA's: its source and its destination are touched too early, or in time.
 * A task of each engine has run to its end before, so that the programs know what the output is. */
#include "racebench.h"

#include <doca_compress.h>
#include <doca_sha.h>

#include "tests/api/ec_util.h"
#include "tests/api/gcm_util.h"

#define DIGEST_BYTES 32
#define TAG_BYTES    16
#define STORED_BYTES 32768 /* of a stored block of deflate */

struct user; /* a program's objects */

/* An engine, by what its library differs in. */
struct racebench_engine {
	const char *topology; /* NULL = the default */
	/* Create the instance, configure it, set @user->ctx. */
	void (*create)(struct user *user);
	/* Write the source and return its length; set @user->output_bytes. */
	size_t (*fill)(struct user *user);
	struct doca_task *(*alloc)(struct user *user, struct doca_buf *src, struct doca_buf *dst);
	void (*destroy)(struct user *user);
};

struct user {
	const struct racebench_engine *engine;
	const struct racebench_args *args;
	struct accel *accel;
	struct doca_ctx *ctx;
	union {
		struct doca_sha *sha;
		struct doca_compress *compress;
		struct ec_rig ec;
		struct gcm_rig gcm;
	};
	struct doca_ec_matrix *matrix;
	struct doca_aes_gcm_key *key;
	uint8_t *src, *dst, *expected; /* memory of source, destination, and of the output of the first task */
	size_t output_bytes;
	struct doca_task *task; /* in flight */
};

static const union doca_data no_data;

static void put_text(uint8_t *to, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = rig_byte(i);
}

/* ---- SHA ---- */

static void on_hash(struct doca_sha_task_hash *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void sha_create(struct user *user)
{
	MUST(doca_sha_create(user->accel->dev, &user->sha));
	MUST(doca_sha_task_hash_set_conf(user->sha, on_hash, on_hash, 1));
	user->ctx = doca_sha_as_ctx(user->sha);
}

static size_t sha_fill(struct user *user)
{
	put_text(user->src, user->args->len);
	user->output_bytes = DIGEST_BYTES;
	return user->args->len;
}

static struct doca_task *sha_alloc(struct user *user, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_sha_task_hash *task;

	MUST(doca_sha_task_hash_alloc_init(user->sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, no_data, &task));
	return doca_sha_task_hash_as_task(task);
}

static void sha_destroy(struct user *user)
{
	MUST(doca_sha_destroy(user->sha));
}

/* ---- inflate ---- */

static void on_inflate(struct doca_compress_task_decompress_deflate *task, union doca_data user_data,
		       union doca_data ctx_data)
{
}

static void inflate_create(struct user *user)
{
	MUST(doca_compress_create(user->accel->dev, &user->compress));
	MUST(doca_compress_task_decompress_deflate_set_conf(user->compress, on_inflate, on_inflate, 2));
	user->ctx = doca_compress_as_ctx(user->compress);
}

/* Stored blocks: a changed byte of the data changes the output, and nothing else. */
static size_t inflate_fill(struct user *user)
{
	uint8_t *to = user->src;

	for (size_t left = user->args->len, part; left > 0; left -= part) {
		part = left < STORED_BYTES ? left : STORED_BYTES;
		*to++ = left == part; /* the last block */
		*to++ = (uint8_t)part;
		*to++ = (uint8_t)(part >> 8);
		*to++ = (uint8_t)~part;
		*to++ = (uint8_t)(~part >> 8);
		put_text(to, part);
		to += part;
	}
	user->output_bytes = user->args->len;
	return (size_t)(to - user->src);
}

static struct doca_task *inflate_alloc(struct user *user, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_compress_task_decompress_deflate *task;

	MUST(doca_compress_task_decompress_deflate_alloc_init(user->compress, src, dst, no_data, &task));
	return doca_compress_task_decompress_deflate_as_task(task);
}

static void inflate_destroy(struct user *user)
{
	MUST(doca_compress_destroy(user->compress));
}

/* ---- erasure coding: a redundancy block of two blocks ---- */

static void ec_create(struct user *user)
{
	user->ec = (struct ec_rig){ .accel = user->accel };
	MUST(doca_ec_create(user->accel->dev, &user->ec.ec));
	MUST(ec_set_conf(user->ec.ec, EC_CREATE, 2));
	user->matrix = ec_matrix(&user->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1);
	user->ctx = doca_ec_as_ctx(user->ec.ec);
}

static size_t ec_fill(struct user *user)
{
	put_text(user->src, 2 * user->args->len);
	user->output_bytes = user->args->len;
	return 2 * user->args->len;
}

static struct doca_task *ec_alloc_task(struct user *user, struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_task *task;

	MUST(ec_alloc(&user->ec, EC_CREATE, user->matrix, src, dst, &task));
	return task;
}

static void ec_destroy(struct user *user)
{
	MUST(doca_ec_matrix_destroy(user->matrix));
	MUST(doca_ec_destroy(user->ec.ec));
}

/* ---- AES-GCM: decryption ---- */

static const uint8_t key_bytes[16] = { 1, 2, 3 };

static void gcm_create(struct user *user)
{
	user->gcm = (struct gcm_rig){ .accel = user->accel };
	MUST(doca_aes_gcm_create(user->accel->dev, &user->gcm.gcm));
	MUST(gcm_set_conf(user->gcm.gcm, GCM_DECRYPT, 2));
	user->key = gcm_key(&user->gcm, key_bytes, sizeof(key_bytes));
	user->ctx = doca_aes_gcm_as_ctx(user->gcm.gcm);
}

/* The bytes are AAD, but for the last few: the model that seals them is slow. */
static uint32_t aad_bytes(const struct user *user)
{
	return (uint32_t)user->args->len - 32;
}

static size_t gcm_fill(struct user *user)
{
	const uint8_t iv[12] = { 0 };
	size_t len = user->args->len;
	uint8_t *plain = malloc(len);

	CHECK(plain != NULL);
	put_text(plain, len);
	gcm_model(key_bytes, sizeof(key_bytes), iv, sizeof(iv), plain, aad_bytes(user), len, user->src);
	free(plain);
	user->output_bytes = len;
	return len + TAG_BYTES;
}

static struct doca_task *gcm_alloc_task(struct user *user, struct doca_buf *src, struct doca_buf *dst)
{
	const struct gcm_params params = {
		.key = user->key, .iv_bytes = 12, .tag_bytes = TAG_BYTES, .aad_bytes = aad_bytes(user)
	};
	struct doca_task *task;

	MUST(gcm_alloc(&user->gcm, GCM_DECRYPT, &params, src, dst, &task));
	return task;
}

static void gcm_destroy(struct user *user)
{
	MUST(doca_aes_gcm_key_destroy(user->key));
	MUST(doca_aes_gcm_destroy(user->gcm.gcm));
}

/* ---- the way of every program ---- */

static struct doca_buf *take(struct user *user, uint8_t *addr, size_t len, size_t data_len)
{
	struct accel *accel = user->accel;
	struct doca_buf *buf;

	MUST(doca_buf_inventory_buf_get_by_args(accel->inventory, accel->mmap, addr, len, addr, data_len, &buf));
	accel->bufs[accel->num_bufs++] = buf;
	return buf;
}

/* Submit a task that writes to @dst. */
static void submit(struct user *user, size_t src_bytes, uint8_t *dst)
{
	user->task = user->engine->alloc(user, take(user, user->src, src_bytes, src_bytes),
					 take(user, dst, user->output_bytes, 0));
	MUST(doca_task_submit(user->task));
}

/* Whether the task succeeded. */
static bool await(struct user *user)
{
	doca_error_t status;

	accel_drain(user->accel);
	status = doca_task_get_status(user->task);
	doca_task_free(user->task);
	user->task = NULL;
	return status == DOCA_SUCCESS;
}

static struct user begin(const struct racebench_args *args)
{
	struct user user = { .engine = args->engine, .args = args };
	size_t src_bytes;

	if (args->engine->topology)
		CHECK(setenv("BFSIM_TOPOLOGY", args->engine->topology, 1) == 0);
	user.accel = accel_open();
	user.src = user.accel->arena + SRC;
	user.dst = user.accel->arena + DST;
	user.expected = user.accel->arena + DST2;
	args->engine->create(&user);
	accel_start(user.accel, user.ctx);
	src_bytes = args->engine->fill(&user);
	submit(&user, src_bytes, user.expected);
	CHECK(await(&user));
	submit(&user, src_bytes, user.dst);
	return user;
}

/* A task whose source was changed may fail. */
static void finish(struct user *user)
{
	if (user->task)
		(void)await(user);
	accel_stop(user->accel);
	user->engine->destroy(user);
	accel_close(user->accel);
}

/* ---- touches ---- */

/* Without a look at the byte: the thread sanitizer remembers the last four accesses. */
static void write_source(void *arg)
{
	const struct user *user = arg;

	user->src[user->args->at] = 0x55;
}

static void write_destination(void *arg)
{
	const struct user *user = arg;

	user->dst[user->args->at % user->output_bytes] = 0x55;
}

static void read_destination(void *arg)
{
	const struct user *user = arg;

	racebench_use(memcmp(user->dst, user->expected, user->output_bytes) == 0);
}

static void read_source(void *arg)
{
	const struct user *user = arg;
	volatile uint8_t byte = user->src[user->args->at];

	(void)byte;
}

static void touch(struct user *user, void (*function)(void *arg))
{
	if (user->args->in_other_thread)
		racebench_in_thread(function, user);
	else
		function(user);
}

#define EARLY(name, function)                               \
	static void name(const struct racebench_args *args) \
	{                                                   \
		struct user user = begin(args);             \
                                                            \
		touch(&user, function);                     \
		finish(&user);                              \
	}

#define IN_TIME(name, function)                             \
	static void name(const struct racebench_args *args) \
	{                                                   \
		struct user user = begin(args);             \
                                                            \
		CHECK(await(&user));                        \
		touch(&user, function);                     \
		finish(&user);                              \
	}

EARLY(source_modified, write_source)
EARLY(destination_written, write_destination)
EARLY(destination_read, read_destination)
EARLY(source_read_in_flight, read_source)
IN_TIME(source_modified_after, write_source)
IN_TIME(destination_written_after, write_destination)
IN_TIME(destination_read_after, read_destination)

/* The byte behind the output, which is another buffer's. */
static void neighbour_written(const struct racebench_args *args)
{
	struct user user = begin(args);

	user.dst[user.output_bytes] = 0x55;
	finish(&user);
}

/* ---- the table ---- */

static const struct racebench_engine sha_engine = { BLUEFIELD_2, sha_create, sha_fill, sha_alloc, sha_destroy },
				     inflate_engine = { NULL, inflate_create, inflate_fill, inflate_alloc,
							inflate_destroy },
				     ec_engine = { NULL, ec_create, ec_fill, ec_alloc_task, ec_destroy },
				     gcm_engine = { NULL, gcm_create, gcm_fill, gcm_alloc_task, gcm_destroy };

#define P(engine_, name, function, ...) \
	RACEBENCH_PROGRAM(engine, engine_##_##name, 1, run, function, __VA_ARGS__, .engine = &engine_##_engine)

/* Bytes 10 and 20 of a source are behind the header of a stored block. */
#define PROGRAMS(engine_)                                                                                         \
	P(engine_, source_modified_64_racy, source_modified, RACEBENCH_BYTES(64, 20)),                            \
		P(engine_, source_modified_64k_racy, source_modified, RACEBENCH_BYTES(65536, 10)),                \
		P(engine_, source_modified_by_thread_racy, source_modified, RACEBENCH_BYTES(64, 20),              \
		  .in_other_thread = true),                                                                       \
		P(engine_, destination_written_64_racy, destination_written, RACEBENCH_BYTES(64, 20)),            \
		P(engine_, destination_written_64k_racy, destination_written, RACEBENCH_BYTES(65536, 65535)),     \
		P(engine_, destination_written_by_thread_racy, destination_written, RACEBENCH_BYTES(64, 20),      \
		  .in_other_thread = true),                                                                       \
		P(engine_, destination_read_64_racy, destination_read, RACEBENCH_BYTES(64, 20)),                  \
		P(engine_, destination_read_64k_racy, destination_read, RACEBENCH_BYTES(65536, 20)),              \
		P(engine_, source_modified_after_clean, source_modified_after, RACEBENCH_BYTES(64, 20)),          \
		P(engine_, source_read_in_flight_clean, source_read_in_flight, RACEBENCH_BYTES(64, 20)),          \
		P(engine_, destination_written_after_clean, destination_written_after, RACEBENCH_BYTES(64, 20)),  \
		P(engine_, destination_read_after_64k_clean, destination_read_after, RACEBENCH_BYTES(65536, 20)), \
		P(engine_, neighbour_written_clean, neighbour_written, RACEBENCH_BYTES(64, 20))

const struct racebench_program engine_programs[] = {
	PROGRAMS(sha), PROGRAMS(inflate), PROGRAMS(ec), PROGRAMS(gcm), { 0 },
};
