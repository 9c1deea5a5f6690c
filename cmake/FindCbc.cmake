# Finds COIN-OR's branch-and-cut solver CBC, and CLP, which it uses, in the system: Cbc::cbc. It is
# an imported target because the includes of such a target are system includes: CBC's headers cause
# warnings.
find_path(CBC_INCLUDE_DIR CbcModel.hpp PATH_SUFFIXES coin coin-or)
set(CBC_LIBRARIES)
set(CBC_LIBRARY_VARIABLES)
foreach(library Cbc Cgl OsiClp Clp Osi CoinUtils)
  find_library(CBC_${library}_LIBRARY ${library})
  list(APPEND CBC_LIBRARIES ${CBC_${library}_LIBRARY})
  list(APPEND CBC_LIBRARY_VARIABLES CBC_${library}_LIBRARY)
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cbc REQUIRED_VARS ${CBC_LIBRARY_VARIABLES} CBC_INCLUDE_DIR)
if(Cbc_FOUND AND NOT TARGET Cbc::cbc)
  add_library(Cbc::cbc INTERFACE IMPORTED)
  set_target_properties(Cbc::cbc PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${CBC_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "${CBC_LIBRARIES}")
endif()
