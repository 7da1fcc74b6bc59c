// Compiled kernels as gdb and perf see them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::hostcuda::jit {

// CodePart is a section, or a function, of an object file that has been linked.
struct CodePart {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// ToldCode is one object file of which gdb has been told; that ends with it. Thread-safe.
//
// Source: GDB manual, "JIT Compilation Interface".
class ToldCode {
 public:
  // `object` is an ELF file as the compiler made it; `sections` says where they lie now.
  ToldCode(std::string object, const std::vector<CodePart>& sections);
  ~ToldCode();
  ToldCode(const ToldCode&) = delete;

 private:
  struct Entry;
  const std::string object_;
  std::unique_ptr<Entry> entry_;
};

// tell_perf() appends functions to /tmp/perf-PID.map, where perf looks for names of code that no
// file holds. Thread-safe.
void tell_perf(const std::vector<CodePart>& functions);

}  // namespace sluice::hostcuda::jit
