/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the command line of dpacc. */
#include "options.h"

#include <ctype.h>
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USAGE_STATUS 2

enum dpacc_option {
	OPTION_MCPU = 256,
	OPTION_HOSTCC,
	OPTION_HOST_OPTIONS,
	OPTION_DEVICE_OPTIONS,
	OPTION_DEVICE_LIBS,
	OPTION_DPA_LIBRARY,
	OPTION_APP_NAME,
	OPTION_ATTRIBUTES,
	OPTION_DRYRUN,
	OPTION_KEEP,
	OPTION_KEEP_DIR,
	OPTION_FILE,
	OPTION_DEPENDS,
	OPTION_DEPENDS_TARGET,
	OPTION_STANDARD,
	OPTION_WITHOUT_MEANING,
	OPTION_REFUSED,
};

static const struct option list[] = {
	{ "output-file", required_argument, NULL, 'o' },
	{ "mcpu", required_argument, NULL, OPTION_MCPU },
	{ "hostcc", required_argument, NULL, OPTION_HOSTCC },
	{ "hostcc-options", required_argument, NULL, OPTION_HOST_OPTIONS },
	{ "devicecc-options", required_argument, NULL, OPTION_DEVICE_OPTIONS },
	{ "device-libs", required_argument, NULL, OPTION_DEVICE_LIBS },
	{ "ldpa", no_argument, NULL, OPTION_DPA_LIBRARY },
	{ "app-name", required_argument, NULL, OPTION_APP_NAME },
	{ "dpa-proc-attr", required_argument, NULL, OPTION_ATTRIBUTES },
	{ "common-include-path", required_argument, NULL, 'I' },
	{ "dryrun", no_argument, NULL, OPTION_DRYRUN },
	{ "keep", no_argument, NULL, OPTION_KEEP },
	{ "keep-dir", required_argument, NULL, OPTION_KEEP_DIR },
	{ "optf", required_argument, NULL, OPTION_FILE },
	{ "options-file", required_argument, NULL, OPTION_FILE },
	{ "MMD", no_argument, NULL, OPTION_DEPENDS },
	{ "MT", required_argument, NULL, OPTION_DEPENDS_TARGET },
	{ "std", required_argument, NULL, OPTION_STANDARD },
	{ "verbose", no_argument, NULL, 'v' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ "flto", no_argument, NULL, OPTION_WITHOUT_MEANING },
	{ "mcmodel", required_argument, NULL, OPTION_WITHOUT_MEANING },
	{ "mabi", required_argument, NULL, OPTION_WITHOUT_MEANING },
	{ "mno-relax", no_argument, NULL, OPTION_WITHOUT_MEANING },
	{ "disable-asm-checks", no_argument, NULL, OPTION_WITHOUT_MEANING },
	{ "compile", no_argument, NULL, OPTION_REFUSED },
	{ "shared", no_argument, NULL, OPTION_REFUSED },
	{ "gen-libs", no_argument, NULL, OPTION_REFUSED },
	{ 0 },
};

static const char help[] =
	"Usage: dpacc SOURCE... -o ARCHIVE [OPTION...]\n"
	"Compile device code of the DPA for bfsim, into an archive that host programs link.\n"
	"\n"
	"  -o, --output-file=FILE        the archive\n"
	"      --mcpu=LIST               processors: nv-dpa-bf3, nv-dpa-cx7, nv-dpa-cx8, nv-dpa-cx9; the image is the host's\n"
	"      --hostcc=COMPILER         gcc or clang, also of another architecture: compiles device code, too (cc)\n"
	"      --hostcc-options=LIST     options for host code\n"
	"      --devicecc-options=LIST   options for device code\n"
	"      --device-libs=LIST        -L and -l options: libraries of device code\n"
	"      --ldpa                    libdoca_dpa_dev, and the headers and the libraries of the SDK tree that dpacc is called in\n"
	"      --app-name=NAME           name of the variable that doca_dpa_set_app() gets (__dpa_a_out)\n"
	"      --dpa-proc-attr=FILE      features of the application, of dpa-app-attributes2blob\n"
	"  -I, --common-include-path=DIR, -D, -U, -O, -g, --std=STANDARD\n"
	"                                for device code\n"
	"      --optf, --options-file=FILE  more options, from a file\n"
	"      --MMD, --MT=TARGET        write a file of dependencies beside the archive\n"
	"      --keep, --keep-dir=DIR    keep intermediate files\n"
	"      --dryrun                  print commands, run none\n"
	"  -v, --verbose                 print commands and run them\n"
	"  -V, --version    -h, --help\n"
	"\n"
	"Options have one dash or two. Lists are split at blanks and commas.\n"
	"Without meaning here: --flto, --mcmodel, --mabi, --mno-relax, --disable-asm-checks.\n";

__attribute__((noreturn)) static void fail(const char *format, const char *word)
{
	fprintf(stderr, "dpacc: ");
	fprintf(stderr, format, word);
	fprintf(stderr, "\n");
	exit(USAGE_STATUS);
}

static void check_processors(const char *text)
{
	static const char *const known[] = { "nv-dpa-bf3", "nv-dpa-cx7", "nv-dpa-cx8", "nv-dpa-cx9", NULL };
	struct words names = { 0 };

	words_split(&names, text, true);
	for (size_t i = 0; i < names.count; i++) {
		size_t k = 0;

		while (known[k] && strcmp(known[k], names.list[i]) != 0)
			k++;
		if (!known[k])
			fail("-mcpu: %s is none of nv-dpa-bf3, nv-dpa-cx7, nv-dpa-cx8, nv-dpa-cx9", names.list[i]);
	}
	words_clear(&names);
}

static void check_name(const char *name)
{
	bool is_valid = isalpha((unsigned char)name[0]) || name[0] == '_';

	for (const char *at = name; *at; at++)
		is_valid = is_valid && (isalnum((unsigned char)*at) || *at == '_');
	if (!is_valid)
		fail("--app-name: \"%s\" is no name of a C variable", name);
}

/* Options for the device's compiler that have no meaning here: the word, and the next one for -mllvm. */
static void add_device_options(struct dpacc_options *options, const char *text)
{
	static const char *const without_meaning[] = {
		"-flto", "-mcmodel=", "-mabi=", "-mno-relax", "-nostdlib", "-ffreestanding", "-mcpu=", "-march=", NULL
	};
	struct words words = { 0 };

	words_split(&words, text, true);
	for (size_t i = 0; i < words.count; i++) {
		size_t k = 0;

		while (without_meaning[k] &&
		       strncmp(words.list[i], without_meaning[k], strlen(without_meaning[k])) != 0)
			k++;
		if (strcmp(words.list[i], "-mllvm") == 0) {
			i++;
			continue;
		}
		options->has_optimisation = options->has_optimisation || strncmp(words.list[i], "-O", 2) == 0;
		options->has_debug = options->has_debug || strncmp(words.list[i], "-g", 2) == 0;
		if (!without_meaning[k])
			words_add(&options->device_options, words.list[i]);
	}
	words_clear(&words);
}

static void parse(int argc, char **argv, struct dpacc_options *options);

/* Words of a file, as if they stood on the command line. */
static void parse_file(const char *path, struct dpacc_options *options)
{
	struct text text = { 0 };
	struct words words = { 0 };

	if (!text_read_file(&text, path))
		err(USAGE_STATUS, "%s", path);
	words_add(&words, "dpacc");
	words_split(&words, text.bytes, false);
	free(text.bytes);
	optind = 0;
	parse((int)words.count, words.list, options); /* the words stay, as options point to them */
}

/* Returns false if it is another option. */
static bool take_device_option(struct dpacc_options *options, int option, const char *value)
{
	switch (option) {
	case 'I':
	case 'D':
	case 'U':
		words_addf(&options->device_options, "-%c%s", option, value);
		return true;
	case 'O':
		words_addf(&options->device_options, "-O%s", value ? value : "");
		options->has_optimisation = true;
		return true;
	case 'g':
		words_addf(&options->device_options, "-g%s", value ? value : "");
		options->has_debug = true;
		return true;
	case OPTION_STANDARD:
		words_addf(&options->device_options, "-std=%s", value);
		return true;
	default:
		return false;
	}
}

static void take(struct dpacc_options *options, int option, const char *value, const char *name)
{
	switch (option) {
	case 'o':
		options->output = value;
		break;
	case 'v':
		options->is_verbose = true;
		break;
	case OPTION_MCPU:
		check_processors(value);
		break;
	case OPTION_HOSTCC:
		words_clear(&options->hostcc);
		words_split(&options->hostcc, value, false);
		break;
	case OPTION_HOST_OPTIONS:
		words_split(&options->host_options, value, true);
		break;
	case OPTION_DEVICE_OPTIONS:
		add_device_options(options, value);
		break;
	case OPTION_DEVICE_LIBS:
		words_split(&options->device_libs, value, true);
		break;
	case OPTION_DPA_LIBRARY:
		options->has_dpa_library = true;
		break;
	case OPTION_APP_NAME:
		check_name(value);
		options->app_name = value;
		break;
	case OPTION_ATTRIBUTES:
		options->attributes_path = value;
		break;
	case OPTION_DRYRUN:
		options->is_dry = options->is_verbose = true;
		break;
	case OPTION_KEEP:
		options->keep_dir = options->keep_dir ? options->keep_dir : ".";
		break;
	case OPTION_KEEP_DIR:
		options->keep_dir = value;
		break;
	case OPTION_DEPENDS:
		options->has_depends = true;
		break;
	case OPTION_DEPENDS_TARGET:
		options->depend_target = value;
		break;
	case OPTION_WITHOUT_MEANING:
		break;
	case 'c':
	case OPTION_REFUSED:
		fail("-%s: bfsim's dpacc makes archives for host programs only; compile all sources of an application in one call",
		     option == 'c' ? "c" : name);
	default:
		exit(USAGE_STATUS); /* getopt printed a message */
	}
}

static void parse(int argc, char **argv, struct dpacc_options *options)
{
	int option, index = 0;

	while ((option = getopt_long_only(argc, argv, "-o:I:D:U:O::g::vVhc", list, &index)) != -1) {
		if (option == 1) {
			words_add(&options->sources, optarg);
		} else if (option == 'h') {
			fputs(help, stdout);
			exit(0);
		} else if (option == 'V') {
			puts("dpacc of bfsim " BFSIM_VERSION ": device code for the simulated DPA");
			exit(0);
		} else if (option == OPTION_FILE) {
			int outer = optind;

			parse_file(optarg, options);
			optind = outer;
		} else if (!take_device_option(options, option, optarg)) {
			take(options, option, optarg, list[index].name);
		}
	}
}

static void check_source(const char *path)
{
	static const char *const suffixes[] = { ".cc", ".cpp", ".cxx", ".C", ".c++", NULL };
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && suffixes[i]; i++)
		if (strcmp(dot, suffixes[i]) == 0)
			fail("%s: device code is C, not C++", path);
	if (!dot || strcmp(dot, ".c") != 0)
		fail("%s: a source ends in .c", path);
}

void dpacc_options_parse(int argc, char **argv, struct dpacc_options *options)
{
	*options = (struct dpacc_options){ .tool = argv[0], .app_name = "__dpa_a_out" };
	parse(argc, argv, options);
	if (!options->sources.count)
		fail("no source%s", "");
	for (size_t i = 0; i < options->sources.count; i++)
		check_source(options->sources.list[i]);
	if (!options->output)
		fail("no archive: -o FILE%s", "");
	if (!options->hostcc.count)
		words_add(&options->hostcc, "cc");
}
