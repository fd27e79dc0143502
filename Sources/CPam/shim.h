// libpam for the module, and for the tests that drive it. Variadic functions and the macros that Swift cannot
// see are wrapped here; nothing else.
#ifndef APPVAULT_CPAM_H
#define APPVAULT_CPAM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdlib.h>
#include <string.h>

#include <security/pam_appl.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
#include <security/pam_ext.h>

#endif
