/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/bench/probe_engine.h - accelerator engines that are measured.
 *
 *   text --> source of the tasks --engine--> output
 *        |
 *        +-- as it is, packed by a library (decompression), or the output of the engine that does the reverse
 */
#ifndef SHIM_BENCH_PROBE_ENGINE_H
#define SHIM_BENCH_PROBE_ENGINE_H

#include "probe_tasks.h"

struct probe_engine {
	const char *name; /* of the workload */
	struct probe_kind kind;
	doca_error_t (*is_supported)(const struct doca_devinfo *devinfo);
	/* How the source is made; both NULL = it is the text, else the output is the text. */
	size_t (*pack)(const uint8_t *text, size_t len, uint8_t *to, size_t room);
	const struct probe_engine *reverse;
};

extern const struct probe_engine probe_sha, probe_deflate, probe_inflate, probe_lz4, probe_ec_create, probe_ec_recover,
	probe_gcm_encrypt, probe_gcm_decrypt;

/* Compress @len bytes by the library that the engine for decompression needs as well, and which is loaded here. Returns the
 * length; ends the program without the library, or if the output has more than @room bytes. */
size_t probe_pack_deflate(const uint8_t *text, size_t len, uint8_t *to, size_t room);
size_t probe_pack_lz4(const uint8_t *text, size_t len, uint8_t *to, size_t room);

#endif
