/* SPDX-License-Identifier: BSD-3-Clause */
/* The rule that memory for which the program asked for huge pages has them. Reads /proc/self/smaps. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/check/report/hit.h"
#include "shim/check/history/mmap_history.h"

#define HUGE_PAGE_BYTES (2 << 20)

/* What the kernel tells of the mappings of a range. */
struct pages {
	uint64_t start, end; /* of the range */
	bool is_inside;      /* the mapping that is being read has a part of the range */
	uint64_t rss_kib, huge_kib;
	uint64_t hinted_rss_kib, hinted_huge_kib; /* of mappings with MADV_HUGEPAGE */
};

static bool has_flag(const char *flags, const char *flag)
{
	const char *found = strstr(flags, flag);

	return found && (found[2] == ' ' || found[2] == '\n' || found[2] == '\0');
}

/* The flags are the last line of a mapping. */
static void read_flags(struct pages *pages, const char *flags)
{
	if (!pages->is_inside || !has_flag(flags, "hg"))
		return;
	pages->hinted_rss_kib += pages->rss_kib;
	pages->hinted_huge_kib += pages->huge_kib;
}

static void read_line(struct pages *pages, const char *line)
{
	uint64_t start, end, kib;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &start, &end) == 2) {
		pages->is_inside = start < pages->end && end > pages->start;
		pages->rss_kib = pages->huge_kib = 0;
	} else if (sscanf(line, "Rss: %" SCNu64 " kB", &kib) == 1) {
		pages->rss_kib = kib;
	} else if (sscanf(line, "AnonHugePages: %" SCNu64 " kB", &kib) == 1 ||
		   sscanf(line, "ShmemPmdMapped: %" SCNu64 " kB", &kib) == 1 ||
		   sscanf(line, "FilePmdMapped: %" SCNu64 " kB", &kib) == 1) {
		pages->huge_kib += kib;
	} else if (strncmp(line, "VmFlags:", 8) == 0) {
		read_flags(pages, line + 8);
	}
}

static void read_pages(struct pages *pages)
{
	FILE *smaps = fopen("/proc/self/smaps", "re");
	char *line = NULL;
	size_t size = 0;

	while (smaps && getline(&line, &size, smaps) > 0)
		read_line(pages, line);
	free(line);
	if (smaps)
		fclose(smaps);
}

static void leave_start(struct shim_call *call)
{
	const struct doca_mmap *mmap = check_arg(call, 0);
	struct pages pages = { 0 };
	struct check_hit *hit;

	if (check_result(call) != DOCA_SUCCESS || mmap->len_bytes < HUGE_PAGE_BYTES || mmap->cpu_base)
		return;
	pages.start = (uintptr_t)mmap->addr;
	pages.end = pages.start + mmap->len_bytes;
	read_pages(&pages);
	if (pages.hinted_huge_kib > 0 || pages.hinted_rss_kib < HUGE_PAGE_BYTES / 1024)
		return;
	hit = check_hit_begin(BFC_HUGE_PAGES_MISSING, call,
			      "%s: madvise(MADV_HUGEPAGE) asked for huge pages; of %" PRIu64
			      " KiB in memory none are in huge pages",
			      check_call_name(call), pages.hinted_rss_kib);
	check_mmap_add_call(hit, mmap, CHECK_MMAP_RANGE, "set the range");
	check_mmap_add_object(hit, mmap);
	check_hit_end(hit);
}

static const struct check_watch watches[] = {
	{ SHIM_FN_doca_mmap_start, NULL, leave_start },
};

const struct check_part check_mmap_pages = {
	CHECK_WATCHES(watches),
	.mode = SIM_CHECK_STRICT,
};
