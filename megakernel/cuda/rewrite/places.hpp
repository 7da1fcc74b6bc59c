// Where a kernel's parameters, shared variables and module variables lie for its task body.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ptx/syntax.hpp"

namespace sluice::megakernel {

// Places gives the parameters of the kernel and the shared variables of it and of the functions it
// calls fixed offsets in the worker's pool, and each module variable that they name a slot for its
// address, after the parameters.
class Places {
 public:
  // create() refuses what has no such place: textures by name, arrays too large for a pool. It
  // keeps room for the states of `lanes` threads (lane_meeting.hpp).
  static Result<Places> create(const ptx::Module& module, const ptx::Function& kernel,
                               const std::vector<const ptx::Function*>& functions, uint32_t lanes);

  // pool_offset() is the place of a parameter of the kernel (`in_kernel`) or a shared variable.
  std::optional<uint32_t> pool_offset(const std::string& name, bool in_kernel) const;
  bool is_parameter(const std::string& name) const { return parameters_.contains(name); }
  // address_offset() is where in the pool the address of a module variable is staged.
  std::optional<uint32_t> address_offset(const std::string& name) const;

  uint32_t parameter_bytes() const { return parameter_bytes_; }
  // own_offset() is where what a block has for itself begins: states of lanes, then the shared
  // variables.
  uint32_t own_offset() const { return own_offset_; }
  uint32_t dynamic_offset() const { return dynamic_offset_; }
  const std::vector<std::string>& variables() const { return variables_; }
  bool has_shared() const { return !shared_.empty(); }

 private:
  std::map<std::string, uint32_t> parameters_;
  std::map<std::string, uint32_t> shared_;
  std::map<std::string, uint32_t> addresses_;
  std::vector<std::string> variables_;
  uint32_t parameter_bytes_ = 0;
  uint32_t own_offset_ = 0;
  uint32_t dynamic_offset_ = 0;
};

}  // namespace sluice::megakernel
