// Where a program wants to read what was said when its code was compiled and linked.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "hostcuda/driver/code/code.hpp"
#include "hostcuda/driver/device/cuda_api.hpp"

namespace sluice::hostcuda {

// JitLog writes to what CU_JIT_ERROR_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER and CU_JIT_WALL_TIME name.
// Each buffer always holds a string that ends, cut to the size that the program gave; the size's
// place holds the length of that string. Lines and time add up for as long as the log lives. All
// other options tune a compiler for GPUs and are ignored. For one thread at a time.
class JitLog {
 public:
  // Nothing is read from the arrays after the constructor; what they name is written. A buffer
  // without a size gets nothing.
  JitLog(unsigned count, const CUjit_option* options, void** values);

  // is_valid() is false where an array is missing.
  bool is_valid() const { return is_valid_; }

  // load() calls loader(code, message) and logs what went wrong and how long it took; with
  // CU_JIT_LOG_VERBOSE, also what was loaded.
  template <class Loader>
  CUresult load(std::shared_ptr<LoadedCode>* code, Loader&& loader) {
    const Clock clock(*this);
    std::string message;
    const CUresult result = loader(code, &message);
    if (!message.empty()) add_error(message);
    if (result == CUDA_SUCCESS) describe(**code);
    return result;
  }

  void add_error(std::string_view line) { errors_.add(line); }

  // Clock adds the time it lives.
  class Clock {
   public:
    explicit Clock(JitLog& log) : log_(log) {}
    Clock(const Clock&) = delete;
    ~Clock() { log_.add_time(std::chrono::steady_clock::now() - begin_); }

   private:
    JitLog& log_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };

 private:
  struct Buffer {
    char* begin = nullptr;
    void** size = nullptr;
    size_t capacity = 0;
    size_t length = 0;
    void start();
    void add(std::string_view line);
  };
  void describe(LoadedCode& code);
  void add_time(std::chrono::duration<float, std::milli> time);

  bool is_valid_ = true;
  bool is_verbose_ = false;
  Buffer errors_;
  Buffer information_;
  void** wall_time_ = nullptr;
  float milliseconds_ = 0;
};

}  // namespace sluice::hostcuda
