# SPDX-License-Identifier: BSD-3-Clause
# Reads a log with reports of sanitizers (stack_trace_format "    #%n %m %f %S") and prints
# a line for each that bfsim is to blame for. A handle that is lost was the sample's to
# destroy, and what hangs on it (indirect leaks) with it.

function is_runtime(module) { return module ~ /lib(asan|ubsan|lsan|c|pthread|m|rt|dl)\.so|\/ld-/ }
function is_ours(module) { return module ~ /lib(doca_[a-z_]*|bfsim)\.so|\/bfsimd?$/ }

# At the end of a stack: the report's kind, the first module that is not the runtime's, and the calls of the API.
function judge() {
	if (kind == "")
		return
	if (kind == "hang") {
		if (call != "" && call !~ /^doca_(pe_progress|sync_event_wait_|pe_request_notification)/)
			print "hangs in " call "()"
	} else if (is_ours(first) && !(kind == "leak" && place ~ /^shim_object_new /)) {
		print kind " in " place
	}
	kind = ""
}

function begin(what) {
	judge()
	kind = what
	first = call = ""
	frames = 0
}

{ sub(/^[a-z0-9\/]+ *\| ?/, "") } # the side's name

/ERROR: AddressSanitizer: ABRT/ { begin("hang"); next }
/ERROR: AddressSanitizer/ { begin($3); next }
/Direct leak of/ { begin("leak"); next }
/Indirect leak of/ { judge(); next }
/runtime error:/ { print; next }

kind != "" && /^ *#[0-9]+ / {
	frames++
	if (first == "" && !is_runtime($2)) {
		first = $2
		place = $3 " " $4
	}
	if ($3 ~ /^doca_/)
		call = $3
	next
}
kind != "" && frames > 0 { judge() }
END { judge() }
