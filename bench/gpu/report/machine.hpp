// Facts of the machine that come from programs beside us: nvidia-smi and git.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace sluice::gpu_probe {

// output_line() runs a shell command and gives the first line that it prints, without the newline;
// empty if it fails or prints nothing. Its error output is thrown away.
std::string output_line(const std::string& command);

// split_smi() turns one line of nvidia-smi's `--format=csv,noheader` into (name, value) pairs;
// values that are missing become "unknown".
std::vector<std::pair<std::string, std::string>> split_smi(const std::vector<std::string>& names,
                                                           const std::string& line);

// smi_facts() asks nvidia-smi for the driver, the clocks as they are, their limits, power limit and
// temperature of the GPU at `bus`. It only reads; nothing is set. Without nvidia-smi every value is
// "unknown".
std::vector<std::pair<std::string, std::string>> smi_facts(const std::string& bus);

// source_commit() is git's short name of the checked-out commit in `folder`, with "-dirty" if files
// differ from it; "unknown" where there is no git or no repository.
std::string source_commit(const std::string& folder);

// today() is the date in UTC, YYYY-MM-DD.
std::string today();

}  // namespace sluice::gpu_probe
