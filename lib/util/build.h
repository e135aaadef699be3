/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_BUILD_H
#define NUIOA_UTIL_BUILD_H

/* What a build is called in messages. Builds of one version may differ in the protocol by which
 * nodes and srun speak (spank/rendezvous/wire.h); then they take no part in each other's steps. */

/* The version of that protocol: it is counted up for every change. */
#define NUIOA_WIRE_VERSION 11

#define NUIOA_BUILD_TEXT(number) #number
#define NUIOA_BUILD_WIRE(number) "wire protocol " NUIOA_BUILD_TEXT(number)

/* Such as "1.0.0 (wire protocol 9)". VERSION is configure's. */
#define NUIOA_BUILD VERSION " (" NUIOA_BUILD_WIRE(NUIOA_WIRE_VERSION) ")"

#endif
