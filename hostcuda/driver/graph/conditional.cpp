#include "hostcuda/driver/graph/conditional.hpp"

#include <algorithm>
#include <atomic>

namespace sluice::hostcuda {

CUresult DefaultsOperation::run(BlockPool&) const {
  for (const ConditionRef& condition : conditions_)
    std::atomic_ref(condition->value).store(condition->default_value);
  return CUDA_SUCCESS;
}

CUresult ConditionalOperation::run(BlockPool& pool) const {
  const auto value = [this] { return std::atomic_ref(condition_->value).load(); };
  if (type_ == CU_GRAPH_COND_TYPE_WHILE) {
    while (value() != 0) {
      if (const CUresult result = bodies_[0]->run(pool); result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  }
  const size_t chosen =
      type_ == CU_GRAPH_COND_TYPE_SWITCH ? value() : static_cast<size_t>(value() == 0 ? 1 : 0);
  return chosen < bodies_.size() ? bodies_[chosen]->run(pool) : CUDA_SUCCESS;
}

bool ConditionalOperation::calls_the_program() const {
  return std::any_of(bodies_.begin(), bodies_.end(),
                     [](const SharedOperation& body) { return body->calls_the_program(); });
}

// It may also go round until a kernel's store ends it.
bool ConditionalOperation::may_wait_for_host() const {
  return type_ == CU_GRAPH_COND_TYPE_WHILE ||
         std::any_of(bodies_.begin(), bodies_.end(),
                     [](const SharedOperation& body) { return body->may_wait_for_host(); });
}

}  // namespace sluice::hostcuda
