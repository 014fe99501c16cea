/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_pe.h - the engine is a progress engine: contexts are connected to it, and it calls them back. */
#ifndef ENGINE_PE_H
#define ENGINE_PE_H

struct doca_pe;
struct engine;

/* Lives as long as @engine. */
struct doca_pe *engine_pe(struct engine *engine);

#endif
