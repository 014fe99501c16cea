/* SPDX-License-Identifier: BSD-3-Clause */
/* flexio.h - the part of libflexio that programs of libdoca_dpa use: execution units that a file gives to an application. */
#ifndef FLEXIO_H_
#define FLEXIO_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { FLEXIO_STATUS_SUCCESS = 0, FLEXIO_STATUS_FAILED = 1 } flexio_status;

struct flexio_resource;

/* Read the @size bytes of YAML at @buffer, and take what the application with the key has. The result is the caller's
 * (flexio_resources_destroy()). FLEXIO_STATUS_FAILED, with a line in the log: no valid file, or no such key. */
flexio_status flexio_resources_create(const char *app_key, const char *buffer, size_t size,
				      struct flexio_resource **res);

/* NULL is fine. */
flexio_status flexio_resources_destroy(struct flexio_resource *res);

/* Get the numbers of execution units and of their groups, and the units, which live as long as @res. */
uint32_t flexio_resources_get_eus_num(struct flexio_resource *res);
uint32_t *flexio_resources_get_eus(struct flexio_resource *res);
uint32_t flexio_resources_get_eugs_num(struct flexio_resource *res);

#ifdef __cplusplus
}
#endif

#endif
