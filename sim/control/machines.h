/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/control/machines.h - which machine of a session a daemon has, and how it reaches the others (sim/gateway). */
#ifndef SIM_CONTROL_MACHINES_H
#define SIM_CONTROL_MACHINES_H

#include <stdbool.h>

/* One of the machines is the session's home, where the others join. */
struct sim_machines_cfg {
	const char *
		name; /* of this machine in the topology, the part of its sides before '/'; NULL = the session has one machine */
	const char *
		listen; /* "ADDR:PORT", or "PORT": home for all, another machine for direct links; NULL = it does not */
	const char *advertise;  /* "ADDR:PORT", or "PORT": what the others are told of @listen; NULL = that itself */
	const char *join;       /* another machine: "HOST:PORT" of home */
	const char *token_file; /* machines that have the token may join */
	const char *fabric;     /* libfabric's provider; NULL = the best */
	bool is_trusted;        /* the network is: data is not encrypted */
	bool allows_exec;       /* machines that have the token may start programs here */
};

#endif
