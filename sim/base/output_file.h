/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/output_file.h - a file that a user named for a result: the old one stays until the new one is whole.
 *
 *   open --> "PATH.PID.tmp" beside it --close--> renamed to PATH, or removed after a failure
 *
 * What is not an ordinary file (a pipe, a device, a link), and a file in a directory that can't be written to, is written in
 * place.
 */
#ifndef SIM_OUTPUT_FILE_H
#define SIM_OUTPUT_FILE_H

#include <limits.h>
#include <stdio.h>

struct sim_output_file {
	FILE *stream; /* to write to; errors are found at the close */
	char path[PATH_MAX];
	char temporary[PATH_MAX]; /* "" = in place */
};

/* Whether the file can be written, as far as that can be known: nothing is changed. Returns 0 or -errno. */
int sim_output_file_check(const char *path);

/* Returns 0, or -errno with nothing to close. */
int sim_output_file_open(const char *path, struct sim_output_file *ret_file);

/* Put the file in its place. Returns 0 or the -errno of the first error of writing; then the old file is as it was, unless it was
 * written in place. */
int sim_output_file_close(struct sim_output_file *file);

/* Give up: the old file is as it was, unless it was written in place. */
void sim_output_file_abort(struct sim_output_file *file);

#endif
