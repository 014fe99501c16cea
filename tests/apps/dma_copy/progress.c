/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the progress of the copy on a terminal. */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "loop.h"

#define INTERVAL_S 0.1

void progress_begin(struct progress *progress, uint64_t total_bytes)
{
	double now = now_s();

	*progress = (struct progress){
		.total_bytes = total_bytes,
		.begin_s = now,
		.next_s = now + INTERVAL_S,
		.on_terminal = isatty(STDERR_FILENO),
	};
}

double progress_rate(const struct progress *progress)
{
	double duration_s = now_s() - progress->begin_s;

	return duration_s > 0 ? (double)progress->done_bytes / duration_s : 0;
}

static void show(const struct progress *progress)
{
	double part = progress->total_bytes ? (double)progress->done_bytes / (double)progress->total_bytes : 1;

	fprintf(stderr, "\r%3d %%  %.1f of %.1f MB  %.1f MB/s   ", (int)(100 * part),
		(double)progress->done_bytes / 1e6, (double)progress->total_bytes / 1e6, progress_rate(progress) / 1e6);
	fflush(stderr);
}

void progress_add(struct progress *progress, uint64_t bytes)
{
	progress->done_bytes += bytes;
	if (!progress->on_terminal || now_s() < progress->next_s)
		return;
	show(progress);
	progress->next_s = now_s() + INTERVAL_S;
}

void progress_end(struct progress *progress)
{
	if (!progress->on_terminal)
		return;
	show(progress);
	fputc('\n', stderr);
}
