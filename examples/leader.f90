! SPDX-License-Identifier: BSD-3-Clause
! Prints the rank that leads this node.
program leader_of_node
    use, intrinsic :: iso_c_binding
    use mpi_f08
    interface
        type(c_ptr) function client_open() bind(c, name="nuioa_client_open")
            import
        end function
        integer(c_int) function client_leader(client, rank) bind(c, name="nuioa_client_leader")
            import
            type(c_ptr), value :: client
            integer(c_int32_t) :: rank
        end function
        subroutine client_close(client) bind(c, name="nuioa_client_close")
            import
            type(c_ptr), value :: client
        end subroutine
    end interface
    type(c_ptr) :: client
    integer(c_int32_t) :: leader
    call MPI_Init()
    client = client_open()
    if (client_leader(client, leader) == 0) print "(a, i0)", "led by rank ", leader
    call client_close(client)
    call MPI_Finalize()
end program
