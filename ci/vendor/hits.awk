# SPDX-License-Identifier: BSD-3-Clause
# Of a log of "bfsim run --check", one line for each hit: RULE FILE:LINE SAMPLE: message.
{ sub(/^(host|dpu) *\| /, "") }
/^bfsim check: [a-z]+ BFC-/ {
	rule = $4
	sub(/:$/, "", rule)
	message = $0
	sub(/^bfsim check: [a-z]+ BFC-[A-Z]+-[0-9]+: /, "", message)
	gsub(/0x[0-9a-f]+/, "0x*", message)
	next
}
rule && /^ +at .*\(.*:[0-9]+\)$/ {
	place = $NF
	gsub(/^\(|\)$/, "", place)
	sub(/.*\//, "", place)
	print rule " " place " " what ": " message
	rule = ""
}
rule && !/^ / {
	print rule " ? " what ": " message
	rule = ""
}
