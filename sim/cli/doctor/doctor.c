/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of findings. */
#include "doctor.h"

#include <stdarg.h>
#include <stdio.h>

#include "sim/base/printable.h"

struct cli_doctor_finding *cli_doctor_add(struct cli_doctor *doctor, const char *name, const char *format, ...)
{
	struct cli_doctor_finding *finding;
	va_list args;

	if (doctor->count < CLI_DOCTOR_MAX_FINDINGS)
		doctor->count++;
	finding = &doctor->list[doctor->count - 1];
	*finding = (struct cli_doctor_finding){ .name = name };
	va_start(args, format);
	vsnprintf(finding->text, sizeof(finding->text), format, args);
	va_end(args);
	sim_make_printable(finding->text);
	return finding;
}

void cli_doctor_fail(struct cli_doctor_finding *finding, enum cli_doctor_state state, const char *effect,
		     const char *remedy)
{
	finding->state = state;
	finding->effect = effect;
	finding->remedy = remedy;
}
