/* SPDX-License-Identifier: BSD-3-Clause */
/* The curve of a link's bandwidth, drawn by gnuplot.
 *
 * gnuplot reads the script from one temporary file and writes the picture to another, which is copied on success. So
 * a failure keeps an existing file.
 */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pcie_model/arith.h"
#include "sim/cli/base/output.h"
#include "sim/cli/base/cli.h"
#include "pcie_curve.h"

extern char **environ;

enum {
	POINTS_PER_OCTAVE = 64,
};

static void write_point(FILE *script, const struct pcie_link *link, uint64_t bytes)
{
	char write[CLI_GBPS_SIZE], read[CLI_GBPS_SIZE], mix[CLI_GBPS_SIZE];
	struct pcie_bandwidth bandwidth;

	pcie_link_bandwidth(link, bytes, &bandwidth);
	cli_gbps_format(bandwidth.write_bps, write);
	cli_gbps_format(bandwidth.read_bps, read);
	cli_gbps_format(bandwidth.mix_bps, mix);
	fprintf(script, "%" PRIu64 " %s %s %s\n", bytes, write, read, mix);
}

/* Write points from @first to @last, POINTS_PER_OCTAVE in each octave. */
static void write_curve(FILE *script, const struct pcie_link *link, uint64_t first, uint64_t last)
{
	uint64_t octave = 1;

	fprintf(script, "$curve << END\n");
	for (uint64_t bytes = first; bytes<last; bytes += octave> POINTS_PER_OCTAVE ? octave / POINTS_PER_OCTAVE : 1) {
		while (octave * 2 <= bytes)
			octave *= 2;
		write_point(script, link, bytes);
	}
	write_point(script, link, last);
	fprintf(script, "END\n");
}

static void write_marks(FILE *script, const struct pcie_link *link, const uint64_t *sizes, size_t num)
{
	fprintf(script, "$marks << END\n");
	for (size_t i = 0; i < num; i++)
		write_point(script, link, sizes[i]);
	fprintf(script, "END\n");
}

static void write_style(FILE *script, const struct pcie_link *link)
{
	fprintf(script, "set terminal svg size 800,480 dynamic background 'white' font 'sans-serif,14'\n");
	fprintf(script, "set encoding utf8\n");
	fprintf(script, "set title 'PCIe Gen%u x%u, MPS %u, MRRS %u, RCB %u'\n", link->generation, link->lanes,
		link->mps_bytes, link->mrrs_bytes, link->rcb_bytes);
	fprintf(script, "set xlabel 'payload of a transfer'\n"
			"set ylabel 'payload, Gb/s'\n"
			"set logscale x 2\n"
			"set yrange [0:]\n"
			"set grid xtics ytics linecolor rgb '#dddddd'\n"
			"set border 3\n"
			"set tics nomirror\n"
			"set key bottom right Left reverse samplen 2\n");
}

/* Powers of two, at most eight of them. */
static void write_tics(FILE *script, uint64_t first, uint64_t last)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	unsigned int from = 63 - (unsigned int)__builtin_clzll(first | 1),
		     to = 63 - (unsigned int)__builtin_clzll(last | 1), step = (to - from) / 8 + 1;

	fprintf(script, "set xtics (");
	for (unsigned int bit = from; bit <= to; bit += step)
		fprintf(script, "%s'%u %s' %" PRIu64 ".0", bit > from ? ", " : "", 1u << bit % 10,
			units[min_u32(bit / 10, 4)], UINT64_C(1) << bit);
	fprintf(script, ")\n");
}

/* The colours differ in print and for colour-blind readers. */
static void write_plot(FILE *script, uint64_t first, uint64_t last)
{
	static const struct {
		const char *colour, *title;
	} lines[] = { { "#0072b2", "writes" }, { "#d55e00", "reads" }, { "#009e73", "equal mix, each way" } };

	if (first == last)
		fprintf(script, "set xrange [%" PRIu64 ".0/2:%" PRIu64 ".0*2]\n", first, last);
	else /* a tic at the very end would be lost */
		fprintf(script, "set xrange [%" PRIu64 ".0:%" PRIu64 ".0*1.001]\n", first, last);
	fprintf(script, "plot");
	for (int i = 0; i < 3; i++) {
		fprintf(script, " $curve using 1:%d with lines linewidth 2 linecolor rgb '%s' title '%s',", i + 2,
			lines[i].colour, lines[i].title);
		fprintf(script, " $marks using 1:%d with points pointtype 7 pointsize 0.5 linecolor rgb '%s' notitle%s",
			i + 2, lines[i].colour, i < 2 ? "," : "\n");
	}
}

static void write_script(FILE *script, const struct pcie_link *link, const uint64_t *sizes, size_t num)
{
	uint64_t first = sizes[0], last = sizes[0];

	for (size_t i = 1; i < num; i++) {
		first = min_u64(first, sizes[i]);
		last = max_u64(last, sizes[i]);
	}
	write_curve(script, link, first, last);
	write_marks(script, link, sizes, num);
	write_style(script, link);
	write_tics(script, first, last);
	write_plot(script, first, last);
}

/* Returns 0, or -1 with a message. */
static int run_gnuplot(int script_fd, int picture_fd)
{
	char *argv[] = { (char *)"gnuplot", (char *)"--default-settings", NULL };
	posix_spawn_file_actions_t actions;
	int rc, status;
	pid_t pid;

	rc = posix_spawn_file_actions_init(&actions);
	if (rc == 0) {
		posix_spawn_file_actions_adddup2(&actions, script_fd, STDIN_FILENO);
		posix_spawn_file_actions_adddup2(&actions, picture_fd, STDOUT_FILENO);
		rc = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	if (rc == ENOENT)
		return cli_error("--svg needs gnuplot, which is not installed: its package is gnuplot-nox in Debian");
	if (rc != 0) {
		return cli_error("cannot start gnuplot: %s", strerror(rc));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return cli_error("gnuplot failed, and nothing was drawn: its messages are above");
}

static int copy_picture(const void *arg, FILE *to)
{
	FILE *from = *(FILE *const *)arg;
	char bytes[4096];
	size_t num;

	rewind(from);
	while ((num = fread(bytes, 1, sizeof(bytes), from)) > 0)
		fwrite(bytes, 1, num, to);
	if (ferror(from))
		cli_fail("cannot read the picture: %s", strerror(errno));
	return ferror(from) ? -1 : 0;
}

int cli_pcie_draw(const struct pcie_link *link, const uint64_t *sizes, size_t num, const char *file)
{
	FILE *script = tmpfile(), *picture = tmpfile();
	int rc = -1;

	if (script && picture) {
		write_script(script, link, sizes, num);
		rewind(script); /* flushes it */
		rc = ferror(script) ? -1 : 0;
	}
	if (rc < 0)
		cli_fail("cannot use a temporary file: %s", strerror(errno));
	else if (run_gnuplot(fileno(script), fileno(picture)) < 0 ||
		 cli_output_write("the picture", file, copy_picture, &picture) != CLI_OK)
		rc = -1;
	if (script)
		fclose(script);
	if (picture)
		fclose(picture);
	return rc;
}
