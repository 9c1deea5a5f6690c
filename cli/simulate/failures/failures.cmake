# Embeds the tables of assumptions about failures in the program.

foreach(name philly acme)
  set(file simulate/failures/${name}.csv)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  string(TOUPPER SYNERGY_${name}_FAILURES variable)
  file(READ ${file} ${variable})
endforeach()
configure_file(simulate/failures/failure_tables.h.in generated/cli/simulate/failure_tables.h @ONLY)
