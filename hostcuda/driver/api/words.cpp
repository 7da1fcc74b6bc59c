// Words of memory that a stream writes and waits for.
#include "hostcuda/driver/operations/words.hpp"

#include "hostcuda/driver/api/entry.hpp"
#include "hostcuda/driver/graph/capture.hpp"

using namespace sluice::hostcuda;

namespace {

CUresult submit_words(CUstream handle, const CUstreamBatchMemOpParams* operations, unsigned count,
                      unsigned flags) {
  return with_stream(handle, [&](Driver& driver, Context&, const StreamRef& stream) -> CUresult {
    SharedOperation words;
    const CUresult result = make_words(driver, operations, count, flags, &words);
    return result == CUDA_SUCCESS ? submit(driver, stream, std::move(words)) : result;
  });
}

// submit_word() submits one wait or write; `operands` is its member of the union.
template <class Operands>
CUresult submit_word(CUstream stream, Operands CUstreamBatchMemOpParams::* operands,
                     CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value,
                     unsigned flags) {
  CUstreamBatchMemOpParams word = {};
  (word.*operands).operation = type;
  (word.*operands).address = address;
  (word.*operands).value64 = value;
  (word.*operands).flags = flags;
  return submit_words(stream, &word, 1, 0);
}

constexpr auto wait_operands = &CUstreamBatchMemOpParams::waitValue;
constexpr auto write_operands = &CUstreamBatchMemOpParams::writeValue;

}  // namespace

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned int flags) {
  return submit_word(stream, wait_operands, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned int flags) {
  return submit_word(stream, wait_operands, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned int flags) {
  return submit_word(stream, write_operands, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value,
                     flags);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned int flags) {
  return submit_word(stream, write_operands, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value,
                     flags);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count,
                               CUstreamBatchMemOpParams* operations, unsigned int flags) {
  return submit_words(stream, operations, count, flags);
}

// The forms before CUDA 11.7, whose writes may also be asked for without a barrier.
SLUICE_OLDER_FORM(cuStreamWaitValue32, cuStreamWaitValue32_v2)
SLUICE_OLDER_FORM(cuStreamWaitValue64, cuStreamWaitValue64_v2)
SLUICE_OLDER_FORM(cuStreamBatchMemOp, cuStreamBatchMemOp_v2)

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
                              unsigned int flags) {
  return cuStreamWriteValue32_v2(stream, address, value,
                                 flags & ~CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
}

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
                              unsigned int flags) {
  return cuStreamWriteValue64_v2(stream, address, value,
                                 flags & ~CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
}

#define SLUICE_WORD_FORMS(name, Value)                                                        \
  SLUICE_PER_THREAD_FORM(name, ptsz,                                                          \
                         (CUstream stream, CUdeviceptr address, Value value, unsigned flags), \
                         (stream, address, value, flags))
SLUICE_WORD_FORMS(cuStreamWaitValue32, cuuint32_t)
SLUICE_WORD_FORMS(cuStreamWaitValue32_v2, cuuint32_t)
SLUICE_WORD_FORMS(cuStreamWaitValue64, cuuint64_t)
SLUICE_WORD_FORMS(cuStreamWaitValue64_v2, cuuint64_t)
SLUICE_WORD_FORMS(cuStreamWriteValue32, cuuint32_t)
SLUICE_WORD_FORMS(cuStreamWriteValue32_v2, cuuint32_t)
SLUICE_WORD_FORMS(cuStreamWriteValue64, cuuint64_t)
SLUICE_WORD_FORMS(cuStreamWriteValue64_v2, cuuint64_t)
#undef SLUICE_WORD_FORMS

SLUICE_PER_THREAD_FORM(cuStreamBatchMemOp, ptsz,
                       (CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations,
                        unsigned flags),
                       (stream, count, operations, flags))
SLUICE_PER_THREAD_FORM(cuStreamBatchMemOp_v2, ptsz,
                       (CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations,
                        unsigned flags),
                       (stream, count, operations, flags))
