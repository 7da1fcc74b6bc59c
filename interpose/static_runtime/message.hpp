// Lines on stderr, as base/log.hpp writes them, from inside the dynamic linker.
#pragma once

namespace sluice::interpose {

// is_logged() goes by SLUICE_LOG: everything at or above "warning" unless it says otherwise.
enum class Line { error, info };
bool is_logged(Line level);

// tell() writes "sluice: where: what; remedy" as one line.
void tell(const char* where, const char* what, const char* remedy);

}  // namespace sluice::interpose
