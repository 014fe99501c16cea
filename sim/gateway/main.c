/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim-gateway: connects the machines of a session. The daemon starts it; it is no command for users. */
#include <arpa/inet.h>
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
	OPTION_AGAIN,
	OPTION_BFSIM,
	OPTION_ALLOW_EXEC,
	OPTION_ADVERTISE
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
	{ "bfsim", required_argument, NULL, OPTION_BFSIM },
	{ "allow-exec", no_argument, NULL, OPTION_ALLOW_EXEC },
	{ "advertise", required_argument, NULL, OPTION_ADVERTISE },
	{ 0 },
};

/* "HOST:PORT", "[HOST]:PORT" or, to listen, "PORT" alone: all addresses then. Changes @text. Returns whether it is one. */
static bool split_address(char *text, bool listens, const char **ret_host, const char **ret_port)
{
	char *colon = strrchr(text, ':');
	size_t len;

	*ret_host = "0.0.0.0";
	*ret_port = text;
	if (colon) {
		*colon = '\0';
		*ret_port = colon + 1;
		*ret_host = text[0] ? text : *ret_host;
		len = strlen(text);
		if (len > 2 && text[0] == '[' && text[len - 1] == ']') {
			text[len - 1] = '\0';
			*ret_host = text + 1;
		}
	}
	return (*ret_port)[0] && strspn(*ret_port, "0123456789") == strlen(*ret_port) && atoi(*ret_port) < 65536 &&
	       (listens || (colon && text[0]));
}

/* What others are told is a number, as they may know other names. */
static bool read_advertised(struct gateway_cfg *cfg)
{
	uint8_t number[sizeof(struct in6_addr)];
	const bool has_host = strchr(optarg, ':') != NULL;
	const char *host, *port;

	if (!split_address(optarg, true, &host, &port) || atoi(port) == 0 ||
	    (has_host && inet_pton(AF_INET, host, number) != 1 && inet_pton(AF_INET6, host, number) != 1)) {
		fprintf(stderr,
			"bfsim: --advertise: write PORT or ADDRESS:PORT, the address in numbers (192.0.2.1:7447)\n");
		return false;
	}
	cfg->advertised_host = has_host ? host : NULL;
	cfg->advertised_port = (uint16_t)atoi(port);
	return true;
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
		if (split_address(optarg, true, &cfg->listen_host, &cfg->listen_port))
			return true;
		fprintf(stderr, "bfsim: --listen: write PORT or ADDRESS:PORT\n");
		return false;
	case OPTION_ADVERTISE:
		return read_advertised(cfg);
	case OPTION_JOIN:
		if (split_address(optarg, false, &cfg->host, &cfg->port))
			return true;
		fprintf(stderr, "bfsim: the address of home: write HOST:PORT\n");
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
	case OPTION_BFSIM:
		cfg->bfsim = optarg;
		return true;
	case OPTION_ALLOW_EXEC:
		cfg->allows_exec = true;
		return true;
	default:
		return option == OPTION_FETCH;
	}
}

/* The provider in libfabric's own variable, NULL = none. The variable goes, as libfabric would leave out all other providers, and so
 * connections of tcp, which a provider without connections needs besides. With "^" it names those to be left out, and stays. */
static const char *take_provider(void)
{
	static char provider[256];
	const char *value = getenv("FI_PROVIDER");

	if (!value || !value[0] || value[0] == '^')
		return NULL;
	snprintf(provider, sizeof(provider), "%s", value);
	unsetenv("FI_PROVIDER");
	return provider;
}

int main(int argc, char **argv)
{
	struct gateway_cfg cfg = { 0 };
	const char *provider;
	char fabric[512];
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		if (option == OPTION_VERSION) {
			rail_describe(fabric, sizeof(fabric));
			printf("bfsim " BFSIM_VERSION "; %s; %s\n", fabric, OpenSSL_version(OPENSSL_VERSION));
			return EXIT_SUCCESS;
		} else if (!read_option(option, &cfg)) {
			return EXIT_FAILURE;
		}
	cfg.is_home = !cfg.port;
	if (!cfg.name || !cfg.name[0] || strlen(cfg.name) >= PCIE_SIDE_SIZE || !cfg.token_file ||
	    !(cfg.port || cfg.listen_port) || optind < argc) {
		fputs("bfsim-gateway is started by bfsimd: see bfsim up --listen and bfsim join\n", stderr);
		return EXIT_FAILURE;
	}
	provider = take_provider();
	if (!cfg.provider)
		cfg.provider = provider;
	return gateway_run(&cfg) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
