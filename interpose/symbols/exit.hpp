// The end of the process.
#pragma once

namespace sluice::interpose {

// at_exit() has `finish` called when the process ends, as std::atexit() does. Nothing else of the
// shim is: none of its variables, nor LLVM's in it, is destroyed, since threads of Sluice's own may
// still be at work then.
void at_exit(void (*finish)());

}  // namespace sluice::interpose
