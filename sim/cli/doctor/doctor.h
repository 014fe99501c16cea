/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/doctor/doctor.h - checks of the machine, the installation and the session, each with its consequence.
 *
 *   cli_doctor_check_*() --add--> list of findings --> printed (cmd_doctor.c)
 *
 * A check tries what bfsim does (a child reads another child's memory, a file descriptor is made), as settings of the
 * kernel and of containers do not say alone what works.
 */
#ifndef SIM_CLI_DOCTOR_DOCTOR_H
#define SIM_CLI_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum cli_doctor_state {
	CLI_DOCTOR_OK = 0,
	CLI_DOCTOR_WARNING, /* bfsim works, with less: a slower data path, an engine without its library */
	CLI_DOCTOR_PROBLEM, /* bfsim does not work */
};

#define CLI_DOCTOR_TEXT_SIZE 512

struct cli_doctor_finding {
	const char *name;      /* of the check */
	const char *lost_path; /* data path that does not work then; NULL = none */
	enum cli_doctor_state state;
	char text[CLI_DOCTOR_TEXT_SIZE]; /* what was found */
	const char *effect;              /* its consequence, and what to do; NULL if all is well */
	const char *remedy;
};

#define CLI_DOCTOR_MAX_FINDINGS 32

struct cli_doctor {
	struct cli_doctor_finding list[CLI_DOCTOR_MAX_FINDINGS];
	size_t count;
};

/* Add a finding; the caller fills in what is not well. Beyond the maximum, the last one is replaced. */
struct cli_doctor_finding *cli_doctor_add(struct cli_doctor *doctor, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Make a finding a warning or a problem. */
void cli_doctor_fail(struct cli_doctor_finding *finding, enum cli_doctor_state state, const char *effect,
		     const char *remedy);

void cli_doctor_check_machine(struct cli_doctor *doctor);
void cli_doctor_check_install(struct cli_doctor *doctor);
void cli_doctor_check_session(struct cli_doctor *doctor, const char *dir);

#endif
