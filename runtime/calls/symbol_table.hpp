// Function names of a program or library, static ones included: dladdr() knows exported ones only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::runtime {

// SymbolTable is the .symtab of an ELF file; empty where the file is stripped, cannot be read or is
// damaged.
class SymbolTable {
 public:
  // Without names it only says how the file counts.
  explicit SymbolTable(const std::string& file, bool with_names = true);

  // function_at() is the mangled name of the function that holds `address`, as the file counts
  // addresses; empty where none does.
  std::string function_at(uint64_t address) const;
  // is_relocated() is true of files whose addresses count from where they are loaded.
  bool is_relocated() const { return is_relocated_; }

 private:
  struct Function {
    uint64_t address = 0;
    uint64_t bytes = 0;
    std::string name;
  };
  std::vector<Function> functions_;
  bool is_relocated_ = true;
};

}  // namespace sluice::runtime
