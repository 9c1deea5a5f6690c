# The project's own CMake functions: one folder is one target, with the same flags everywhere.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# "address;undefined" or "thread"; a build has one set for everything in it.
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

function(synergy_set_flags target)
  # Designated initialisers leave out what has a default; -Wextra calls that missing. g++ 12 sees overlapping copies in
  # "literal" + std::string (its bug 105329).
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
  # Products are rounded before they are added to, as on x86-64, so that a recording of one architecture replays on another.
  if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
    target_compile_options(${target} PRIVATE -ffp-contract=off)
  endif()
  # In a unity build no source is the main file, and what is in an anonymous namespace stays in one source all the same.
  if(CMAKE_UNITY_BUILD)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  if(SYNERGY_SANITIZERS)
    list(JOIN SYNERGY_SANITIZERS "," sanitizers)
    target_compile_options(${target} PRIVATE -fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${sanitizers})
  endif()
endfunction()

# synergy_library(name [SOURCES ...] [DEPS ...] [PRIVATE_DEPS ...] [SEPARATE])
# The folder src/<name> as the target synergy_<name>, alias synergy::<name>. DEPS are the folders that its headers use;
# PRIVATE_DEPS are used by its sources alone, third-party libraries among them. SEPARATE where its sources use a name for
# something different each, so that a unity build (CMakePresets.json) cannot join them.
function(synergy_library name)
  cmake_parse_arguments(arg "SEPARATE" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(synergy_${name} STATIC ${arg_SOURCES})
  if(arg_SEPARATE)
    set_target_properties(synergy_${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  add_library(synergy::${name} ALIAS synergy_${name})
  target_include_directories(synergy_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(synergy_${name} PUBLIC ${arg_DEPS} PRIVATE ${arg_PRIVATE_DEPS})
  synergy_set_flags(synergy_${name})
endfunction()

# synergy_program(name SOURCES ... DEPS ...): a program in <build>/bin. The target `programs` builds all of them.
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

# synergy_test(name LABEL unit|property|integration|cluster SOURCES ... DEPS ...): one GoogleTest program, registered as
# one CTest test, so that a fixture shared by its cases is set up once. The target <label>_tests builds all of a label.
# Its sources are compiled sixteen at a time, for reading GoogleTest takes longer than the tests; SEPARATE where several of
# them use a name for something different.
function(synergy_test name)
  cmake_parse_arguments(arg "SEPARATE" "LABEL;TIMEOUT" "SOURCES;DEPS;ENVIRONMENT" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  # A test is compiled more often than its own code takes time to run.
  target_compile_options(${name} PRIVATE -O0)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests UNITY_BUILD_BATCH_SIZE 16 UNITY_BUILD ON)
  if(arg_SEPARATE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  synergy_set_flags(${name})
  # Ours is to be without undefined behaviour; looking at GoogleTest's, too, takes as long as all the rest of compiling a test.
  if("undefined" IN_LIST SYNERGY_SANITIZERS)
    target_compile_options(${name} PRIVATE -fno-sanitize=undefined)
  endif()
  if(NOT TARGET ${arg_LABEL}_tests)
    add_custom_target(${arg_LABEL}_tests)
  endif()
  add_dependencies(${arg_LABEL}_tests ${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ENVIRONMENT "${arg_ENVIRONMENT}")
endfunction()
