# Headers that can be included alone, in any order. One with a source beside it is the first that this includes (headers.py), so
# compiling that says it, where sources are not joined (the dev preset, which clang-tidy reads in scripts/lint.sh). Any other is
# compiled as the only include of a source made for it.

# synergy_check_headers(target root header...): builds with `target`'s own includes and flags; headers are named as they are
# included, relative to `root`.
function(synergy_check_headers target root)
  set(sources)
  foreach(header IN LISTS ARGN)
    string(REGEX REPLACE "\\.h$" ".cc" own ${root}/${header})
    if(NOT EXISTS ${own})
      set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.cc)
      file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n")
      list(APPEND sources ${source})
    endif()
  endforeach()
  if(NOT sources)
    return()
  endif()
  add_library(${target}_headers OBJECT ${sources})
  set_target_properties(${target}_headers PROPERTIES UNITY_BUILD OFF)
  target_include_directories(${target}_headers PRIVATE ${root})
  # What the target links privately, its headers may use as well: they are not all for others.
  target_link_libraries(${target}_headers PRIVATE ${target} $<TARGET_PROPERTY:${target},LINK_LIBRARIES>)
endfunction()
