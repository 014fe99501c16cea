# SPDX-License-Identifier: BSD-3-Clause
# What DMA Copy is made of whatever the SDK's generation is: on both sides, and on one.
shared = args.c channel.c failure.c copy.c device.c digest.c loop.c main.c message.c progress.c receiver.c sender.c \
	source.c target.c transfer.c window.c
shared_host = host.c
shared_dpu = dpu.c mover.c
