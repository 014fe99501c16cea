/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks the host's compiler, and finds bfsim's files for device code: in the installation that dpacc is in, or where
 * BFSIM_DPA_FILES says (a build that is not installed): INCLUDE:PORT:RUNTIME. */
#include "compiler.h"

#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

static bool has_macro(const struct text *macros, const char *name)
{
	char line[64];

	snprintf(line, sizeof(line), "#define %s ", name);
	return strstr(macros->bytes, line) != NULL;
}

static char *join(const char *dir, size_t dir_len, const char *name)
{
	char *path;

	if (asprintf(&path, "%.*s%s", (int)dir_len, dir, name) < 0)
		errx(1, "no memory");
	return path;
}

/* PREFIX/libexec/bfsim/dpacc: the tools of SDK trees are links to it. */
static void find_installed(struct compiler *compiler)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (len < 0)
		err(1, "/proc/self/exe");
	self[len] = 0;
	for (int i = 0; i < 3 && (slash = strrchr(self, '/')); i++)
		*slash = 0;
	compiler->include_dir = join(self, strlen(self), "/lib/bfsim-dpa");
	compiler->port_dir = join(self, strlen(self), "/lib/bfsim-dpa");
	if (asprintf(&compiler->runtime, "%s/lib/%s/bfsim-dpa/libbfsim_dpa.a", self, compiler->triplet) < 0)
		errx(1, "no memory");
}

static void find_files(struct compiler *compiler)
{
	const char *files = getenv("BFSIM_DPA_FILES");
	const char *port = files ? strchr(files, ':') : NULL, *runtime = port ? strchr(port + 1, ':') : NULL;

	if (runtime) {
		compiler->include_dir = join(files, (size_t)(port - files), "");
		compiler->port_dir = join(port + 1, (size_t)(runtime - port - 1), "");
		compiler->runtime = join(runtime + 1, strlen(runtime + 1), "");
	} else {
		find_installed(compiler);
	}
	if (access(compiler->runtime, R_OK) != 0)
		err(1, "%s: the runtime library of device code for %s", compiler->runtime, compiler->triplet);
}

void compiler_inspect(const struct words *hostcc, struct compiler *compiler)
{
	struct words command = { 0 };
	struct text macros = { 0 };

	words_add_all(&command, hostcc);
	words_add(&command, "-dM");
	words_add(&command, "-E");
	words_add(&command, "-x");
	words_add(&command, "c");
	words_add(&command, "/dev/null");
	if (!command_run(&command, &macros, NULL))
		errx(1, "%s: does not compile C, as gcc and clang do", hostcc->list[0]);
	compiler->is_clang = has_macro(&macros, "__clang__");
	compiler->triplet = has_macro(&macros, "__x86_64__")  ? "x86_64-linux-gnu" :
			    has_macro(&macros, "__aarch64__") ? "aarch64-linux-gnu" :
								NULL;
	if (!compiler->triplet || !has_macro(&macros, "__LP64__"))
		errx(1, "%s: compiles for neither x86-64 nor aarch64", hostcc->list[0]);
	words_clear(&command);
	free(macros.bytes);
	find_files(compiler);
}
