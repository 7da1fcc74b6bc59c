// What `sluice verify` says of a difference.
#pragma once

#include <string>
#include <vector>

#include "tools/verify/difference.hpp"

namespace sluice::tools {

// copy_words() is "copy 2 to the host (cuMemcpyDtoH_v2 of 4096 bytes, after launch 40)".
std::string copy_words(const dro::CopyRecord& copy);
// launch_words() is "step #40 (grid 4x1x1, block 256x1x1)".
std::string launch_words(const dro::LaunchSummary& launch);
// difference_lines() names the copy, the bytes, and the launches of the second run that wrote them
// with what these wait for.
std::vector<std::string> difference_lines(const Difference& difference);
// unseen_text() says what of a run was not looked at; empty where nothing.
std::string unseen_text(const RunRecord& run);

}  // namespace sluice::tools
