// Words of memory that a stream writes and waits for.
#pragma once

#include <vector>

#include "hostcuda/driver/device/cuda_api.hpp"
#include "hostcuda/driver/driver.hpp"
#include "hostcuda/driver/stream/operation.hpp"

namespace sluice::hostcuda {

// WordsOperation does memory operations (cuStreamBatchMemOp) one after the other. A wait looks at
// the word until it is as asked, since nobody tells when a kernel or the program writes one: soon,
// then at most a thousand times a second. It ends where the device has an error.
class WordsOperation final : public Operation {
 public:
  using Parameters = CUstreamBatchMemOpParams;

  WordsOperation(const Driver& driver, std::vector<Parameters> operations);
  CUresult run(BlockPool& pool) const override;
  bool calls_the_program() const override { return may_wait_; }
  CUgraphNodeType node_type() const override { return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; }
  const std::vector<Parameters>& operations() const { return operations_; }

 private:
  template <class Word>
  void wait(CUdeviceptr address, Word value, unsigned condition) const;

  const Driver& driver_;
  const std::vector<Parameters> operations_;
  const bool may_wait_;
};

// make_words() checks a program's memory operations. CUDA_ERROR_INVALID_VALUE where an address is
// none, not aligned or managed memory, and where flags are unknown; CUDA_ERROR_NOT_SUPPORTED for
// flushes of remote writes, of which there are none.
CUresult make_words(Driver& driver, const WordsOperation::Parameters* operations, unsigned count,
                    unsigned flags, SharedOperation* operation);

}  // namespace sluice::hostcuda
