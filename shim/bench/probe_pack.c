/* SPDX-License-Identifier: BSD-3-Clause */
/* Compressed data for the engines that decompress. A card may have these and no engine that compresses, so libraries do it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe_engine.h"

#define DEFLATE_LEVEL 1

static void find_function(void *library, const char *name, void *slot)
{
	void *function = library ? dlsym(library, name) : NULL;

	if (!function) {
		fprintf(stderr, "bfsim-bench-probe: %s can't be used: %s\n", name, dlerror());
		exit(EXIT_FAILURE);
	}
	memcpy(slot, &function, sizeof(function));
}

static size_t check_len(size_t len)
{
	probe_must(len > 0 ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY, "compress the source");
	return len;
}

size_t probe_pack_deflate(const uint8_t *text, size_t len, uint8_t *to, size_t room)
{
	void *library = dlopen("libdeflate.so.0", RTLD_NOW | RTLD_LOCAL), *compressor;
	void *(*alloc)(int level);
	size_t (*compress)(void *compressor, const void *from, size_t len, void *to, size_t room), packed;
	void (*release)(void *compressor);

	find_function(library, "libdeflate_alloc_compressor", &alloc);
	find_function(library, "libdeflate_deflate_compress", &compress);
	find_function(library, "libdeflate_free_compressor", &release);
	compressor = alloc(DEFLATE_LEVEL);
	packed = compressor ? compress(compressor, text, len, to, room) : 0;
	release(compressor);
	return check_len(packed);
}

size_t probe_pack_lz4(const uint8_t *text, size_t len, uint8_t *to, size_t room)
{
	void *library = dlopen("liblz4.so.1", RTLD_NOW | RTLD_LOCAL);
	int (*compress)(const uint8_t *from, uint8_t *to, int len, int room), packed;

	find_function(library, "LZ4_compress_default", &compress);
	packed = compress(text, to, (int)len, (int)room);
	return check_len(packed > 0 ? (size_t)packed : 0);
}
