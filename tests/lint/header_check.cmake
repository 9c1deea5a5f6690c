# Checks that headers can be included alone, in any order. A source includes its own header first
# (headers.py), so compiling the source checks the header, if sources are not joined (in the dev
# preset, which clang-tidy reads in scripts/lint.sh). Any other header is compiled as the only
# include of a generated source.

# synergy_check_headers(target root header...): builds the headers with `target`'s includes and
# flags. Headers are named as they are included, relative to `root`.
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
  # Headers may also use what the target links privately, because not all of them are for others.
  target_link_libraries(${target}_headers PRIVATE ${target} $<TARGET_PROPERTY:${target},LINK_LIBRARIES>)
endfunction()
