/* SPDX-License-Identifier: BSD-3-Clause */
/* The SDK's progress engine, as the loop drives it. */
#include "engine.h"

#include <doca_pe.h>

#include "failure.h"
#include "engine_pe.h"

/* struct engine is the library's own object under a name that every SDK can have. */
struct doca_pe *engine_pe(struct engine *engine)
{
	return (struct doca_pe *)engine;
}

doca_error_t engine_create(struct engine **ret_engine)
{
	struct doca_pe *pe;
	doca_error_t result = check(doca_pe_create(&pe), "create a progress engine");

	if (result == DOCA_SUCCESS)
		*ret_engine = (struct engine *)pe;
	return result;
}

void engine_destroy(struct engine *engine)
{
	if (engine)
		check(doca_pe_destroy(engine_pe(engine)), "destroy the progress engine");
}

bool engine_turn(struct engine *engine)
{
	return doca_pe_progress(engine_pe(engine));
}
