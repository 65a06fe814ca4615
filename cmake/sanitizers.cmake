# ROCELANE_SANITIZE: comma list for -fsanitize, empty for none.
set(ROCELANE_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
if(ROCELANE_SANITIZE)
  add_compile_options(-fsanitize=${ROCELANE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ROCELANE_SANITIZE})
endif()
