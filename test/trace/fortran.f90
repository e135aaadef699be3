! SPDX-License-Identifier: BSD-3-Clause
!
! From Fortran: rank 0 sends 1000 doubles to each, then all take part in a Bcast.
program traced
    use mpi
    implicit none
    integer :: rank, ranks, i, ierr, request
    double precision :: buffer(1000)
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    buffer = rank
    if (rank == 0) then
        do i = 1, ranks - 1
            call MPI_Isend(buffer, 1000, MPI_DOUBLE_PRECISION, i, 0, MPI_COMM_WORLD, request, ierr)
            call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        end do
    else
        call MPI_Recv(buffer, 1000, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierr)
    end if
    call MPI_Bcast(buffer, 100, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    call MPI_Finalize(ierr)
end program
