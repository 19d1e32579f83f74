/* SPDX-License-Identifier: BSD-2-Clause */
/* telrec: what its parts share. */
#ifndef TELREC_H
#define TELREC_H

/* What telrec is to do. */
struct telrec {
	const char *control; /* --control: the program, or NULL */
	char **operands;
	int noperands;
};

/*
 * Reads the command line.  Returns 1; 0 when telrec is to end with
 * message_status(): after a mistake, --help or --version.
 */
int telrec_options(struct telrec *t, int argc, char **argv);

/* Shows or changes the kinds that a program writes. */
void telrec_control(const struct telrec *t);

#endif
