/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/session_opt.h - the options of commands about a session: --session, and those of commands that create one. */
#ifndef SIM_CLI_BASE_SESSION_OPT_H
#define SIM_CLI_BASE_SESSION_OPT_H

#include <limits.h>
#include <stdbool.h>

#include "args.h"
#include "sim/control/launch.h"

struct cli_session_opt {
	const char *dir;  /* of the option, else the default */
	bool is_explicit; /* by the option or $BFSIM_SESSION */
	bool is_from_option;
	bool is_optional; /* set before the arguments are parsed: the command does without the default directory */
	struct cli_words
		words;  /* of a command that takes the directory as a word: .words = offsetof(.., session.words) */
	int default_rc; /* of sim_session_dir_default() */
	char default_dir[PATH_MAX];
};

/* The part with --session, for a struct cli_session_opt. */
extern const struct cli_args cli_session_args;

/* The part with --topology, --clock, --trace-level and --group, for a struct sim_launch_cfg. */
extern const struct cli_args cli_launch_args;

/* The part with --listen, --as, --token-file, --fabric and --trusted-network, for a struct sim_launch_cfg as well. */
extern const struct cli_args cli_machines_args;

/* Rows of machines for a command whose own option says where it listens, or joins. */
#define CLI_MACHINE_OPTIONS(type, member)                                                                         \
	CLI_TEXT(0, "as", "NAME", type, member.name,                                                              \
		 "The name of this machine in the topology: its sides are NAME/host, NAME/dpu"),                  \
		CLI_TEXT(0, "token-file", "FILE", type, member.token_file,                                        \
			 "The token that all machines of the session have (bfsim token)"),                        \
		CLI_TEXT(0, "fabric", "PROVIDER", type, member.fabric,                                            \
			 "libfabric's provider between the machines (default: $FI_PROVIDER, else tcp)"),          \
		CLI_FLAG(0, "trusted-network", type, member.is_trusted,                                           \
			 "Send data between the machines as it is; the token and keys of memory stay encrypted"), \
		CLI_FLAG(0, "allow-exec", type, member.allows_exec,                                               \
			 "Let the other machines start programs on this one, with your rights (bfsim exec)")

/* Rows for commands with some of those. */
#define CLI_TOPOLOGY_OPTION(type, member) \
	CLI_TEXT('t', "topology", "FILE", type, member, "The card, as YAML (default: one BlueField-3 with two ports)")
#define CLI_CLOCK_OPTION(type, member)                            \
	CLI_CALL(0, "clock", "MODE", type, member, cli_set_clock, \
		 "How time passes on the card: functional (the default), timed or virtual")
#define CLI_TRACE_LEVEL_OPTION(type, member)                                   \
	CLI_CALL(0, "trace-level", "LEVEL", type, member, cli_set_trace_level, \
		 "What processes record: off, sampled (default) or full; $BFSIM_TRACE of a process overrides it")

#define CLI_PROCMEM_OPTION(type, member)                                                                               \
	CLI_FLAG(                                                                                                      \
		0, "procmem", type, member,                                                                            \
		"Programs that export memory pass a descriptor of all of their memory to importers of the same user, " \
		"where the kernel lets those not open it (data path procmem between containers)")

/* A machine's name that no topology can have is a usage error. */
void cli_check_machine_name(const struct sim_machines_cfg *machines, struct argp_state *state);

/* Set an enum sim_clock_mode, and a level of sim/trace/trace.h. */
cli_option_set cli_set_clock, cli_set_trace_level;

#endif
