# Headers that can be included alone, in any order: each is compiled as the only include of a source of its own.

# synergy_check_headers(target root header...): builds with `target`'s own includes and flags; headers are named as they are
# included, relative to `root`.
function(synergy_check_headers target root)
  set(sources)
  foreach(header IN LISTS ARGN)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.cc)
    # Twice, so that a missing include guard shows as well.
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(${target}_headers OBJECT ${sources})
  target_include_directories(${target}_headers PRIVATE ${root})
  # What the target links privately, its headers may use as well: they are not all for others.
  target_link_libraries(${target}_headers PRIVATE ${target} $<TARGET_PROPERTY:${target},LINK_LIBRARIES>)
endfunction()
