# Static linking, for scripts/static.sh: replaces the imported shared libraries of a folder with
# archives.
set(SYNERGY_ARCHIVES "" CACHE PATH
  "Folder of the archives that Debian's packages lack. If given, synergy is linked statically; no other program can be")

# Finds the archive of a shared library: in Debian's package, or else in SYNERGY_ARCHIVES.
function(synergy_find_archive library result)
  string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive ${library})
  if(NOT EXISTS ${archive})
    cmake_path(GET archive FILENAME name)
    set(archive ${SYNERGY_ARCHIVES}/${name})
  endif()
  set(${result} ${archive} PARENT_SCOPE)
endfunction()

function(synergy_use_archives)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    set(properties IMPORTED_LOCATION)
    foreach(configuration IN LISTS configurations)
      list(APPEND properties IMPORTED_LOCATION_${configuration})
    endforeach()
    foreach(property IN LISTS properties)
      get_target_property(library ${target} ${property})
      if(library MATCHES "\\.so[.0-9]*$")
        synergy_find_archive(${library} archive)
        set_target_properties(${target} PROPERTIES ${property} ${archive})
      endif()
    endforeach()
  endforeach()
  # A shared library loads the libraries that it needs; those of an archive must be linked by name.
  set(brotli)
  foreach(name brotlidec brotlienc brotlicommon)
    find_library(SYNERGY_${name} lib${name}.a REQUIRED)
    list(APPEND brotli ${SYNERGY_${name}})
  endforeach()
  set_property(TARGET Httplib::httplib APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${brotli} ZLIB::ZLIB)
endfunction()
