# Finds gRPC's C++ library without TLS, with the small protobuf runtime, in the system: Grpc::grpc;
# and the programs PROTOC and GRPC_CPP_PLUGIN. The kubelet's sockets are local files, so TLS would
# only cost memory. Does not use pkg-config, which takes half a minute to follow the dependencies
# between Abseil's libraries.
find_path(GRPC_INCLUDE_DIR grpcpp/grpcpp.h)
set(GRPC_LIBRARIES)
set(GRPC_LIBRARY_VARIABLES)
foreach(library grpc++_unsecure grpc_unsecure gpr protobuf-lite)
  find_library(GRPC_${library}_LIBRARY ${library})
  list(APPEND GRPC_LIBRARIES ${GRPC_${library}_LIBRARY})
  list(APPEND GRPC_LIBRARY_VARIABLES GRPC_${library}_LIBRARY)
endforeach()
find_program(PROTOC protoc)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Grpc REQUIRED_VARS ${GRPC_LIBRARY_VARIABLES} GRPC_INCLUDE_DIR PROTOC GRPC_CPP_PLUGIN)
if(Grpc_FOUND AND NOT TARGET Grpc::grpc)
  add_library(Grpc::grpc INTERFACE IMPORTED)
  # gRPC's headers use Abseil's mutex and status. Only libraries that a program uses must be loaded.
  set_target_properties(Grpc::grpc PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${GRPC_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "${GRPC_LIBRARIES};absl::synchronization;Threads::Threads"
    INTERFACE_LINK_OPTIONS "LINKER:--as-needed")
endif()
