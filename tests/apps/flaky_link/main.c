/* SPDX-License-Identifier: BSD-3-Clause */
/* flaky_link: copy standard input to standard output, each piece by DMA, over a link that may fail.
 *   flaky_link <FROM >TO
 */
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "retry.h"

#define PIECE_BYTES 65536

static const struct retry_policy policy = {
	.num_attempts = 5,
	.first_wait_us = 1000,
	.most_wait_us = 100000,
	.deadline_ms = 1000,
};

static doca_error_t copy_pieces(struct retry *retry)
{
	static char in[PIECE_BYTES], out[PIECE_BYTES];
	struct retry_report report;
	doca_error_t result = DOCA_SUCCESS;
	size_t len, at = 0;

	while (result == DOCA_SUCCESS && (len = fread(in, 1, sizeof(in), stdin)) > 0) {
		result = retry_copy(retry, out, in, len, &report);
		if (report.num_attempts > 1 || result != DOCA_SUCCESS)
			fprintf(stderr, "the piece at %zu took %u attempts, %u of them late: %s\n", at,
				report.num_attempts, report.num_late, doca_error_get_name(result));
		if (result == DOCA_SUCCESS && fwrite(out, 1, len, stdout) != len)
			result = DOCA_ERROR_IO_FAILED;
		at += len;
	}
	return result;
}

int main(void)
{
	struct retry *retry = NULL;
	struct doca_dev *dev = NULL;
	doca_error_t result = device_open_for_dma(&dev);

	if (result == DOCA_SUCCESS)
		result = retry_create(dev, &policy, &retry);
	if (result == DOCA_SUCCESS)
		result = copy_pieces(retry);
	if (result != DOCA_SUCCESS)
		fprintf(stderr, "not copied: %s\n", doca_error_get_descr(result));
	retry_destroy(retry);
	if (dev)
		doca_dev_close(dev);
	return result == DOCA_SUCCESS && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
