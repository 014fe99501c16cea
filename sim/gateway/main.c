/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim-gateway: connects the machines of a session. The daemon starts it; it is no command for users. */
#include <getopt.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gateway.h"
#include "rail.h"
#include "sim/base/log.h"

enum {
	OPTION_AS = 1,
	OPTION_TOKEN,
	OPTION_LISTEN,
	OPTION_JOIN,
	OPTION_FABRIC,
	OPTION_TRUSTED,
	OPTION_SESSION,
	OPTION_FETCH,
	OPTION_VERSION,
	OPTION_AGAIN
};

static const struct option options[] = {
	{ "as", required_argument, NULL, OPTION_AS },
	{ "token-file", required_argument, NULL, OPTION_TOKEN },
	{ "listen", required_argument, NULL, OPTION_LISTEN },
	{ "join", required_argument, NULL, OPTION_JOIN },
	{ "fabric", required_argument, NULL, OPTION_FABRIC },
	{ "trusted-network", no_argument, NULL, OPTION_TRUSTED },
	{ "session", required_argument, NULL, OPTION_SESSION },
	{ "fetch", no_argument, NULL, OPTION_FETCH },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ "again", no_argument, NULL, OPTION_AGAIN },
	{ 0 },
};

/* "HOST:PORT", "[HOST]:PORT" or, to listen, "PORT" alone: all addresses then. Changes @text. Returns whether it is one. */
static bool split_address(char *text, struct gateway_cfg *cfg)
{
	char *colon = strrchr(text, ':');
	size_t len;

	cfg->host = "0.0.0.0";
	cfg->port = text;
	if (colon) {
		*colon = '\0';
		cfg->port = colon + 1;
		cfg->host = text[0] ? text : cfg->host;
		len = strlen(text);
		if (len > 2 && text[0] == '[' && text[len - 1] == ']') {
			text[len - 1] = '\0';
			cfg->host = text + 1;
		}
	}
	return cfg->port[0] && strspn(cfg->port, "0123456789") == strlen(cfg->port) && atoi(cfg->port) < 65536 &&
	       (cfg->is_home || (colon && text[0]));
}

static bool read_option(int option, struct gateway_cfg *cfg)
{
	switch (option) {
	case OPTION_AS:
		cfg->name = optarg;
		return true;
	case OPTION_TOKEN:
		cfg->token_file = optarg;
		return true;
	case OPTION_LISTEN:
	case OPTION_JOIN:
		cfg->is_home = option == OPTION_LISTEN;
		if (split_address(optarg, cfg))
			return true;
		fprintf(stderr, "bfsim: %s: write %s\n", option == OPTION_LISTEN ? "--listen" : "the address of home",
			option == OPTION_LISTEN ? "PORT or ADDRESS:PORT" : "HOST:PORT");
		return false;
	case OPTION_FABRIC:
		cfg->provider = optarg;
		return true;
	case OPTION_TRUSTED:
		cfg->is_trusted = true;
		return true;
	case OPTION_SESSION:
		cfg->dir = optarg;
		return true;
	case OPTION_AGAIN:
		cfg->is_again = true;
		return true;
	default:
		return option == OPTION_FETCH;
	}
}

int main(int argc, char **argv)
{
	struct gateway_cfg cfg = { 0 };
	char fabric[256];
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		if (option == OPTION_VERSION) {
			rail_describe(fabric, sizeof(fabric));
			printf("bfsim " BFSIM_VERSION "; %s; %s\n", fabric, OpenSSL_version(OPENSSL_VERSION));
			return EXIT_SUCCESS;
		} else if (!read_option(option, &cfg)) {
			return EXIT_FAILURE;
		}
	if (!cfg.name || !cfg.name[0] || strlen(cfg.name) >= PCIE_SIDE_SIZE || !cfg.token_file || !cfg.port ||
	    optind < argc) {
		fputs("bfsim-gateway is started by bfsimd: see bfsim up --listen and bfsim join\n", stderr);
		return EXIT_FAILURE;
	}
	return gateway_run(&cfg) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
