// How a quick form of a kernel's code runs until the good one is there.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "hostcuda/block_abi.h"

namespace sluice::hostcuda::jit {

// processors_beside_one() is how many processors this process has when one has other work: 1 at
// least.
uint32_t processors_beside_one();

// QuickForm runs blocks in the quick form one by one, and goes over to the good one between two of
// them. Until then it leaves a processor to the thread that makes that: others who call it wait for
// the good form. So a launch takes about as long as if it had waited for its code. Thread-safe.
class QuickForm {
 public:
  // run() is what a call of the kernel's function does; `quick` is the form's own. Null: all wait.
  void run(SluiceBlockFunction quick, const SluiceBlockLaunch* launch, uint32_t first,
           uint32_t count, void* scratch);

  // go_over() says that the good form is there; stay() that nobody is to wait for it. Then blocks
  // that have no quick one are ended by a trap, which `fault` gets.
  void go_over(SluiceBlockFunction good) { settle(good, nullptr); }
  void stay(uint8_t* fault) { settle(nullptr, fault); }

 private:
  void settle(SluiceBlockFunction good, uint8_t* fault);
  bool enter(uint32_t most);  // is whether the quick form is to be run
  void leave();

  std::atomic<SluiceBlockFunction> good_ = nullptr;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  uint32_t inside_ = 0;
  bool is_settled_ = false;
  uint8_t* fault_ = nullptr;
};

// The function of this name has the arguments of run(), and behind them its QuickForm.
inline constexpr const char* run_quick_symbol = "sluice_jit_run_quick";
// The kernel's QuickForm, as an outside address. No variable of PTX has this name.
inline constexpr const char* quick_form_name = ".quick";

}  // namespace sluice::hostcuda::jit

extern "C" void sluice_jit_run_quick(SluiceBlockFunction quick, const SluiceBlockLaunch* launch,
                                     uint32_t first, uint32_t count, void* scratch,
                                     sluice::hostcuda::jit::QuickForm* form);
