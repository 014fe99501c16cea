/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that a source was written before it is copied. Only valgrind knows that. */
#include <inttypes.h>

#include "task_rules.h"
#include "pcie_model/arith.h"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND                    0
#define VALGRIND_GET_VBITS(addr, vbits, bytes) 3
#endif

#define CHUNK_BYTES 1024

bool check_dma_knows_defined(void)
{
	return RUNNING_ON_VALGRIND;
}

/* The address of the first byte that was not written, or NULL. Bytes that are not addressable are another error. */
static const uint8_t *find_undefined(const uint8_t *addr, size_t bytes)
{
	uint8_t vbits[CHUNK_BYTES] = { 0 }; /* of a byte: 0 = written */

	for (size_t done = 0; done < bytes; done += CHUNK_BYTES) {
		size_t part = min_size(bytes - done, CHUNK_BYTES);

		if (VALGRIND_GET_VBITS(addr + done, vbits, part) != 1)
			return NULL;
		for (size_t i = 0; i < part; i++)
			if (vbits[i])
				return addr + done + i;
	}
	return NULL;
}

void check_dma_defined(const struct shim_buf_task *memcpy)
{
	uint64_t offset = 0;

	for (const struct doca_buf *buf = memcpy->src; buf && check_dma_knows_defined(); buf = buf->next) {
		const uint8_t *cpu =
			buf->mmap->remote ? NULL : (const uint8_t *)(uintptr_t)shim_buf_cpu_addr(buf, buf->data);
		const uint8_t *undefined = cpu && buf->data_len ? find_undefined(cpu, buf->data_len) : NULL;
		struct check_hit *hit;

		if (undefined) {
			hit = CHECK_HIT_HERE(BFC_SOURCE_NOT_WRITTEN,
					     "%s: byte %" PRIu64 " of the task's source, at %p, was never written",
					     check_current_name("doca_task_submit"),
					     offset + (uint64_t)(undefined - cpu), (const void *)undefined);
			check_task_add_objects(hit, memcpy);
			check_hit_end(hit);
			return;
		}
		offset += buf->data_len;
	}
}
