/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop's engine for the work-queue generation: a list of pollers. */
#include "engine.h"

#include <assert.h>
#include <stdlib.h>

#include "failure.h"
#include "engine_pollers.h"

#define MAX_POLLERS 2

struct poller {
	engine_poll *poll;
	void *self;
};

struct engine {
	struct poller pollers[MAX_POLLERS];
	unsigned int num;
};

doca_error_t engine_create(struct engine **ret_engine)
{
	struct engine *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return failure_report(DOCA_ERROR_NO_MEMORY, "No memory for the engine");
	*ret_engine = engine;
	return DOCA_SUCCESS;
}

void engine_destroy(struct engine *engine)
{
	free(engine);
}

void engine_add(struct engine *engine, engine_poll *poll, void *self)
{
	assert(engine->num < MAX_POLLERS);
	engine->pollers[engine->num++] = (struct poller){ .poll = poll, .self = self };
}

void engine_remove(struct engine *engine, void *self)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < engine->num; i++) {
		if (engine->pollers[i].self != self)
			engine->pollers[kept++] = engine->pollers[i];
	}
	engine->num = kept;
}

bool engine_turn(struct engine *engine)
{
	bool busy = false;

	for (unsigned int i = 0; i < engine->num; i++)
		busy |= engine->pollers[i].poll(engine->pollers[i].self);
	return busy;
}
