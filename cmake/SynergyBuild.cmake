# The project's own CMake functions. Each folder is a target; all targets have the same flags.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
# Images need no symbols, which are a quarter of a program.
set(CMAKE_EXE_LINKER_FLAGS_RELEASE "-s")

# "address;undefined" or "thread". A build uses the same set for everything.
set(SYNERGY_SANITIZERS "" CACHE STRING "Sanitizers to build with, separated by semicolons")

find_program(SYNERGY_CCACHE ccache)
if(SYNERGY_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SYNERGY_CCACHE})
endif()

set(SYNERGY_REVISION "" CACHE STRING "The commit that the programs name as theirs; empty: what git says")
find_package(Git QUIET)
set(SYNERGY_COMMIT unknown)
if(SYNERGY_REVISION)
  set(SYNERGY_COMMIT ${SYNERGY_REVISION})
elseif(GIT_FOUND)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} -C ${CMAKE_CURRENT_SOURCE_DIR} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(SYNERGY_COMMIT ${commit})
  endif()
endif()

# If CMake is to build the target as a unity build, does so itself. CMake would name the sources by
# absolute paths, so that the compiler cache had to preprocess everything that another folder has
# compiled before. A source with its own properties is compiled alone.
function(synergy_join_sources target)
  get_target_property(unity ${target} UNITY_BUILD)
  if(NOT unity)
    return()
  endif()
  get_target_property(size ${target} UNITY_BUILD_BATCH_SIZE)
  get_target_property(sources ${target} SOURCES)
  set(compiled)
  set(joined)
  foreach(source IN LISTS sources)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    if(definitions OR options)
      list(APPEND compiled ${source})
    else()
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
      file(RELATIVE_PATH source ${PROJECT_SOURCE_DIR} ${source})
      list(APPEND joined ${source})
    endif()
  endforeach()
  list(LENGTH joined count)
  set(number 0)
  while(number LESS count)
    list(SUBLIST joined ${number} ${size} batch)
    list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN batch "" text)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_${number}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}")
    list(APPEND compiled ${file})
    math(EXPR number "${number} + ${size}")
  endwhile()
  set_target_properties(${target} PROPERTIES SOURCES "${compiled}" UNITY_BUILD OFF)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

function(synergy_set_flags target)
  # Runs at the end of the folder's CMakeLists.txt, when the sources have their properties.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL synergy_join_sources ${target})")
  # Designated initialisers leave out members with defaults, which -Wextra reports as missing. g++
  # 12 falsely reports overlapping copies in "literal" + std::string (its bug 105329).
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  # Products are rounded before they are added, as on x86-64, so that a recording from one
  # architecture can be replayed on another.
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    target_compile_options(${target} PRIVATE -ffp-contract=off)
  endif()
  # In a unity build no source is the main file. Anonymous namespaces nevertheless stay in one
  # source.
  if(CMAKE_UNITY_BUILD)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  if(SYNERGY_SANITIZERS)
    list(JOIN SYNERGY_SANITIZERS "," sanitizers)
    target_compile_options(${target} PRIVATE -fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${sanitizers})
  endif()
  # A program's link line does not name the private dependencies of shared libraries, which inlined
  # code of their headers may need.
  if(BUILD_SHARED_LIBS)
    target_link_options(${target} PRIVATE -Wl,--copy-dt-needed-entries)
  endif()
endfunction()

# synergy_library(name [SOURCES ...] [DEPS ...] [PRIVATE_DEPS ...]): builds the folder src/<name> as
# the target synergy_<name> with the alias synergy::<name>. DEPS are the folders that its headers
# use. PRIVATE_DEPS are used only by its sources, and include third-party libraries.
function(synergy_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(synergy_${name} ${arg_SOURCES})
  add_library(synergy::${name} ALIAS synergy_${name})
  target_include_directories(synergy_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(synergy_${name} PUBLIC ${arg_DEPS} PRIVATE ${arg_PRIVATE_DEPS})
  synergy_set_flags(synergy_${name})
endfunction()

# synergy_protocol(name ROOT STEM): builds gRPC's messages and stubs from ROOT/STEM.proto, for
# inclusion as "STEM.pb.h" and "STEM.grpc.pb.h". Our warnings are off for generated code. The target
# `protocol_sources` generates all of it.
function(synergy_protocol name root stem)
  set(proto ${root}/${stem}.proto)
  set(generated ${PROJECT_BINARY_DIR}/${stem})
  add_custom_command(
    OUTPUT ${generated}.pb.cc ${generated}.grpc.pb.cc ${generated}.pb.h ${generated}.grpc.pb.h
    COMMAND ${PROTOC} --proto_path ${root} --cpp_out ${PROJECT_BINARY_DIR} --grpc_out ${PROJECT_BINARY_DIR}
            --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN} ${proto}
    DEPENDS ${proto} VERBATIM)
  add_custom_target(${name}_sources DEPENDS ${generated}.pb.cc ${generated}.grpc.pb.cc)
  add_library(${name} ${generated}.pb.cc ${generated}.grpc.pb.cc)
  target_include_directories(${name} SYSTEM PUBLIC ${PROJECT_BINARY_DIR})
  target_link_libraries(${name} PUBLIC Grpc::grpc)
  if(NOT TARGET protocol_sources)
    add_custom_target(protocol_sources)
  endif()
  add_dependencies(protocol_sources ${name}_sources)
endfunction()

# synergy_program(name SOURCES ... DEPS ...): builds a program in <build>/bin. The target `programs`
# builds all of them.
function(synergy_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  synergy_set_flags(${name})
  install(TARGETS ${name} RUNTIME)
  if(NOT TARGET programs)
    add_custom_target(programs)
  endif()
  add_dependencies(programs ${name})
endfunction()

# synergy_test(name LABEL unit|property|integration|cluster SOURCES ... DEPS ...): builds a
# GoogleTest program and registers it as one CTest test, so that a fixture that its cases share is
# set up only once. The target <label>_tests builds all tests with a label. Sources are compiled
# sixteen at a time, because parsing GoogleTest takes longer than the tests. So names in their
# anonymous namespaces must differ.
function(synergy_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;DEPS;ENVIRONMENT" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  # Compiling a test takes longer than running it.
  target_compile_options(${name} PRIVATE -O0)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests UNITY_BUILD_BATCH_SIZE 16 UNITY_BUILD ON)
  synergy_set_flags(${name})
  # Our code must have no undefined behaviour. To check GoogleTest's, too, would double the time to
  # compile a test.
  if("undefined" IN_LIST SYNERGY_SANITIZERS)
    target_compile_options(${name} PRIVATE -fno-sanitize=undefined)
  endif()
  if(NOT TARGET ${arg_LABEL}_tests)
    add_custom_target(${arg_LABEL}_tests)
  endif()
  add_dependencies(${arg_LABEL}_tests ${name})
  add_test(NAME ${name} COMMAND ${name})
  # This only limits how long a failing test runs: the gate runs tests with sanitizers on the CPU
  # that others leave.
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT 900 ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()
