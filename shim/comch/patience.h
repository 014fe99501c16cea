/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/comch/patience.h - what Comm Channel needs of Comch beyond its public functions. */
#ifndef SHIM_COMCH_PATIENCE_H
#define SHIM_COMCH_PATIENCE_H

#include <doca_comch.h>

#include "shim/common/object.h"

/* How long an idle client will wait for a server to appear, once started. */
SHIM_SHARED void comch_client_set_patience(struct doca_comch_client *client, uint32_t patience_ms);

/* Clients that want in and were not taken yet. */
SHIM_SHARED uint32_t comch_server_num_pending(const struct doca_comch_server *server);

#endif
