! SPDX-License-Identifier: BSD-3-Clause
!
! A broadcast by its Fortran name.
program coll
    use mpi
    implicit none
    integer, parameter :: n = 131072
    integer :: rank, ierror, wrong, all_wrong, i
    integer :: a(n)
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    wrong = 0
    a = merge((/ (i, i = 1, n) /), 0, rank == 1)
    call MPI_Bcast(a, n, MPI_INTEGER, 1, MPI_COMM_WORLD, ierror)
    wrong = wrong + count(a /= (/ (i, i = 1, n) /))
    call MPI_Reduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(a, i0)', 'wrong=', all_wrong
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Finalize(ierror)
end program coll
