/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the library's enums, and its version. */
#include "tel/schema.h"

const char *
tel_status_text(tel_status status)
{
	switch (status) {
	case TEL_OK: return "done";
	case TEL_END: return "no more events";
	case TEL_LOG: return "another log starts";
	case TEL_AGAIN: return "nothing yet";
	case TEL_ENOMEM: return "out of memory";
	case TEL_EIO: return "input or output failed";
	case TEL_EINVAL: return "invalid argument";
	case TEL_ESTATE: return "call out of order";
	case TEL_EFORMAT: return "unknown log format";
	case TEL_EVERSION: return "unsupported newer version";
	case TEL_EDAMAGED: return "damaged input";
	case TEL_ELIMIT: return "a limit was exceeded";
	}
	return "unknown status";
}

const char *
tel_datatype_name(tel_datatype datatype)
{
	switch (datatype) {
	case TEL_UNSIGNED: return "unsigned";
	case TEL_SIGNED: return "signed";
	case TEL_SET: return "set";
	case TEL_ADDRESS: return "address";
	case TEL_POINTER: return "pointer";
	case TEL_BOOLEAN: return "boolean";
	case TEL_DOUBLE: return "double";
	case TEL_STRING: return "string";
	case TEL_LIST: return "list";
	}
	return "unknown";
}

const char *
tel_version(void)
{
	return TEL_VERSION;
}
