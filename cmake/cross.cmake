# Builds for the machine SYNERGY_MACHINE (as uname says it) with the libraries in SYNERGY_SYSROOT, both from scripts/cross.sh.
# Tests run in QEMU; what they start needs a kernel that runs the programs of that machine.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SYNERGY_MACHINE SYNERGY_SYSROOT)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${SYNERGY_MACHINE})
set(CMAKE_CXX_COMPILER ${SYNERGY_MACHINE}-linux-gnu-g++)
set(CMAKE_SYSROOT ${SYNERGY_SYSROOT})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${SYNERGY_MACHINE}-static -L ${SYNERGY_SYSROOT})

# protoc, gRPC's plugin and Python are this machine's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind INCLUDE LIBRARY PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
