// Calls of the runtime API that failed, and whether anybody asked.
#pragma once

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "hostcuda/driver/memory/call_site.hpp"
#include "hostcuda/ignored_error.h"

namespace sluice::hostcuda {

// ErrorWatch keeps failed calls until somebody asks. Thread-safe.
//
// A call whose result the program reads is left out (result_use.hpp), whatever comes of it, and
// whoever asks for the text of an error is taken to have looked at it.
class ErrorWatch {
 public:
  // get() is null where nobody wants to know. watch() is false where somebody does already.
  static ErrorWatch* get();
  static bool watch();

  // launches() names the kernel that the calling thread tries to launch, empty: no longer.
  static void launches(const std::string& kernel);
  void failed(int error, const char* name);
  void asked();
  void asked_for_text(int error);
  void tell_ignored(SluiceErrorTold told, void* data);

 private:
  struct Failure {
    std::thread::id thread;
    int error = 0;
    std::string name, function, kernel;
    CallSite site;
  };

  std::mutex mutex_;
  std::vector<Failure> failures_;
};

}  // namespace sluice::hostcuda
