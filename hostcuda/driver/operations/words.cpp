#include "hostcuda/driver/operations/words.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/log.hpp"
#include "hostcuda/driver/stream/threads.hpp"

namespace sluice::hostcuda {
namespace {

using Parameters = WordsOperation::Parameters;

bool is_wait(const Parameters& operation) {
  return operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
         operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

template <class Word>
std::atomic_ref<Word> word_at(CUdeviceptr address) {
  return std::atomic_ref<Word>(*reinterpret_cast<Word*>(address));
}

template <class Word>
bool holds(Word word, Word value, unsigned condition) {
  switch (condition) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      // Values go round: the difference decides.
      return static_cast<std::make_signed_t<Word>>(word - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return word == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (word & value) != 0;
    default:
      return static_cast<Word>(~(word | value)) != 0;
  }
}

CUresult refuse_flush() {
  log::error(
      "a flush of remote writes is unsupported on the CPU device, as "
      "CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES says");
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult check_word(Driver& driver, CUdeviceptr address, size_t bytes) {
  const std::optional<Allocation> allocation = driver.memory.find(address);
  const bool is_inside = allocation && address + bytes <= allocation->address + allocation->bytes;
  if (address % bytes != 0 || !is_inside || allocation->kind == MemoryKind::managed) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult check(Driver& driver, const Parameters& operation) {
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: {
      const auto& wait = operation.waitValue;
      if ((wait.flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0) return refuse_flush();
      if (wait.flags > CU_STREAM_WAIT_VALUE_NOR) return CUDA_ERROR_INVALID_VALUE;
      return check_word(driver, wait.address,
                        operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ? 4 : 8);
    }
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: {
      const auto& write = operation.writeValue;
      if (write.flags != CU_STREAM_WRITE_VALUE_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
      return check_word(driver, write.address,
                        operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ? 4 : 8);
    }
    case CU_STREAM_MEM_OP_BARRIER:
      return operation.memoryBarrier.flags <= CU_STREAM_MEMORY_BARRIER_TYPE_GPU
                 ? CUDA_SUCCESS
                 : CUDA_ERROR_INVALID_VALUE;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return refuse_flush();
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

WordsOperation::WordsOperation(const Driver& driver, std::vector<Parameters> operations)
    : driver_(driver),
      operations_(std::move(operations)),
      may_wait_(std::any_of(operations_.begin(), operations_.end(), is_wait)) {}

template <class Word>
void WordsOperation::wait(CUdeviceptr address, Word value, unsigned condition) const {
  const auto is_over = [&] {
    const Word word = word_at<Word>(address).load(std::memory_order_acquire);
    return holds(word, value, condition) || driver_.engine.error() != CUDA_SUCCESS;
  };
  if (spin_until(is_over)) return;
  for (std::chrono::microseconds pause{20}; !is_over();
       pause = std::min<std::chrono::microseconds>(2 * pause, std::chrono::milliseconds(1))) {
    std::this_thread::sleep_for(pause);
  }
}

CUresult WordsOperation::run(BlockPool&) const {
  for (const Parameters& operation : operations_) {
    const auto& waited = operation.waitValue;
    const auto& written = operation.writeValue;
    switch (operation.operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        wait<uint32_t>(waited.address, waited.value, waited.flags);
        break;
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        wait<uint64_t>(waited.address, waited.value64, waited.flags);
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        word_at<uint32_t>(written.address).store(written.value);
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        word_at<uint64_t>(written.address).store(written.value64);
        break;
      default:
        // A barrier: each store and load above is one already.
        break;
    }
  }
  return CUDA_SUCCESS;
}

CUresult make_words(Driver& driver, const Parameters* operations, unsigned count, unsigned flags,
                    SharedOperation* operation) {
  constexpr unsigned most = 255;
  if (operations == nullptr || count == 0 || count > most || flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (unsigned i = 0; i < count; ++i) {
    const CUresult result = check(driver, operations[i]);
    if (result != CUDA_SUCCESS) return result;
  }
  *operation = std::make_shared<const WordsOperation>(
      driver, std::vector<Parameters>(operations, operations + count));
  return CUDA_SUCCESS;
}

}  // namespace sluice::hostcuda
