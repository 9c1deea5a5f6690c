# gRPC's C++ library without TLS, with the small protobuf runtime, from the system, as Grpc::grpc; and the programs PROTOC and
# GRPC_CPP_PLUGIN. The kubelet's sockets are local files: what TLS would add is memory.
find_package(PkgConfig REQUIRED)
pkg_check_modules(GRPC IMPORTED_TARGET grpc++_unsecure)
find_library(PROTOBUF_LITE_LIBRARY protobuf-lite)
find_program(PROTOC protoc)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Grpc REQUIRED_VARS GRPC_FOUND PROTOBUF_LITE_LIBRARY PROTOC GRPC_CPP_PLUGIN)
if(Grpc_FOUND AND NOT TARGET Grpc::grpc)
  add_library(Grpc::grpc INTERFACE IMPORTED)
  # pkg-config names every library of Abseil; only those that are used are to be loaded.
  set_target_properties(Grpc::grpc PROPERTIES
    INTERFACE_LINK_LIBRARIES "PkgConfig::GRPC;${PROTOBUF_LITE_LIBRARY};Threads::Threads"
    INTERFACE_LINK_OPTIONS "LINKER:--as-needed")
endif()
