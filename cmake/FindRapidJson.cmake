# Finds RapidJSON (headers only) in the system: RapidJson::rapidjson. It is a system include,
# because its headers cause warnings in C++20.
find_path(RAPIDJSON_INCLUDE_DIR rapidjson/rapidjson.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RapidJson REQUIRED_VARS RAPIDJSON_INCLUDE_DIR)
if(RapidJson_FOUND AND NOT TARGET RapidJson::rapidjson)
  add_library(RapidJson::rapidjson INTERFACE IMPORTED)
  set_target_properties(RapidJson::rapidjson PROPERTIES
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${RAPIDJSON_INCLUDE_DIR}
    INTERFACE_COMPILE_DEFINITIONS RAPIDJSON_HAS_STDSTRING=1)
  # This is an instruction set of x86; on other architectures its header is an error.
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    set_property(TARGET RapidJson::rapidjson APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS RAPIDJSON_SSE2=1)
  endif()
endif()
