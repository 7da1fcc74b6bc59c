// Words of memory that a stream writes and waits for.
#include "hostcuda/driver/capture.hpp"
#include "hostcuda/driver/entry.hpp"
#include "hostcuda/driver/words.hpp"

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

CUresult wait_for(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address,
                  cuuint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams wait = {};
  wait.waitValue.operation = type;
  wait.waitValue.address = address;
  wait.waitValue.value64 = value;
  wait.waitValue.flags = flags;
  return submit_words(stream, &wait, 1, 0);
}

CUresult write(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value,
               unsigned flags) {
  CUstreamBatchMemOpParams write = {};
  write.writeValue.operation = type;
  write.writeValue.address = address;
  write.writeValue.value64 = value;
  write.writeValue.flags = flags;
  return submit_words(stream, &write, 1, 0);
}

}  // namespace

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned int flags) {
  return wait_for(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned int flags) {
  return wait_for(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned int flags) {
  return write(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned int flags) {
  return write(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
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
