/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Getter: a function of a library that gives a member of what a handle points
 * to, which callers cannot see.
 */
#ifndef TEL__GETTER_H
#define TEL__GETTER_H

#define TEL__GETTER(type, function, handle, member) \
	type function(const handle *of) \
	{ \
		return of->member; \
	}

#endif
