/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_pollers.h - nothing calls back in this generation: a turn of the engine asks each queue and endpoint.
 */
#ifndef ENGINE_POLLERS_H
#define ENGINE_POLLERS_H

#include <stdbool.h>

struct engine;

/* Handles events without waiting. Returns true if there was any. */
typedef bool engine_poll(void *self);

/* Have each turn poll @self, until it is removed. There is room for both that this
 * program has, the channel and the DMA. Not from within a turn. */
void engine_add(struct engine *engine, engine_poll *poll, void *self);
void engine_remove(struct engine *engine, void *self);

#endif
