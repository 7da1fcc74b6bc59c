// Running a program and reading what it printed, for end-to-end tests.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/scratch_folder.hpp"

namespace sluice::e2e {

struct Outcome {
  int status = 0;      // exit status, or 128 + signal
  std::string output;  // stdout
  std::string errors;  // stderr
};

// run() starts `command` with this process's environment and `environment` on top, and waits.
Outcome run(const std::vector<std::string>& command,
            const std::map<std::string, std::string>& environment = {});

// lines() splits text; no empty last line.
std::vector<std::string> lines(const std::string& text);

// Paths of what was built: build_path("bin/sluice").
std::string build_path(const std::string& relative);

// sluice_run() is `sluice run --device cpu OPTIONS -- COMMAND`. The journal that it leaves, if any,
// must replay bit for bit.
Outcome sluice_run(const std::vector<std::string>& options,
                   const std::vector<std::string>& command);

}  // namespace sluice::e2e
