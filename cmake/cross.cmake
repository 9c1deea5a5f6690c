# Builds for the machine SYNERGY_MACHINE (uname's name) with the libraries in SYNERGY_SYSROOT;
# scripts/cross.sh sets both. Tests run in QEMU; programs that they start need a kernel that can run
# programs for that machine.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SYNERGY_MACHINE SYNERGY_SYSROOT)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${SYNERGY_MACHINE})
set(CMAKE_CXX_COMPILER ${SYNERGY_MACHINE}-linux-gnu-g++)
set(CMAKE_SYSROOT ${SYNERGY_SYSROOT})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${SYNERGY_MACHINE}-static -L ${SYNERGY_SYSROOT})

# protoc, gRPC's plugin and Python are those of this machine.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind INCLUDE LIBRARY PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
