# Embeds the page in the program: HTML with its style and script in it. Its Content-Security-Policy names the hashes of
# both, so that a browser runs nothing else.

# synergy_content_hash(variable text): sets the hash for a Content-Security-Policy, sha256-BASE64.
function(synergy_content_hash variable text)
  set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 hash "${text}")
  set(base64 "")
  # Three bytes are six digits and four letters; one byte is missing at the end.
  foreach(at RANGE 0 60 6)
    string(SUBSTRING ${hash}00 ${at} 6 digits)
    foreach(shift 18 12 6 0)
      math(EXPR letter "(0x${digits} >> ${shift}) & 63")
      string(SUBSTRING ${letters} ${letter} 1 letter)
      string(APPEND base64 ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING ${base64} 0 43 base64)
  set(${variable} "sha256-${base64}=" PARENT_SCOPE)
endfunction()

# Concatenated in this order.
set(SYNERGY_PAGE_SCRIPTS words.js timeline.js telling.js link.js boxes.js details.js tables.js
    comparison.js heat_map.js run_view.js player.js cluster.js page.js)
list(TRANSFORM SYNERGY_PAGE_SCRIPTS PREPEND page/web/)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS page/web/page.html page/web/page.css ${SYNERGY_PAGE_SCRIPTS})
file(READ page/web/page.css SYNERGY_PAGE_STYLE)
set(SYNERGY_PAGE_SCRIPT "")
foreach(file ${SYNERGY_PAGE_SCRIPTS})
  file(READ ${file} script)
  string(APPEND SYNERGY_PAGE_SCRIPT "${script}")
endforeach()
synergy_content_hash(SYNERGY_PAGE_STYLE_HASH "${SYNERGY_PAGE_STYLE}")
synergy_content_hash(SYNERGY_PAGE_SCRIPT_HASH "${SYNERGY_PAGE_SCRIPT}")
file(READ page/web/page.html html)
string(CONFIGURE "${html}" SYNERGY_PAGE @ONLY)
configure_file(page/page_text.h.in generated/cli/page/page_text.h @ONLY)
