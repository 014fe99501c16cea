/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/rail_rdm_priv.h - an endpoint without connections, which a connection has besides. */
#ifndef SIM_GATEWAY_RAIL_RDM_PRIV_H
#define SIM_GATEWAY_RAIL_RDM_PRIV_H

#include "rail_priv.h"
#include "rdm_message.h"

#define RDM_SPARE_SENDS 1 /* for heads alone: a peer that waits for a grant gets one */
#define RDM_SPARE_RECEIVES \
	4 /* the same: of them at most two are under way, and one each for the first and the second word */

struct rail_rdm {
	struct rail_endpoint endpoint;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	fi_addr_t peer; /* FI_ADDR_UNSPEC = not known, or not to be reached */
	uint8_t nonce[RDM_NONCE_BYTES], peer_nonce[RDM_NONCE_BYTES];
	struct rdm_window window;
	uint64_t after, peer_after; /* messages by the connection before the first one here */
	bool has_heard;             /* of the peer */
	bool must_tell;             /* it does not know yet that it was heard */
	bool is_refused;            /* the provider has not taken what was to be sent last */
	bool is_active;             /* since @active_ns was noted */
	uint64_t active_ns;
	uint64_t owe_ns;                    /* when the peer is to have its grant; 0 = it has it */
	STAILQ_HEAD(, rail_buffer) waiting; /* for a grant, or for the provider */
};

extern const struct rail_carrier rail_rdm_carrier;

#endif
