#include "coll.h"
#include "fortran08.h"

#ifdef OPEN_MPI
#include "coll_fortran.c"
#endif
