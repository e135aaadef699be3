! SPDX-License-Identifier: BSD-3-Clause
!
! Collectives by their Fortran names, in place where they can be, large enough for the library.
program coll
    use mpi
    implicit none
    integer, parameter :: n = 262144
    integer :: rank, size, ierror, wrong, all_wrong, i
    integer, allocatable :: a(:), b(:)
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
    allocate(a(n), b(n * size))
    wrong = 0
    a = merge((/ (i, i = 1, n) /), 0, rank == 1)
    call MPI_Bcast(a, n, MPI_INTEGER, 1, MPI_COMM_WORLD, ierror)
    wrong = wrong + count(a /= (/ (i, i = 1, n) /))
    a = rank
    call MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    wrong = wrong + count(a /= size * (size - 1) / 2)
    b = 0
    b(rank * n + 1:(rank + 1) * n) = rank + 5
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, n, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    do i = 1, size
        wrong = wrong + count(b((i - 1) * n + 1:i * n) /= i + 4)
    end do
    call MPI_Reduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(a, i0)', 'wrong=', all_wrong
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Finalize(ierror)
end program coll
