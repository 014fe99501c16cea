/* SPDX-License-Identifier: BSD-3-Clause */
/* dpacc - bfsim's stand-in for the compiler of device code.
 *
 *   SOURCE --preprocess, scan--> unit (source + functions that pack arguments and call kernels)
 *     unit --compile, twice--> guarded and plain object --link with device libraries--> two images (shared objects)
 *     images, stubs of kernels, the pointer APP --> hostStubs.o --> the archive
 *
 * An image runs on the host's processor. What it may not do on a DPA is refused: by the linker (functions), by the object's symbols
 * (thread-local variables), and when it runs (sim/dpa/image).
 */
#include <err.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "compiler.h"
#include "endless.h"
#include "generate.h"
#include "link_errors.h"
#include "options.h"
#include "scan.h"
#include "tls.h"

struct build {
	struct dpacc_options options;
	struct compiler compiler;
	struct scan_kernels kernels; /* of all sources */
	char dir[PATH_MAX];          /* of intermediate files */
	bool is_temporary;
	char *attributes; /* "" = none */
};

enum image { GUARDED, PLAIN, NUM_IMAGES };

static const char *const image_names[] = { "guarded", "plain" };

/* ---- intermediate files ---- */

static struct build *current; /* for the end */

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
	(void)info;
	(void)type;
	(void)walk;
	return remove(path);
}

static void remove_temporary(void)
{
	if (current && current->is_temporary)
		nftw(current->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_dir(struct build *build)
{
	const char *temporary = getenv("TMPDIR");

	if (build->options.keep_dir) {
		snprintf(build->dir, sizeof(build->dir), "%s", build->options.keep_dir);
		if (mkdir(build->dir, 0777) != 0 && errno != EEXIST)
			err(1, "%s", build->dir);
		return;
	}
	snprintf(build->dir, sizeof(build->dir), "%s/dpacc-XXXXXX", temporary && *temporary ? temporary : "/tmp");
	if (!mkdtemp(build->dir))
		err(1, "%s", build->dir);
	build->is_temporary = true;
	current = build;
	atexit(remove_temporary);
}

/* Of the source @index: a file in the directory. */
static char *file_of(const struct build *build, size_t index, const char *suffix)
{
	char *path;

	if (asprintf(&path, "%s/unit%zu%s", build->dir, index, suffix) < 0)
		errx(1, "no memory");
	return path;
}

static char *file_named(const struct build *build, const char *name, const char *suffix)
{
	char *path;

	if (asprintf(&path, "%s/%s%s", build->dir, name, suffix) < 0)
		errx(1, "no memory");
	return path;
}

/* ---- commands ---- */

/* A dry run runs nothing but says what would run. */
static void run(const struct build *build, struct words *command, struct text *ret_out)
{
	if (build->options.is_verbose)
		command_print(command);
	if (!build->options.is_dry && !command_run(command, ret_out, NULL))
		exit(1); /* the command said why */
	words_clear(command);
}

/* The headers of the SDK tree in whose tools dpacc was called. */
static void add_sdk_headers(const struct dpacc_options *options, struct words *command)
{
	const char *slash = strrchr(options->tool, '/');

	if (options->has_dpa_library && slash)
		words_addf(command, "-isystem%.*s/../include", (int)(slash - options->tool), options->tool);
}

static void add_device_options(const struct build *build, struct words *command, const char *source)
{
	const struct dpacc_options *options = &build->options;
	const char *slash = strrchr(source, '/');

	if (!options->has_optimisation)
		words_add(command, "-O2");
	words_addf(command, "-iquote%.*s", slash ? (int)(slash - source) : 1, slash ? source : ".");
	words_add_all(command, &options->device_options);
	add_sdk_headers(options, command);
	words_addf(command, "-isystem%s", build->compiler.include_dir);
	words_addf(command, "-isystem%s", build->compiler.port_dir);
	words_add(command, "-ffreestanding");
	words_add(command, "-funsigned-char");
	words_add(command, "-U_FORTIFY_SOURCE");
}

static void add_code_options(const struct build *build, struct words *command, enum image image)
{
	static const char *const all[] = { "-fPIC",
					   "-fno-stack-protector",
					   "-fvisibility=hidden",
					   "-fno-omit-frame-pointer",
					   "-fno-optimize-sibling-calls",
					   "-Wframe-larger-than=4096",
					   "-Wno-error=frame-larger-than=",
					   "-D__dpa_global__=",
					   "-D__dpa_rpc__=",
					   NULL };

	for (size_t i = 0; all[i]; i++)
		words_add(command, all[i]);
	if (!build->options.has_debug) /* clang's -g1 has lines, but no names of functions */
		words_add(command, build->compiler.is_clang ? "-g" : "-g1");
	if (strcmp(build->compiler.triplet, "aarch64-linux-gnu") == 0)
		words_add(command, "-mno-outline-atomics");
	if (build->compiler.is_clang)
		words_add(command, "-Wno-ignored-attributes");
	if (image == GUARDED) {
		words_add(command, "-fsanitize=thread");
		if (!build->compiler.is_clang) /* it warns of fences, which the hooks know */
			words_add(command, "-Wno-tsan");
		words_add(command, build->compiler.is_clang ? "-fsanitize-coverage=trace-pc,no-prune" :
							      "-fsanitize-coverage=trace-pc");
	}
}

/* ---- steps ---- */

static void find_kernels(struct build *build, const char *source, struct scan_kernels *kernels)
{
	struct words command = { 0 };
	struct text text = { 0 };
	char *error;

	words_add_all(&command, &build->options.hostcc);
	add_device_options(build, &command, source);
	words_add(&command, "-E");
	words_add(&command, "-x");
	words_add(&command, "c");
	words_add(&command, source);
	run(build, &command, &text);
	if (text.bytes && !scan_kernels(text.bytes, kernels, &error)) {
		fprintf(stderr, "%s\n", error);
		exit(1);
	}
	free(text.bytes);
}

static void write_file(const struct text *text, const char *path)
{
	if (!text_write_file(text, path))
		err(1, "%s", path);
}

static void write_unit(struct build *build, size_t index)
{
	const char *source = build->options.sources.list[index];
	struct scan_kernels kernels = { 0 };
	struct text source_text = { 0 }, unit = { 0 };
	char *path = file_of(build, index, ".c");

	if (!text_read_file(&source_text, source))
		err(1, "%s", source);
	find_kernels(build, source, &kernels);
	generate_unit(&unit, source, &source_text, &kernels);
	write_file(&unit, path);
	for (size_t i = 0; i < kernels.count; i++) {
		for (size_t k = 0; k < build->kernels.count; k++)
			if (strcmp(build->kernels.list[k].name, kernels.list[i].name) == 0)
				errx(1,
				     "%s:%u: error: %s is a kernel of %s, too: the host finds kernels by their names",
				     kernels.list[i].file, kernels.list[i].line, kernels.list[i].name,
				     build->kernels.list[k].file);
		build->kernels.list =
			reallocarray(build->kernels.list, build->kernels.count + 1, sizeof(*build->kernels.list));
		if (!build->kernels.list)
			errx(1, "no memory");
		build->kernels.list[build->kernels.count++] = kernels.list[i];
	}
	free(kernels.list); /* the kernels are the build's now */
	free(source_text.bytes);
	free(unit.bytes);
	free(path);
}

static void add_hooks(const struct build *build, const char *path)
{
	struct text assembly = { 0 }, hooked = { 0 };

	if (build->options.is_dry)
		return;
	if (!text_read_file(&assembly, path))
		err(1, "%s", path);
	endless_add_hooks(&assembly, &hooked);
	write_file(&hooked, path);
	free(assembly.bytes);
	free(hooked.bytes);
}

/* gcc's way to a guarded object: assembly, in which empty endless loops get hooks. */
static void assemble(struct build *build, const char *assembly, const char *object)
{
	struct words command = { 0 };

	add_hooks(build, assembly);
	words_add_all(&command, &build->options.hostcc);
	words_add(&command, "-c");
	words_add(&command, assembly);
	words_add(&command, "-o");
	words_add(&command, object);
	run(build, &command, NULL);
}

static void compile(struct build *build, size_t index, enum image image)
{
	const char *source = build->options.sources.list[index];
	bool has_assembly = image == GUARDED && !build->compiler.is_clang;
	struct words command = { 0 };
	char *unit = file_of(build, index, ".c"), *assembly = file_of(build, index, ".guarded.s"),
	     *object = file_of(build, index, image == GUARDED ? ".guarded.o" : ".plain.o");

	words_add_all(&command, &build->options.hostcc);
	add_device_options(build, &command, source);
	add_code_options(build, &command, image);
	if (image == PLAIN)
		words_add(&command, "-w"); /* the first compilation warned */
	words_add(&command, has_assembly ? "-S" : "-c");
	words_add(&command, unit);
	words_add(&command, "-o");
	words_add(&command, has_assembly ? assembly : object);
	run(build, &command, NULL);
	if (has_assembly)
		assemble(build, assembly, object);
	if (!build->options.is_dry && tls_refuse(object, source))
		exit(1);
	free(unit);
	free(assembly);
	free(object);
}

static void add_link_options(const struct build *build, struct words *command, const char *exports)
{
	words_add(command, "-shared");
	words_add(command, "-nostdlib");
	words_add(command, "-Wl,-Bsymbolic,-z,defs,-z,now,-z,noexecstack,--build-id=none,-u,bfsim_dpa_image");
	words_addf(command, "-Wl,--version-script=%s", exports);
	(void)build;
}

/* Libraries of device code are in the folder of bfsim's own one (in a build), or in the one above (installed). */
static void add_device_libs(const struct build *build, struct words *command)
{
	const char *runtime = build->compiler.runtime;
	int folder_len = (int)(strrchr(runtime, '/') - runtime);

	words_add_all(command, &build->options.device_libs);
	if (!build->options.has_dpa_library)
		return;
	words_addf(command, "-L%.*s", folder_len, runtime);
	words_addf(command, "-L%.*s/..", folder_len, runtime);
	words_add(command, "-ldoca_dpa_dev");
}

static void link_image(struct build *build, enum image image)
{
	struct words command = { 0 };
	struct text messages = { 0 };
	struct text exports_text = { 0 };
	char *exports = file_named(build, "exports", ".map"), *path = file_named(build, image_names[image], ".so");

	text_addf(&exports_text, "{ global: bfsim_dpa_image; local: *; };\n");
	write_file(&exports_text, exports);
	words_add_all(&command, &build->options.hostcc);
	add_link_options(build, &command, exports);
	for (size_t i = 0; i < build->options.sources.count; i++) {
		char *object = file_of(build, i, image == GUARDED ? ".guarded.o" : ".plain.o");

		words_add(&command, object);
		free(object);
	}
	words_add(&command, "-Wl,--start-group");
	add_device_libs(build, &command);
	words_add(&command, build->compiler.runtime);
	words_add(&command, "-Wl,--end-group");
	words_add(&command, "-lgcc");
	words_add(&command, "-o");
	words_add(&command, path);
	if (build->options.is_verbose)
		command_print(&command);
	if (!build->options.is_dry) {
		bool is_linked = command_run(&command, NULL, &messages);

		link_errors_print(messages.bytes ? messages.bytes : "");
		if (!is_linked)
			exit(1);
	}
	words_clear(&command);
	free(messages.bytes);
	free(exports_text.bytes);
	free(exports);
	free(path);
}

static void make_archive(struct build *build)
{
	struct words command = { 0 };
	struct text stubs = { 0 }, archiver = { 0 };
	char *guarded = file_named(build, "guarded", ".so"), *plain = file_named(build, "plain", ".so");
	char *source = file_named(build, "hostStubs", ".c"), *object = file_named(build, "hostStubs", ".o");
	const struct app_parts app = { build->options.app_name, guarded, plain, build->attributes };

	generate_stubs(&stubs, &app, &build->kernels);
	write_file(&stubs, source);
	words_add_all(&command, &build->options.hostcc);
	words_add(&command, "-O2");
	words_add(&command, "-fPIC");
	words_add_all(&command, &build->options.host_options);
	words_addf(&command, "-isystem%s", build->compiler.port_dir);
	words_add(&command, "-c");
	words_add(&command, source);
	words_add(&command, "-o");
	words_add(&command, object);
	run(build, &command, NULL);

	words_add_all(&command, &build->options.hostcc);
	words_add(&command, "-print-prog-name=ar");
	if (!command_run(&command, &archiver, NULL))
		exit(1);
	words_clear(&command);
	archiver.bytes[strcspn(archiver.bytes, "\n")] = 0;
	if (!build->options.is_dry)
		unlink(build->options.output);
	words_add(&command, archiver.bytes);
	words_add(&command, "rcs");
	words_add(&command, build->options.output);
	words_add(&command, object);
	run(build, &command, NULL);
	free(stubs.bytes);
	free(archiver.bytes);
	free(guarded);
	free(plain);
	free(source);
	free(object);
}

/* Beside the archive: FILE.d for FILE.a. */
static void write_depends(struct build *build)
{
	const char *output = build->options.output;
	const char *dot = strrchr(output, '.'), *slash = strrchr(output, '/');
	struct words command = { 0 };
	struct text all = { 0 };
	char *path;

	if (asprintf(&path, "%.*s.d", dot && (!slash || dot > slash) ? (int)(dot - output) : (int)strlen(output),
		     output) < 0)
		errx(1, "no memory");
	for (size_t i = 0; i < build->options.sources.count; i++) {
		words_add_all(&command, &build->options.hostcc);
		add_device_options(build, &command, build->options.sources.list[i]);
		words_add(&command, "-MM");
		words_add(&command, "-MT");
		words_add(&command, build->options.depend_target ? build->options.depend_target : output);
		words_add(&command, build->options.sources.list[i]);
		run(build, &command, &all);
	}
	if (!build->options.is_dry)
		write_file(&all, path);
	free(all.bytes);
	free(path);
}

static void read_attributes(struct build *build)
{
	static const char magic[] = "bfsim DPA attributes\n";
	struct text text = { 0 };

	build->attributes = "";
	if (!build->options.attributes_path)
		return;
	if (!text_read_file(&text, build->options.attributes_path))
		err(1, "%s", build->options.attributes_path);
	if (strncmp(text.bytes, magic, sizeof(magic) - 1) != 0)
		errx(1, "%s: not made by bfsim's dpa-app-attributes2blob", build->options.attributes_path);
	build->attributes = text.bytes + sizeof(magic) - 1;
}

int main(int argc, char **argv)
{
	static struct build build; /* static: what it holds lives until the end, and is no leak */

	dpacc_options_parse(argc, argv, &build.options);
	read_attributes(&build);
	compiler_inspect(&build.options.hostcc, &build.compiler);
	make_dir(&build);
	for (size_t i = 0; i < build.options.sources.count; i++) {
		write_unit(&build, i);
		for (enum image image = GUARDED; image < NUM_IMAGES; image++)
			compile(&build, i, image);
	}
	if (!build.kernels.count && !build.options.is_dry)
		errx(1, "error: no kernel: mark one with __dpa_global__ or __dpa_rpc__");
	for (enum image image = GUARDED; image < NUM_IMAGES; image++)
		link_image(&build, image);
	if (build.options.has_depends)
		write_depends(&build);
	make_archive(&build);
	return 0;
}
