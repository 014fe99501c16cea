/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.h - what the loop drives: where the SDK's libraries get on with their work and report.
 *
 * What is inside depends on the SDK: engine.c.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>

#include <doca_error.h>

struct engine;

/* The caller destroys it, when nothing that it drove is left. NULL is fine for destroy. */
doca_error_t engine_create(struct engine **ret_engine);
void engine_destroy(struct engine *engine);

/* Do what there is to do, without waiting. Was there something? */
bool engine_turn(struct engine *engine);

#endif
