#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A job of Slurm in which each node is a machine of a simulated session:
#
#   sbatch slurm.sh ./program ARGUMENT...     in a folder that all nodes share, with node.sh; bfsim and bfsim-gateway on all
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --time=10
set -eu
cd "${SLURM_SUBMIT_DIR:-.}"
home=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
umask 077
bfsim token >"token-$SLURM_JOB_ID"
trap 'rm -f "token-$SLURM_JOB_ID"' EXIT
# A port of the job's own, so that two jobs may share a node.
port=$((20000 + SLURM_JOB_ID % 10000))
# shellcheck disable=SC2016
srun --kill-on-bad-exit=1 sh -c 'exec sh ./node.sh "$SLURM_NODEID" "$SLURM_NNODES" "$@"' node "$home:$port" "token-$SLURM_JOB_ID" "$@"
