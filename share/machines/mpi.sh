#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The launcher of Open MPI starts a machine of a simulated session on each host, and a program in it:
#
#   mpi.sh HOST,HOST ./program ARGUMENT...    in a folder that all hosts share, with node.sh; bfsim and bfsim-gateway on all
#
# The first host is home. For a program that uses MPI itself, NODE has the rank.
set -eu
hosts=$1
shift
count=$(echo "$hosts" | tr ',' '\n' | grep -c .)
umask 077
token=$(mktemp ./token-XXXXXX)
trap 'rm -f "$token"' EXIT
bfsim token >"$token"
# shellcheck disable=SC2016
mpirun --host "$hosts" --map-by ppr:1:node -n "$count" \
	sh -c 'exec sh ./node.sh "$OMPI_COMM_WORLD_RANK" "$OMPI_COMM_WORLD_SIZE" "$@"' node "${hosts%%,*}" "$token" "$@"
