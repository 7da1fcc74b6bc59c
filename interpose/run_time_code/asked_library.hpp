// Which files a process gets where it asks for NVIDIA's NVRTC or nvJitLink on the CPU device: our
// forwarder of that library, which loads what was asked for. For code inside the dynamic linker.
#pragma once

namespace sluice::interpose {

// asked_library() is the file to open in the place of `file`, which is a name or a path as the
// dynamic linker has it (la_objsearch, rtld-audit(7)): at most a forwarder in `folder`, which ends
// with a slash. A forwarder needs a library "libsluice-asked-<name>", which is the file that it
// stands for. Returns `file` itself for any other, and a path without a file where the search has
// to go on. Not thread-safe: the dynamic linker holds its lock.
const char* asked_library(const char* file, const char* folder);

}  // namespace sluice::interpose
