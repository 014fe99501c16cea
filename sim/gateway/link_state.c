/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a link. */
#include "link.h"

bool link_state_can_become(enum link_state from, enum link_state to)
{
	static const bool edges[LINK_NUM_STATES][LINK_NUM_STATES] = {
		[LINK_CONNECTING] = { [LINK_HELLO] = true, [LINK_CLOSING] = true, [LINK_CLOSED] = true },
		[LINK_HELLO] = { [LINK_HANDSHAKE] = true, [LINK_CLOSING] = true, [LINK_CLOSED] = true },
		[LINK_HANDSHAKE] = { [LINK_JOINING] = true, [LINK_CLOSING] = true, [LINK_CLOSED] = true },
		[LINK_JOINING] = { [LINK_UP] = true, [LINK_CLOSING] = true, [LINK_CLOSED] = true },
		[LINK_UP] = { [LINK_CLOSING] = true, [LINK_CLOSED] = true },
		[LINK_CLOSING] = { [LINK_CLOSED] = true },
	};

	return edges[from][to];
}
