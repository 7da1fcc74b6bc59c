#include "hostcuda/driver/graph/graph_memory.hpp"

#include <memory>
#include <optional>

namespace sluice::hostcuda {
namespace {

// GraphMemory is the memory of an allocation's node. Its address stands from the node's making on.
// A launch takes it into use; it goes with the graph and all that was instantiated of it, unless it
// is still in use then: whoever frees it ends that, and it.
class GraphMemory final : public Operation {
 public:
  GraphMemory(Driver& driver, CUdeviceptr pointer) : driver_(driver), pointer_(pointer) {
    pools().graph_memory.add(pointer);
  }
  ~GraphMemory() override {
    if (pools().graph_memory.abandon(pointer_)) {
      release_pooled(driver_.memory, pointer_, MemoryKind::device);
    }
  }
  CUresult run(BlockPool&) const override {
    pools().graph_memory.use(pointer_);
    return CUDA_SUCCESS;
  }
  CUgraphNodeType node_type() const override { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; }

 private:
  Driver& driver_;
  const CUdeviceptr pointer_;
};

class FreeOperation final : public Operation {
 public:
  FreeOperation(Driver& driver, CUdeviceptr pointer) : driver_(driver), pointer_(pointer) {}
  CUresult run(BlockPool&) const override {
    free_graph_memory(driver_.memory, pointer_);
    return CUDA_SUCCESS;
  }
  CUgraphNodeType node_type() const override { return CU_GRAPH_NODE_TYPE_MEM_FREE; }

 private:
  Driver& driver_;
  const CUdeviceptr pointer_;
};

}  // namespace

CUresult allocate_pooled(Driver& driver, const void* owner, size_t bytes, const PoolRef& pool,
                         CUdeviceptr* pointer) {
  if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const std::optional<uintptr_t> address = driver.memory.allocate(pool->kind(), bytes, 0, owner);
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  pools().own(*address, pool, bytes);
  *pointer = *address;
  return CUDA_SUCCESS;
}

CUresult make_graph_memory(Driver& driver, size_t bytes, CUdeviceptr* pointer,
                           SharedOperation* operation) {
  const CUresult result = allocate_pooled(driver, nullptr, bytes, pools().of_graphs, pointer);
  if (result == CUDA_SUCCESS) *operation = std::make_shared<const GraphMemory>(driver, *pointer);
  return result;
}

SharedOperation make_graph_free(Driver& driver, CUdeviceptr pointer) {
  return std::make_shared<const FreeOperation>(driver, pointer);
}

}  // namespace sluice::hostcuda
