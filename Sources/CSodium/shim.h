// libsodium, imported by Secrets alone.
#ifndef APPVAULT_CSODIUM_H
#define APPVAULT_CSODIUM_H

#include <sodium.h>

#endif
