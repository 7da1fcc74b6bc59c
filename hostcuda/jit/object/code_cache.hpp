// Compiled kernels on disk, so that a program's second start need not compile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/cache_folder.hpp"
#include "hostcuda/jit/object/kernel_code.hpp"

namespace sluice::hostcuda::jit {

// CodeCache is a folder with one file for each key. A key says all that the code depends on; a file
// holds its key, so that no mistaken identity goes unseen, and a checksum; one that is damaged, of
// another version or not the user's own counts as missing, and is replaced. Whatever fails, the
// code is compiled instead. Thread-safe.
class CodeCache {
 public:
  explicit CodeCache(std::string folder) : folder_(std::move(folder), most_bytes) {}

  // of_this_process() is the cache in SLUICE_CODE_CACHE, else in the user's cache folder
  // ($XDG_CACHE_HOME or ~/.cache)/sluice/code; nullptr where that is "off" or there is no such
  // folder and none can be made.
  static const CodeCache* of_this_process();

  std::optional<KernelCode> load(const std::string& key) const;
  // store() also drops the files that were used least recently once all of them exceed
  // `most_bytes`.
  void store(const std::string& key, const KernelCode& code) const;

  static constexpr uint64_t most_bytes = CacheFolder::usual_code_bytes;

 private:
  const CacheFolder folder_;
};

// compiler_identity() names this build of the compiler, LLVM, and the processor it compiles for.
std::string compiler_identity(const std::string& processor, const std::string& features);

// What this process has taken from its cache and what it has compiled.
struct CodeCounts {
  uint64_t loaded = 0;
  uint64_t compiled = 0;
};
CodeCounts code_counts();
void count_loaded();
void count_compiled();

}  // namespace sluice::hostcuda::jit
