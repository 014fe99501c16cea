/* SPDX-License-Identifier: BSD-3-Clause */
/* pcie_model/topology/value_parse_priv.h - read one value of a description from its text.
 *
 * Each function parses the whole text and returns 0, or returns -EINVAL and leaves the result unchanged. No
 * locale, no octal, no surrounding space.
 */
#ifndef PCIE_VALUE_PARSE_PRIV_H
#define PCIE_VALUE_PARSE_PRIV_H

#include <stdbool.h>
#include <stdint.h>

/* "true" or "false". */
int pcie_parse_bool(const char *text, bool *ret_value);

/* A number up to @max, decimal ("64") or hexadecimal ("0x40"). */
int pcie_parse_number(const char *text, uint64_t max, uint64_t *ret_value);

/* Bytes: a number, alone or followed by KiB, MiB or GiB ("2 MiB"). */
int pcie_parse_bytes(const char *text, uint64_t *ret_bytes);

/* Bits per second: a number, alone or followed by Mb/s, Gb/s or Tb/s ("100 Gb/s"). */
int pcie_parse_rate(const char *text, uint64_t *ret_bps);

/* "3us"; up to an hour. */
int pcie_parse_time(const char *text, uint64_t *ret_ps);

/* "0.1%", with up to seven decimals: a share below 100 %, in billionth parts. */
int pcie_parse_share(const char *text, uint32_t *ret_ppb);

/* Six bytes in hexadecimal with colons, "02:00:5e:10:00:01"; not a multicast address (odd first byte) and not all
 * zero. */
int pcie_parse_mac(const char *text, uint8_t ret_mac[6]);

/* Whether @text is a valid name of a device, interface or card: no space, slash, control or non-ASCII character. */
bool pcie_is_valid_name(const char *text);

#endif
