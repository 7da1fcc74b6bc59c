// Conditional nodes of graphs: bodies that run by a value that kernels set.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "hostcuda/driver/stream/operation.hpp"

namespace sluice::hostcuda {

// Condition is what a CUgraphConditionalHandle stands for: the handle is its address, to which
// kernels write (sluice_device_set_conditional in jit/library/device_library.cpp).
struct Condition {
  uint32_t value = 0;  // accessed atomically
  uint32_t default_value = 0;
  bool assigns_default = false;  // at the start of each launch of its graph

  CUgraphConditionalHandle handle() const {
    return reinterpret_cast<CUgraphConditionalHandle>(this);
  }
};
using ConditionRef = std::shared_ptr<Condition>;

// DefaultsOperation gives conditions their default values.
class DefaultsOperation final : public Operation {
 public:
  explicit DefaultsOperation(std::vector<ConditionRef> conditions)
      : conditions_(std::move(conditions)) {}
  CUresult run(BlockPool&) const override;
  CUgraphNodeType node_type() const override { return CU_GRAPH_NODE_TYPE_EMPTY; }

 private:
  const std::vector<ConditionRef> conditions_;
};

// ConditionalOperation runs one of its bodies, none, or one again and again, as CUDA's conditional
// nodes do. A body that fails ends it.
class ConditionalOperation final : public Operation {
 public:
  ConditionalOperation(ConditionRef condition, CUgraphConditionalNodeType type,
                       std::vector<SharedOperation> bodies)
      : condition_(std::move(condition)), type_(type), bodies_(std::move(bodies)) {}
  CUresult run(BlockPool& pool) const override;
  bool calls_the_program() const override;
  bool may_wait_for_host() const override;
  CUgraphNodeType node_type() const override { return CU_GRAPH_NODE_TYPE_CONDITIONAL; }
  const ConditionRef& condition() const { return condition_; }
  CUgraphConditionalNodeType type() const { return type_; }

 private:
  const ConditionRef condition_;
  const CUgraphConditionalNodeType type_;
  const std::vector<SharedOperation> bodies_;
};

}  // namespace sluice::hostcuda
