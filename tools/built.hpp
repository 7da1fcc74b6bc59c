// What this build is and was made with. cmake/SluiceVersion.cmake has the source
// written.
#pragma once

namespace sluice::tools {

struct Built {
  const char* version;    // as in CMakeLists.txt
  const char* commit;     // of git, shortened; "unknown" where the source lay in no git repository
  const char* compiler;   // name and version
  const char* llvm;       // version
  const char* cuda;       // version of the toolkit whose headers were used
  const char* libraries;  // where the installed launcher finds its libraries, from its own folder
};

extern const Built built;

}  // namespace sluice::tools
