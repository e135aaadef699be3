# SPDX-License-Identifier: BSD-3-Clause
"""Prints the NIC of this process. Pointers need c_void_p, or else ctypes cuts them to 32 bits."""
import ctypes
nuioa = ctypes.CDLL("libnuioa-client.so.1")
nuioa.nuioa_client_open.restype = ctypes.c_void_p
nuioa.nuioa_client_nic.restype = ctypes.c_char_p
client = ctypes.c_void_p(nuioa.nuioa_client_open())
nic = nuioa.nuioa_client_nic(client)
print("NIC", nic.decode() if nic else "unknown")
nuioa.nuioa_client_close(client)
