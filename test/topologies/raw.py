# SPDX-License-Identifier: BSD-3-Clause
"""The facts that expect.py needs about a machine; raw_xml.py and raw_sysfs.py fill them."""
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Set


@dataclass
class Numa:
    os_index: int
    cpus: Set[int]                     # its own; none for memory without CPUs
    memory_bytes: Optional[int] = None
    package: Optional[int] = None      # OS index of the package that holds all its CPUs
    local: Set[int] = field(default_factory=set)    # CPUs that it is local to, as hwloc says


@dataclass
class Box:
    """A package, a group or a smaller object that several NUMA nodes may share."""
    nodes: Set[int]
    in_package: bool


@dataclass
class Port:
    number: int
    state: Optional[int] = None        # 1 down, 2 init, 3 armed, 4 active
    lid: int = 0
    prefix: Optional[str] = None       # subnet prefix of GID 0
    guid: Optional[str] = None         # the rest of GID 0, hex digits only
    rate_mbps: Optional[int] = None
    link_layer: Optional[str] = None


@dataclass
class Verbs:
    name: str
    ports: Dict[int, Port]


@dataclass
class Net:
    name: str
    address: str = ""
    port: Optional[int] = None
    operstate: Optional[str] = None
    speed_mbps: Optional[int] = None
    in_bond: bool = False

    @property
    def is_infiniband(self):
        return len(self.address.split(":")) == 20

    @property
    def guid(self):
        return "".join(self.address.split(":")[12:]) if self.is_infiniband else None


@dataclass
class Function:
    """A PCI function with network devices."""
    busid: str
    pci_class: int
    vendor: int
    device: int
    nodes: Set[int]                    # NUMA nodes of the ancestor; empty: unknown
    cpus: Set[int]
    whole_machine: bool                # the ancestor is the machine
    numa_node: Optional[int] = None    # what the device itself says
    is_vf: bool = False
    verbs: List[Verbs] = field(default_factory=list)
    nets: List[Net] = field(default_factory=list)


@dataclass
class Raw:
    numas: List[Numa] = field(default_factory=list)
    boxes: List[Box] = field(default_factory=list)
    slit: Optional[List[List[int]]] = None   # in ascending NUMA OS index
    allowed_cpus: Set[int] = field(default_factory=set)
    cores: List[Set[int]] = field(default_factory=list)
    functions: List[Function] = field(default_factory=list)


def split_gid(gid):
    """(subnet prefix, interface id as bare hex digits) of a GID in its eight-word form."""
    words = gid.split(":")
    return ":".join(words[:4]), "".join(words[4:])


def add_missing_ports(function):
    """A verbs device whose ports are not described has those its netdevs name, or one."""
    for verbs in function.verbs:
        if not verbs.ports:
            numbers = {n.port for n in function.nets if n.port} or {1}
            verbs.ports = {k: Port(k) for k in numbers}
