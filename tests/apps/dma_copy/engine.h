/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.h - the object that the loop drives: the SDK's libraries make progress in it and call back.
 *
 * Its contents depend on the SDK: engine.c.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>

#include <doca_error.h>

struct engine;

/* The caller destroys it, when nothing that it drove is left. NULL is fine for destroy. */
doca_error_t engine_create(struct engine **ret_engine);
void engine_destroy(struct engine *engine);

/* Make progress without waiting. Returns true if there was any. */
bool engine_turn(struct engine *engine);

#endif
