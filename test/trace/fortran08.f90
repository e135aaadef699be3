! SPDX-License-Identifier: BSD-3-Clause
!
! From Fortran by mpi_f08: rank 0 sends 1000 doubles to each, to rank 1 by a persistent request, then
! all take part in a Bcast; with and without the last argument, which is optional there.
program traced
    use mpi_f08
    implicit none
    integer :: rank, ranks, i, ierr
    type(MPI_Request) :: request
    double precision :: buffer(1000)
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    buffer = rank
    if (rank == 0) then
        call MPI_Send_init(buffer, 1000, MPI_DOUBLE_PRECISION, 1, 0, MPI_COMM_WORLD, request)
        call MPI_Start(request)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        do i = 2, ranks - 1
            call MPI_Isend(buffer, 1000, MPI_DOUBLE_PRECISION, i, 0, MPI_COMM_WORLD, request)
            call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
        end do
    else
        call MPI_Recv(buffer, 1000, MPI_DOUBLE_PRECISION, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end if
    call MPI_Bcast(buffer, 100, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
    call MPI_Finalize()
end program
